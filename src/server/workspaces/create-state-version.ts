/**
 * POST /workspaces/:workspace_id/state-versions.
 *
 * without a state ──▶ pending ──the state is sent to its link──▶ finalized; with one: finalized at once
 *
 * Invariants: only the holder of the workspace's lock saves a state (for a run, who names it and may apply it), so two writers cannot overwrite each other's; a
 * finalized version is current at once unless a newer one is, or another one holds the lock by then; an intermediate one (saved while a run holds the lock, or
 * called so) when the workspace is unlocked. Serial and lineage are those of the state itself; what was announced counts until the state arrives. A pending
 * version does not use up its serial: the next announcement of that serial replaces it.
 */
import { createHash } from 'node:crypto';

import { newId } from '../kernel/identifiers.ts';
import type { Caller } from '../kernel/caller.ts';
import { asObject, MemberReader, readResource } from '../kernel/request-body.ts';
import { type ApiAnswer, type ApiRequest, created } from '../kernel/endpoint.ts';
import { type ApiError, conflict, invalid, type PointedProblem } from '../kernel/documents.ts';
import { type RunRow, runById } from './run-record.ts';
import type { Services } from '../kernel/services.ts';
import { textOf } from '../kernel/well-formed-text.ts';
import { type AccessibleWorkspace, requireWorkspace } from './access.ts';
import {
  isJsonState,
  readOutputsText,
  type ReadState,
  readState,
  replaceOutputs,
  type StateOutput,
} from './state-outputs.ts';
import {
  finalizedBefore,
  isLockedByAnother,
  makeCurrentIfNewer,
  newestFinalizedStateVersion,
  recordStateEvent,
  removePending,
  stateVersionById,
  type StateVersionRow,
} from './state-version-record.ts';
import { stateVersionResources } from './state-version-document.ts';

export function createStateVersion(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  const { workspace, permissions } = requireWorkspace(services, request, 'can-create-state-versions');
  const body = readBody(request.body);
  const run = heldBy(services, request.caller, { workspace, permissions }, body.runId);
  refuseOlder(newestFinalizedStateVersion(database, workspace.id), body);
  removePending(database, workspace.id, body.serial);
  const id = newId('sv');
  database.insert('state_versions', {
    id,
    workspace_id: workspace.id,
    forced: Number(body.force),
    serial: body.serial,
    lineage: body.lineage,
    md5: body.md5,
    status: 'pending',
    intermediate: Number(run?.status === 'planned' || (body.intermediate ?? run !== null)),
    json_state: body.jsonState ?? null,
    run_id: run?.id ?? null,
    created_by_id: request.caller.userId,
    created_at: services.now().toISOString(),
  });
  if (body.outputs !== undefined) replaceOutputs(database, id, body.outputs);
  if (body.state !== undefined) finalizeState(services, id, body.state);
  recordStateEvent(services, { id, organizationId: workspace.organization_id }, 'create', request);
  const row = stateVersionById(database, id);
  const reader = { origin: request.origin, permissions: new Map([[workspace.id, permissions]]) };
  return created({ data: stateVersionResources(services, reader, row === undefined ? [] : [row])[0] });
}

/**
 * Stores the state of a pending version, takes serial and lineage from it, and makes the version current where that is due.
 * @throws ApiError 422 for what is no state, 409 for a state that was not announced or is older than the stored one
 */
export function finalizeState(services: Services, id: string, text: string): void {
  const { database } = services;
  const version = stateVersionById(database, id);
  if (version?.status !== 'pending') throw conflict('The state version has its state already');
  const state = readState(text);
  if (state === undefined) throw invalidState('The state is no JSON object');
  const md5 = md5Of(text);
  if (version.md5 !== null && version.md5 !== md5) {
    throw conflict(`The state's MD5 is ${md5}, not ${version.md5} as was announced`);
  }
  const serial = serialOf(state) ?? version.serial;
  const lineage = typeof state.lineage === 'string' ? state.lineage : version.lineage;
  const before = finalizedBefore(database, version);
  refuseOlder(before, { serial, lineage, md5, force: version.forced === 1 });
  database.update('state_versions', id, {
    state: text,
    status: 'finalized',
    serial,
    lineage,
    resources: JSON.stringify(state.resources),
    resource_count: countOf(state),
  });
  const known = database.get('SELECT 1 FROM state_version_outputs WHERE state_version_id = :id', { id });
  if (known === undefined) replaceOutputs(database, id, state.outputs);
  database.update('workspaces', version.workspace_id, { latest_change_at: services.now().toISOString() });
  if (version.intermediate === 0 && !isLockedByAnother(database, version)) makeCurrentIfNewer(database, id);
}

/** @throws ApiError 422 for a serial that is no whole number */
function serialOf({ serial }: ReadState): number | undefined {
  if (serial === undefined || (typeof serial === 'number' && Number.isSafeInteger(serial) && serial >= 0))
    return serial;
  throw invalidState('The serial in the state must be a whole number that is not negative');
}

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function invalidState(detail: string): ApiError {
  return invalid([{ detail, pointer: '/data/attributes/state' }]);
}

function countOf({ resources }: ReadState): number {
  return resources.reduce((sum, { count }) => sum + count, 0);
}

/** The run that saves the state; null when the caller's own lock lets it. @throws ApiError 409 */
function heldBy(
  { database }: Services,
  caller: Caller,
  { workspace, permissions }: AccessibleWorkspace,
  runId: string | undefined,
): RunRow | null {
  const { locked_by_type: type, locked_by_id: id } = workspace;
  if (type === 'runs') {
    const run = runById(database, id ?? '');
    if (run !== undefined && runId === id && permissions['can-queue-apply']) return run;
    throw conflict(`The workspace is locked by Run ${id}`);
  }
  if (type !== caller.actsAs.type || id !== caller.actsAs.id) {
    throw conflict('A state version can be created only by the holder of the lock: lock the workspace first');
  }
  return null;
}

/** Serials go up and the lineage stays, unless the client forces it. The same state may be saved again. */
function refuseOlder(
  stored: StateVersionRow | undefined,
  saved: Pick<StateVersionBody, 'serial' | 'md5' | 'lineage' | 'force'>,
): void {
  if (stored === undefined || saved.force) return;
  if (stored.lineage !== '' && saved.lineage !== '' && stored.lineage !== saved.lineage) {
    throw conflict('The lineage is not that of the newest state version');
  }
  if (saved.serial < stored.serial) {
    throw conflict(`The serial ${saved.serial} is lower than ${stored.serial}, the newest state version's`);
  }
  if (saved.serial === stored.serial && saved.md5 !== md5Of(stored.state ?? '')) {
    throw conflict(`The newest state version has the serial ${stored.serial} and another content`);
  }
}

interface StateVersionBody {
  readonly serial: number;
  readonly md5: string;
  readonly lineage: string;
  readonly force: boolean;
  readonly intermediate: boolean | undefined;
  readonly state: string | undefined;
  readonly jsonState: string | undefined;
  readonly outputs: readonly StateOutput[] | undefined;
  readonly runId: string | undefined;
}

/** @throws ApiError 422 with every problem */
function readBody(body: unknown): StateVersionBody {
  const problems: PointedProblem[] = [];
  const { attributes, relationships } = readResource(body, 'state-versions');
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const serial = read.count('serial') ?? missing(read, attributes, 'serial');
  const md5 = read.text('md5') ?? missing(read, attributes, 'md5');
  const outputs = decoded(read, 'json-state-outputs');
  const runId = asObject(asObject(relationships['run'])?.['data'])?.['id'];
  const result = {
    serial: serial ?? 0,
    md5: md5 ?? '',
    lineage: read.nullableText('lineage') ?? '',
    force: read.boolean('force') ?? false,
    intermediate: read.boolean('intermediate'),
    state: decoded(read, 'state'),
    jsonState: decoded(read, 'json-state'),
    outputs: outputs === undefined ? undefined : readOutputsText(outputs),
    runId: typeof runId === 'string' ? runId : undefined,
  };
  if (outputs !== undefined && result.outputs === undefined) {
    read.refuse('json-state-outputs', 'json-state-outputs must be a JSON object');
  }
  if (result.jsonState !== undefined && !isJsonState(result.jsonState)) {
    read.refuse('json-state', 'json-state must be a JSON object');
  }
  if (problems.length > 0) throw invalid(problems);
  return result;
}

function missing(read: MemberReader, attributes: Readonly<Record<string, unknown>>, name: string): undefined {
  return attributes[name] === undefined ? read.refuse(name, `${name} is required`) : undefined;
}

/** Files travel as Base64 inside a document. Clients send null or nothing where there is none. */
function decoded(read: MemberReader, name: string): string | undefined {
  const text = read.nullableText(name);
  return text
    ? (textOf(Buffer.from(text, 'base64')) ?? read.refuse(name, `${name} is not UTF-8`))
    : undefined;
}
