/**
 * POST /workspaces/:workspace_id/state-versions.
 *
 * without a state ──▶ pending ──the state is uploaded to its link──▶ finalized; with a state: finalized at once
 *
 * Invariants: only the holder of the workspace's lock saves a state, so two writers cannot overwrite each other. If a run holds the
 * lock, each caller who names this run and may apply it counts as its holder. A finalized version becomes current at once, unless a newer
 * one is current or another holder has the lock. An intermediate version (saved while a run holds the lock, or requested as such)
 * becomes current at the unlock. Serial and lineage come from the request until the state is uploaded, then from the state. A new
 * request with the same serial replaces the pending version.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { createHash } from 'node:crypto';
import type { Caller } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { type ApiError, conflict, invalid, notFound } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, created } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { LongText } from '../kernel/long-body.ts';
import { asObject, type BodyObject, type MemberReader, readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { textOf } from '../kernel/well-formed-text.ts';
import { type AccessibleWorkspace, requireWorkspace } from './access.ts';
import { type RunRow, runById } from './run-record.ts';
import { type FileKind, IncomingFile } from './state-file.ts';
import { readOutputsText, replaceOutputs, type StateReader } from './state-outputs.ts';
import { stateVersionResources } from './state-version-document.ts';
import {
  finalizedBefore,
  isLockedByAnother,
  makeCurrentIfNewer,
  newestFinalizedStateVersion,
  removePending,
  stateVersionById,
  type StateVersionRow,
} from './state-version-record.ts';

export function createStateVersion(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const { workspace, permissions } = requireWorkspace(request, 'can-create-state-versions');
  const body = readBody(request.body);
  const run = requireLockHolder(request.services, request.caller, { workspace, permissions }, body.runId);
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
    run_id: run?.id ?? null,
    created_by_id: request.caller.userId,
    created_at: request.services.now().toISOString(),
  });
  if (body.outputs !== undefined) replaceOutputs(database, id, body.outputs);
  if (body.jsonState !== undefined) {
    const file = receiveFile(database, id, { kind: 'json-state', bytes: body.jsonState });
    file.store(file.end());
  }
  if (body.state !== undefined) {
    finalizeState(request.services, id, receiveFile(database, id, { kind: 'state', bytes: body.state }));
  }
  recordEvent(request, 'state_version.create', { id, organization_id: workspace.organization_id });
  const row = stateVersionById(database, id);
  const reader = { origin: request.origin, permissions: new Map([[workspace.id, permissions]]) };
  return created({
    data: stateVersionResources(request.services, reader, row === undefined ? [] : [row])[0],
  });
}

/** Stores a file from the body of the request. If it is refused, the rollback removes it. */
function receiveFile(
  database: Database,
  versionId: string,
  { kind, bytes }: { readonly kind: FileKind; readonly bytes: Iterable<Buffer> },
): IncomingFile {
  const file = new IncomingFile(database, versionId, { kind, isInBody: true });
  for (const piece of bytes) file.write(piece);
  return file;
}

/** @throws ApiError 409 when the version already has this file */
export function requireNotUploaded(version: StateVersionRow, kind: FileKind): void {
  if (kind === 'state' ? version.status !== 'pending' : version.has_json_state === 1) {
    throw conflict(`The state version has its ${kind === 'state' ? 'state' : 'JSON state'} already`);
  }
}

/**
 * Stores the state of a pending version, takes serial and lineage from it, and makes the version current if it should be.
 * @throws ApiError 422 for an invalid state, 409 for a state that has another MD5 than announced or is older than the stored one
 */
export function finalizeState(services: Services, id: string, file: IncomingFile): void {
  const { database } = services;
  const version = stateVersionById(database, id);
  if (version === undefined) throw notFound('File');
  requireNotUploaded(version, 'state');
  const md5 = file.end();
  const { state } = file;
  if (version.md5 !== null && version.md5 !== md5) {
    throw conflict(`The state's MD5 is ${md5}, not ${version.md5} as was announced`);
  }
  const serial = serialOf(state) ?? version.serial;
  const lineage = typeof state.lineage === 'string' ? state.lineage : version.lineage;
  const before = finalizedBefore(database, version);
  refuseOlder(before, { serial, lineage, md5, force: version.forced === 1 });
  file.store(md5);
  database.update('state_versions', id, {
    status: 'finalized',
    serial,
    lineage,
    resources: JSON.stringify(state.resources),
    resource_count: state.resources.reduce((sum, { count }) => sum + count, 0),
  });
  const existing = database.get('SELECT 1 FROM state_version_outputs WHERE state_version_id = :id', { id });
  if (existing === undefined) replaceOutputs(database, id, state.outputs);
  database.update('workspaces', version.workspace_id, { latest_change_at: services.now().toISOString() });
  if (version.intermediate === 0 && !isLockedByAnother(database, version)) makeCurrentIfNewer(database, id);
}

/** @throws ApiError 422 for a serial that is not a whole number */
function serialOf({ serial }: StateReader): number | undefined {
  if (serial === undefined || (typeof serial === 'number' && Number.isSafeInteger(serial) && serial >= 0))
    return serial;
  throw invalidState('The serial in the state must be a whole number that is not negative');
}

function invalidState(detail: string): ApiError {
  return invalid([{ detail, pointer: '/data/attributes/state' }]);
}

/** The run that saves the state; null when the caller holds the lock. @throws ApiError 409 */
function requireLockHolder(
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

/** The MD5 of an empty file. A version of a seed has no stored state, so it counts as one with an empty state. */
const EMPTY_MD5 = createHash('md5').digest('hex');

/** Refuses a lower serial or another lineage than those of `stored`, unless the client sends `force`. The same state may be saved again. */
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
  if (saved.serial === stored.serial && saved.md5 !== (stored.state_md5 ?? EMPTY_MD5)) {
    throw conflict(`The newest state version has the serial ${stored.serial} and another content`);
  }
}

type StateVersionBody = ReturnType<typeof readBody>;

/** @throws ApiError 422 with every problem */
function readBody(body: unknown) {
  const { read, problems, attributes, relationships } = readAttributes(body, 'state-versions');
  const serial = read.count('serial') ?? refuseMissing(read, attributes, 'serial');
  const md5 = read.text('md5') ?? refuseMissing(read, attributes, 'md5');
  const outputs = decodeBase64(read, attributes, 'json-state-outputs');
  const outputsText = outputs && textOf(Buffer.concat([...outputs]));
  const runId = asObject(asObject(relationships['run'])?.['data'])?.['id'];
  const result = {
    serial: serial ?? 0,
    md5: md5 ?? '',
    lineage: read.nullableText('lineage') ?? '',
    force: read.boolean('force') ?? false,
    intermediate: read.boolean('intermediate'),
    state: decodeBase64(read, attributes, 'state'),
    jsonState: decodeBase64(read, attributes, 'json-state'),
    outputs: outputsText === undefined ? undefined : readOutputsText(outputsText),
    runId: typeof runId === 'string' ? runId : undefined,
  };
  if (outputs !== undefined && result.outputs === undefined) {
    read.refuse('json-state-outputs', 'json-state-outputs must be a JSON object');
  }
  if (problems.length > 0) throw invalid(problems);
  return result;
}

function refuseMissing(
  read: MemberReader,
  attributes: Readonly<Record<string, unknown>>,
  name: string,
): undefined {
  return attributes[name] === undefined ? read.refuse(name, `${name} is required`) : undefined;
}

/** Files in a document are Base64. For an absent file, clients send null or leave the attribute out. */
function decodeBase64(
  read: MemberReader,
  attributes: BodyObject,
  name: string,
): Iterable<Buffer> | undefined {
  const long = attributes[name];
  if (long instanceof LongText) return long.fromBase64();
  const text = read.nullableText(name);
  return text ? [Buffer.from(text, 'base64')] : undefined;
}
