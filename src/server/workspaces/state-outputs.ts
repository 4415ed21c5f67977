/**
 * The outputs of state versions: one row each, shown alone, in lists and with workspaces. A list never shows the value of a
 * sensitive output; only the answer for that single output does.
 */
import type { Database } from '../kernel/database.ts';
import { notFound, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../kernel/endpoint.ts';
import { stableId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { asObject } from '../kernel/request-body.ts';
import { requireOfWorkspace, requireWorkspace } from './access.ts';
import type { JsonListener, JsonPath } from './json-scanner.ts';
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

/** Replaces the outputs of a state version. */
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

/** The outputs of many state versions in one query, by state version id, sorted by name. */
export function outputsOf(database: Database, stateVersionIds: readonly string[]): Map<string, OutputRow[]> {
  const rows = database.all<OutputRow>(
    `SELECT * FROM state_version_outputs
     WHERE state_version_id IN (SELECT value FROM json_each(:ids)) ORDER BY name`,
    { ids: JSON.stringify(stateVersionIds) },
  );
  return Map.groupBy(rows, (row) => row.state_version_id);
}

/** `type` is the JSON:API type: outputs that are included with a workspace are `workspace-outputs`. */
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
export function listOutputs(request: ApiRequest): ApiAnswer {
  const { record } = requireOfWorkspace(
    request,
    stateVersionById(request.services.database, request.params['state_version_id'] ?? ''),
    { what: 'State version', permission: 'can-read-state-outputs' },
  );
  return outputsAnswer(request, record.id);
}

/** GET /workspaces/:workspace_id/current-state-version-outputs */
export function listCurrentOutputs(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-read-state-outputs');
  if (workspace.current_state_version_id === null) throw notFound('Current state version');
  return outputsAnswer(request, workspace.current_state_version_id);
}

function outputsAnswer(request: ApiRequest, stateVersionId: string): ApiAnswer {
  const query = {
    select: 'o.*',
    from: 'state_version_outputs o WHERE o.state_version_id = :id',
    order: 'o.name',
    parameters: { id: stateVersionId },
  };
  return pagedAnswer<OutputRow>(request, query, (rows) => rows.map((row) => outputResource(row)));
}

/** GET /state-version-outputs/:output_id */
export function showOutput(request: ApiRequest): ApiAnswer {
  const row = request.services.database.get<OutputRow & { workspace_id: string }>(
    `SELECT o.*, s.workspace_id FROM state_version_outputs o JOIN state_versions s ON s.id = o.state_version_id
     WHERE o.id = :id`,
    { id: request.params['output_id'] ?? '' },
  );
  const { record } = requireOfWorkspace(request, row, {
    what: 'Output',
    permission: 'can-read-state-outputs',
  });
  return ok({ data: outputResource(record, { reveal: true }) });
}

// Reads serial, lineage, outputs and managed resources from a state while it is uploaded.
// Invariant: nothing else of a state is kept in memory, and the state is not changed.

interface StateOutput {
  readonly name: string;
  /** The type as in the state: a string, or a list for a type that contains others. */
  readonly type: unknown;
  readonly value: unknown;
  readonly sensitive: boolean;
}

interface StateResource {
  readonly name: string;
  readonly type: string;
  readonly module: string;
  readonly count: number;
}

/** Finds out whether a JSON text is an object. */
export class RootReader implements JsonListener {
  isObject = false;

  begin(path: JsonPath, kind: 'object' | 'array' | 'other'): boolean {
    if (path.length === 0) this.isObject = kind === 'object';
    return false;
  }

  text(_path: JsonPath, _text: string): void {}

  end(_path: JsonPath): void {}
}

/** Collects the values of a state that the service shows. */
export class StateReader extends RootReader {
  readonly resources: StateResource[] = [];
  readonly #members: Record<string, unknown> = {};
  /** The members of the resource that is being read. */
  #resource: Record<string, unknown> = {};
  #count = 0;

  get serial(): unknown {
    return this.#members['serial'];
  }

  get lineage(): unknown {
    return this.#members['lineage'];
  }

  get outputs(): readonly StateOutput[] {
    return readOutputs(this.#members['outputs']);
  }

  override begin(path: JsonPath, kind: 'object' | 'array' | 'other'): boolean {
    const [member, index, name, instance] = path;
    super.begin(path, kind);
    if (path.length === 1) return member === 'serial' || member === 'lineage' || member === 'outputs';
    if (member !== 'resources' || typeof index !== 'number') return false;
    if (path.length === 2) this.#resource = {};
    if (path.length === 2) this.#count = 0;
    if (path.length === 4 && name === 'instances' && typeof instance === 'number') this.#count += 1;
    return path.length === 3 && ['mode', 'type', 'name', 'module'].includes(String(name));
  }

  override text([member, , name]: JsonPath, text: string): void {
    if (name === undefined) this.#members[String(member)] = JSON.parse(text);
    else this.#resource[String(name)] = JSON.parse(text);
  }

  /** Keeps only managed resources. Data sources (`data`) are only read, so the workspace cannot destroy them. */
  override end([member, index]: JsonPath): void {
    if (member !== 'resources' || typeof index !== 'number') return;
    const { mode, name, type, module } = this.#resource;
    if (mode !== 'managed') return;
    this.resources.push({
      name: String(name),
      type: String(type),
      module: typeof module === 'string' ? module : 'root',
      count: this.#count,
    });
  }
}

/** Outputs as JSON, which clients may send separately from a state: `{name: {type, value, sensitive}}`. Undefined if invalid. */
export function readOutputsText(text: string): readonly StateOutput[] | undefined {
  try {
    const outputs = asObject(JSON.parse(text));
    return outputs && readOutputs(outputs);
  } catch {
    return undefined;
  }
}

function readOutputs(source: unknown): StateOutput[] {
  return Object.entries(asObject(source) ?? {}).map(([name, output]) => {
    const { type, value, sensitive } = asObject(output) ?? {};
    return { name, type: type ?? null, value: value ?? null, sensitive: sensitive === true };
  });
}
