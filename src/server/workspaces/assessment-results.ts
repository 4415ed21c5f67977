/** Assessment results: endpoints, record and document. Only callers with `can-read-assessment-results` see them. */
import type { Database } from '../kernel/database.ts';
import { notFound, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, type Endpoint, ok, on } from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { requireOfWorkspace, requireWorkspace } from './access.ts';

const WORKSPACE = '/workspaces/:workspace_id';

export const ASSESSMENT_RESULT_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/assessment-results/:assessment_result_id', showAssessmentResult),
  on('GET', `${WORKSPACE}/assessment-results`, listAssessmentResults),
  on('GET', `${WORKSPACE}/current-assessment-result`, showCurrentAssessmentResult),
];

// Assessment results as records: the newest result of a workspace is the current one.
// Invariant: only callers with `can-read-assessment-results` see them.

export interface AssessmentResultRow {
  id: string;
  workspace_id: string;
  drifted: number;
  succeeded: number;
  error_message: string | null;
  created_at: string;
}

const PERMISSION = 'can-read-assessment-results';

function assessmentResultsById(database: Database, ids: readonly string[]): AssessmentResultRow[] {
  return database.byIds<AssessmentResultRow>('assessment_results', ids);
}

/** The newest result of each of these workspaces, by workspace id. */
export function currentAssessmentResults(
  database: Database,
  workspaceIds: readonly string[],
): Map<string, AssessmentResultRow> {
  const rows = database.all<AssessmentResultRow>(
    `SELECT a.* FROM assessment_results a
     WHERE a.workspace_id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS (
       SELECT 1 FROM assessment_results n
       WHERE n.workspace_id = a.workspace_id AND (n.created_at, n.id) > (a.created_at, a.id))`,
    { ids: JSON.stringify(workspaceIds) },
  );
  return new Map(rows.map((row) => [row.workspace_id, row]));
}

export function assessmentResultResource(row: AssessmentResultRow): Resource {
  return {
    id: row.id,
    type: 'assessment-results',
    attributes: {
      drifted: row.drifted === 1,
      succeeded: row.succeeded === 1,
      'error-msg': row.error_message,
      'created-at': row.created_at,
    },
    relationships: { workspace: { data: { id: row.workspace_id, type: 'workspaces' } } },
    links: { self: `/api/v2/assessment-results/${row.id}` },
  };
}

/** GET /assessment-results/:assessment_result_id */
function showAssessmentResult(request: ApiRequest): ApiAnswer {
  const [row] = assessmentResultsById(request.services.database, [
    request.params['assessment_result_id'] ?? '',
  ]);
  const { record } = requireOfWorkspace(request, row, {
    what: 'Assessment result',
    permission: PERMISSION,
  });
  return ok({ data: assessmentResultResource(record) });
}

/** GET /workspaces/:workspace_id/current-assessment-result */
function showCurrentAssessmentResult(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, PERMISSION);
  const row = currentAssessmentResults(request.services.database, [workspace.id]).get(workspace.id);
  if (row === undefined) throw notFound('Current assessment result');
  return ok({ data: assessmentResultResource(row) });
}

/** GET /workspaces/:workspace_id/assessment-results: the newest first. */
function listAssessmentResults(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, PERMISSION);
  const query = {
    select: 'a.*',
    from: 'assessment_results a WHERE a.workspace_id = :workspace',
    order: 'a.created_at DESC, a.id DESC',
    parameters: { workspace: workspace.id },
  };
  return pagedAnswer<AssessmentResultRow>(request, query, (rows) => rows.map(assessmentResultResource));
}
