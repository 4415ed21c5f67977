/**
 * From a request to what a project shall be.
 * Invariant: nothing is written here; a refusal names every problem.
 */
import type { Database, SqlParameters } from '../data-file/database.ts';
import { asObject, type BodyObject, MemberReader, readResource, TEXT_LIMIT } from '../json-api/body.ts';
import { invalid, type PointedProblem } from '../json-api/errors.ts';
import { EXECUTION_MODES } from '../workspaces/document/workspace-record.ts';
import { readTagBindings, type TagBinding } from '../workspaces/tags/tag-bindings.ts';
import type { ProjectRow } from './project-record.ts';

const DURATION = /^[1-9]\d{0,3}[dh]$/;

interface ProjectContext {
  readonly organizationId: string;
  /** undefined for a new project. */
  readonly before?: ProjectRow;
}

interface SettledProject {
  readonly columns: SqlParameters;
  /** undefined: they stay as they are. */
  readonly tagBindings: readonly TagBinding[] | undefined;
}

/** @throws ApiError 422 */
export function settleProject(database: Database, body: unknown, context: ProjectContext): SettledProject {
  const problems: PointedProblem[] = [];
  const { attributes, relationships } = readResource(body, 'projects', context.before?.id);
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const { before } = context;
  const keep = <T>(value: T | undefined, current: T | undefined): T | null =>
    value === undefined ? (current ?? null) : value;
  const duration = read.nullableText('auto-destroy-activity-duration');
  if (typeof duration === 'string' && !DURATION.test(duration)) {
    read.refuse(
      'auto-destroy-activity-duration',
      'auto-destroy-activity-duration must be a number of 1 to 9999 followed by d or h',
    );
  }
  const columns = {
    name: read.name() ?? before?.name ?? '',
    description: keep(read.nullableText('description', TEXT_LIMIT), before?.description),
    auto_destroy_activity_duration: keep(duration, before?.auto_destroy_activity_duration),
    ...readDefaults(database, read, { attributes, relationships }, { context, problems }),
  };
  checkName(database, read, columns.name, context);
  const tagBindings = readTagBindings(relationships['tag-bindings'], problems);
  if (problems.length > 0) throw invalid(problems);
  return { columns, tagBindings };
}

/** What the project's workspaces inherit. An overwrite that is false drops the project's own value. */
function readDefaults(
  database: Database,
  read: MemberReader,
  { attributes, relationships }: { readonly attributes: BodyObject; readonly relationships: BodyObject },
  { context, problems }: { readonly context: ProjectContext; readonly problems: PointedProblem[] },
) {
  const overwrites = asObject(attributes['setting-overwrites']);
  const asked = read.nullableWord('default-execution-mode', EXECUTION_MODES);
  const mode = asked === undefined ? (context.before?.default_execution_mode ?? null) : asked;
  // A mode without agents that is asked for drops the pool, unless the request names one.
  const keepsPool = asked === undefined || asked === null || asked === 'agent';
  const named = relationships['default-agent-pool'] ?? (keepsPool ? undefined : { data: null });
  const pool = readPool(database, named, context, problems);
  const settled = {
    default_execution_mode: overwrites?.['default-execution-mode'] === false ? null : mode,
    default_agent_pool_id: overwrites?.['default-agent-pool'] === false ? null : pool,
  };
  if (settled.default_execution_mode === 'agent' && settled.default_agent_pool_id === null) {
    read.refuse('default-execution-mode', 'The execution mode "agent" needs a default agent pool');
  }
  return settled;
}

function readPool(
  database: Database,
  relationship: unknown,
  { organizationId, before }: ProjectContext,
  problems: PointedProblem[],
): string | null {
  if (relationship === undefined) return before?.default_agent_pool_id ?? null;
  const data = asObject(relationship)?.['data'];
  if (data === null) return null;
  const id = asObject(data)?.['id'];
  const pool = database.get<{ id: string }>(
    'SELECT id FROM agent_pools WHERE id = :id AND organization_id = :organization',
    { id: typeof id === 'string' ? id : null, organization: organizationId },
  );
  if (pool === undefined) {
    problems.push({
      detail: 'The agent pool does not exist in this organization',
      pointer: '/data/relationships/default-agent-pool/data/id',
    });
  }
  return pool?.id ?? null;
}

function checkName(
  database: Database,
  read: MemberReader,
  name: string,
  { organizationId, before }: ProjectContext,
): void {
  if (name === '') read.refuse('name', 'Name is required');
  if (name === '' || name === before?.name) return;
  const taken = database.get(
    'SELECT 1 FROM projects WHERE organization_id = :organization AND name = :name',
    {
      organization: organizationId,
      name,
    },
  );
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
}
