/**
 * The outputs of state versions: kept one a row, shown by themselves and with workspaces.
 * Invariant: a list never tells the value of a sensitive output; only the one output that is asked for by its id does.
 */
import type { Database } from '../data-file/database.ts';
import { stableId } from '../identifiers.ts';
import type { Resource } from '../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import { requireOwned } from '../workspaces/owned-record.ts';
import type { StateOutput } from './read-state.ts';
import { stateVersionById } from './state-version-record.ts';

export interface OutputRow {
  id: string;
  state_version_id: string;
  name: string;
  /** JSON. */
  detailed_type: string;
  /** JSON. */
  value: string;
  sensitive: number;
}

/** Makes these the outputs of a state version. */
export function replaceOutputs(
  database: Database,
  stateVersionId: string,
  outputs: readonly StateOutput[],
): void {
  database.run('DELETE FROM state_version_outputs WHERE state_version_id = :id', { id: stateVersionId });
  for (const { name, type, value, sensitive } of outputs) {
    database.insert('state_version_outputs', {
      id: stableId('wsout', stateVersionId, name),
      state_version_id: stateVersionId,
      name,
      detailed_type: JSON.stringify(type),
      value: JSON.stringify(value),
      sensitive: Number(sensitive),
    });
  }
}

/** The outputs of many state versions in one query, by name. */
export function outputsOf(database: Database, stateVersionIds: readonly string[]): Map<string, OutputRow[]> {
  const rows = database.all<OutputRow>(
    `SELECT * FROM state_version_outputs
     WHERE state_version_id IN (SELECT value FROM json_each(:ids)) ORDER BY name`,
    { ids: JSON.stringify(stateVersionIds) },
  );
  return Map.groupBy(rows, (row) => row.state_version_id);
}

/** `type` is what the place calls it: the outputs of a workspace are `workspace-outputs`. */
export function outputResource(
  row: OutputRow,
  { type = 'state-version-outputs', reveal = false }: { type?: string; reveal?: boolean } = {},
): Resource {
  const value: unknown = JSON.parse(row.value);
  return {
    id: row.id,
    type,
    attributes: {
      name: row.name,
      sensitive: row.sensitive === 1,
      type: simpleType(value),
      'detailed-type': JSON.parse(row.detailed_type),
      value: row.sensitive === 1 && !reveal ? null : value,
    },
    links: { self: `/api/v2/state-version-outputs/${row.id}` },
  };
}

function simpleType(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

/** GET /state-versions/:state_version_id/outputs */
export function listOutputs(services: Services, request: ApiRequest): ApiAnswer {
  const { record } = requireOwned(
    services,
    request,
    stateVersionById(services.database, request.params['state_version_id'] ?? ''),
    { what: 'State version', permission: 'can-read-state-outputs' },
  );
  return outputsAnswer(services, request, record.id);
}

/** GET /workspaces/:workspace_id/current-state-version-outputs */
export function listCurrentOutputs(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-read-state-outputs');
  if (workspace.current_state_version_id === null) throw notFound('Current state version');
  return outputsAnswer(services, request, workspace.current_state_version_id);
}

function outputsAnswer(services: Services, request: ApiRequest, stateVersionId: string): ApiAnswer {
  const query = {
    select: 'o.*',
    from: 'state_version_outputs o WHERE o.state_version_id = :id',
    order: 'o.name',
    parameters: { id: stateVersionId },
  };
  return pagedAnswer<OutputRow>(services, request, query, (rows) => rows.map((row) => outputResource(row)));
}

/** GET /state-version-outputs/:output_id */
export function showOutput(services: Services, request: ApiRequest): ApiAnswer {
  const row = services.database.get<OutputRow & { workspace_id: string }>(
    `SELECT o.*, s.workspace_id FROM state_version_outputs o JOIN state_versions s ON s.id = o.state_version_id
     WHERE o.id = :id`,
    { id: request.params['output_id'] ?? '' },
  );
  const { record } = requireOwned(services, request, row, {
    what: 'Output',
    permission: 'can-read-state-outputs',
  });
  return ok({ data: outputResource(record, { reveal: true }) });
}
