/**
 * Makes the attributes of a create and of an update. An update holds only what changes, and settings that the service would
 * misinterpret if they were sent alone.
 */
import { kebabCase } from '../../../model/kind/field-names.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json/json.ts';
import type { Dialect } from '../../../model/stack/target.ts';
import { clearedTexts, plainAttributes, sourceAttributes, triggerLists } from '../attributes.ts';
import type { ChangedFields } from './changed-fields.ts';
import { changedRepository, newRepository, waitsForUpdate } from './repository-body.ts';
import { isFilled } from '../prepare/prepare-triggers.ts';
import { triggerAttributes } from './trigger-updates.ts';
import type { PreparedWorkspace, WorkspaceContext } from '../workspace-types.ts';

/** All declared values but null: null means the service's default, which an absent attribute gets. */
export function createAttributes(desired: PreparedWorkspace, dialect: Dialect): JsonObject {
  const attributes: Record<string, Json> = {};
  for (const name of [...plainAttributes, ...sourceAttributes, 'executionMode', 'agentPoolId'] as const) {
    const value = desired[name];
    if (value !== undefined && value !== null) attributes[kebabCase(name)] = value;
  }
  for (const name of triggerLists) {
    const value = desired[name];
    if (value !== undefined && isFilled(value)) attributes[kebabCase(name)] = value;
  }
  const repository = desired.vcsRepo;
  if (isJsonObject(repository) && !waitsForUpdate(repository, dialect)) {
    attributes['vcs-repo'] = newRepository(repository);
  }
  const overwrites = desired.settingOverwrites;
  if (isJsonObject(overwrites)) attributes['setting-overwrites'] = inWireNames(overwrites);
  return { ...attributes, ...ownAutoDestroy(desired.autoDestroyActivityDuration, dialect) };
}

/** Source: wire/workspaces 5.4; rule 13. */
export function updateAttributes(changed: ChangedFields, context: WorkspaceContext): JsonObject {
  const { desired, dialect } = context;
  const attributes: Record<string, Json> = {};
  for (const name of ['name', ...plainAttributes] as const) {
    const value = changed.get(name)?.after;
    if (value !== undefined) attributes[kebabCase(name)] = value === null ? cleared(name) : value;
  }
  return {
    ...attributes,
    ...ownAutoDestroy(changedDuration(changed, desired), dialect),
    ...executionAttributes(changed, desired),
    ...triggerAttributes(changed, context),
    ...repositoryAttributes(changed),
  };
}

function cleared(name: string): Json {
  return clearedTexts.has(name) ? '' : null;
}

/**
 * Where the project has another duration, the service refuses one of the workspace, or none, unless the request says that it
 * is not inherited.
 */
function ownAutoDestroy(duration: Json | undefined, { capabilities }: Dialect): JsonObject {
  if (duration === undefined || !capabilities.has('own-auto-destroy')) return {};
  return { 'auto-destroy-activity-duration': duration, 'inherits-project-auto-destroy': false };
}

/** A declared duration is sent with a changed date, which ends it if it is sent alone (wire/workspaces 1.5.19). */
function changedDuration(changed: ChangedFields, desired: PreparedWorkspace): Json | undefined {
  const change = changed.get('autoDestroyActivityDuration');
  if (change !== undefined) return change.after;
  return typeof changed.get('autoDestroyAt')?.after === 'string'
    ? desired.autoDestroyActivityDuration
    : undefined;
}

/**
 * Mode, pool and inheritance belong together. A literal mode makes both the workspace's own unless the same request says
 * otherwise, so all declared `settingOverwrites` are sent with it.
 */
function executionAttributes(changed: ChangedFields, desired: PreparedWorkspace): JsonObject {
  const isChanged = (['executionMode', 'agentPoolId', 'settingOverwrites'] as const).some((name) =>
    changed.has(name),
  );
  if (!isChanged) return {};
  const mode = changed.get('executionMode')?.after;
  const declared = desired.settingOverwrites;
  const overwrites = {
    ...(mode === null ? { 'execution-mode': false, 'agent-pool': false } : {}),
    ...(isJsonObject(declared) ? inWireNames(declared) : {}),
  };
  return {
    ...(typeof mode === 'string' ? { 'execution-mode': mode } : {}),
    ...poolAttribute(changed, desired),
    ...(Object.keys(overwrites).length === 0 ? {} : { 'setting-overwrites': overwrites }),
  };
}

/** A pool is removed with its mode, and must not be sent with another mode (wire/workspaces 5.4). */
function poolAttribute(changed: ChangedFields, desired: PreparedWorkspace): JsonObject {
  const pool = desired.agentPoolId;
  const becomesAgent = changed.get('executionMode')?.after === 'agent';
  const sent = typeof pool === 'string' && (becomesAgent || changed.has('agentPoolId'));
  return sent ? { 'agent-pool-id': pool } : {};
}

function repositoryAttributes(changed: ChangedFields): JsonObject {
  const change = changed.get('vcsRepo');
  if (change === undefined) return {};
  if (change.after === null) return { 'vcs-repo': null };
  if (isJsonObject(change.after)) return { 'vcs-repo': newRepository(change.after) };
  const members = changedRepository(change.members);
  return members === undefined ? {} : { 'vcs-repo': members };
}

function inWireNames(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [kebabCase(name), value]));
}
