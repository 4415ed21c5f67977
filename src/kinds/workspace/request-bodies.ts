/**
 * Makes the attributes of a create and of an update from the field changes: an update holds only what changes, and settings
 * that the service would misinterpret if they were sent alone (wire/workspaces 2.1).
 */
import { type FieldChange, kebabCase } from '../../model/field.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { Dialect } from '../../model/stack.ts';
import { clearedTexts, plainAttributes, sourceAttributes, triggerLists } from './fields.ts';
import { isFilled } from './triggers.ts';
import type {
  PreparedWorkspace,
  RepositoryFields,
  WorkspaceContext,
  WorkspaceFields,
} from './workspace-types.ts';

export interface ChangedField {
  /** the new value of the whole field; undefined when only members of it change */
  readonly after?: Json;
  /** the old value of the whole field, if known */
  readonly before?: Json;
  /** the members that change, with their new values */
  readonly members: JsonObject;
}

/** By the name of a field, or by `name` and `claim` (the ownership tag), which are fields of the planner. */
export type ChangedFields = Pick<
  ReadonlyMap<keyof WorkspaceFields | 'name' | 'claim', ChangedField>,
  'get' | 'has'
>;

export function changedFields(changes: readonly FieldChange[]): ChangedFields {
  const changed = new Map<string, ChangedField>();
  for (const { path, before, after } of changes) {
    const [name = '', member] = path;
    const known = changed.get(name);
    if (member !== undefined) {
      changed.set(name, { members: { ...known?.members, [member]: after ?? null } });
    } else {
      changed.set(name, {
        members: {},
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      });
    }
  }
  return changed;
}

/** All declared values except null: null means the service's default, which an absent attribute gets. */
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

/** The attributes in the PATCH of an update (wire/workspaces 5.4). */
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
 * If the project has another duration, the service refuses an own duration of the workspace, or null, unless the request says that
 * it is not inherited.
 */
function ownAutoDestroy(duration: Json | undefined, { capabilities }: Dialect): JsonObject {
  if (duration === undefined || !capabilities.has('own-auto-destroy')) return {};
  return { 'auto-destroy-activity-duration': duration, 'inherits-project-auto-destroy': false };
}

/** A declared duration is sent with a changed date, because a date alone would end the duration (wire/workspaces 1.5.19). */
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

// The triggers in an update. A service clears the other triggers when one is set. A limited service may refuse an emptied list
// together with a tags regex, ignore an emptied regex, or keep a list. For such a service the list of patterns is emptied first, and
// another update is planned for a trigger that may remain. That update is sent only if the trigger does remain.

type TriggerList = (typeof triggerLists)[number];

interface ChangedTriggers {
  /** the list that is set, if any */
  readonly filled: TriggerList | undefined;
  readonly emptied: readonly TriggerList[];
  readonly regex: 'set' | 'emptied' | undefined;
}

function changedTriggers(changed: ChangedFields): ChangedTriggers {
  const lists = triggerLists.filter((name) => changed.get(name)?.after !== undefined);
  const { after, members } = changed.get('vcsRepo') ?? {};
  const regex = isJsonObject(after) ? memberOf(after, 'tagsRegex') : members?.['tagsRegex'];
  return {
    filled: lists.find((name) => isFilled(changed.get(name)?.after)),
    emptied: lists.filter((name) => !isFilled(changed.get(name)?.after)),
    regex: regex === undefined ? undefined : isFilled(regex) ? 'set' : 'emptied',
  };
}

/** The list in the update itself: one of the two, because old services refuse both keys, even with empty lists (wire/workspaces 2.1). */
function listInUpdate(
  { filled, emptied, regex }: ChangedTriggers,
  { target }: WorkspaceContext,
): TriggerList | undefined {
  return filled ?? (target.ownership === 'ledger' && regex === 'set' ? undefined : emptied[0]);
}

function triggerAttributes(changed: ChangedFields, context: WorkspaceContext): JsonObject {
  const list = listInUpdate(changedTriggers(changed), context);
  return list === undefined ? {} : { [kebabCase(list)]: changed.get(list)?.after ?? [] };
}

/** A separate update that empties a list. */
export interface ClearingUpdate {
  readonly attributes: JsonObject;
  /** the fields that have their declared values only after this update */
  readonly writes: readonly string[];
}

/** The updates before and after the one with everything else. */
export function clearingUpdates(
  changed: ChangedFields,
  context: WorkspaceContext,
): { readonly before?: ClearingUpdate; readonly after?: ClearingUpdate } {
  if (context.target.ownership !== 'ledger') return {};
  const triggers = changedTriggers(changed);
  const emptiesFirst = triggers.regex === 'set' && triggers.emptied.includes('triggerPatterns');
  const done = [listInUpdate(triggers, context), emptiesFirst ? 'triggerPatterns' : undefined];
  const left = triggers.emptied.filter((name) => !done.includes(name));
  const patterns = changed.get('triggerPatterns')?.after ?? context.live?.spec.triggerPatterns;
  // An emptied list of patterns removes a tags regex, too.
  const regex = triggers.regex === 'emptied' && !isFilled(patterns) ? ['vcsRepo'] : [];
  const writes = [...left, ...regex];
  const [list = 'triggerPatterns'] = left;
  return {
    ...(emptiesFirst ? { before: emptying('triggerPatterns', ['triggerPatterns']) } : {}),
    ...(writes.length === 0 ? {} : { after: emptying(list, writes) }),
  };
}

function emptying(list: TriggerList, writes: readonly string[]): ClearingUpdate {
  return { attributes: { [kebabCase(list)]: [] }, writes };
}

// Makes `vcs-repo` members. A connection is never sent as null or "", which the service treats as a broken id (wire/workspaces 2.1).

const connections: readonly string[] = [
  'oauthTokenId',
  'vcsAppInstallationId',
] satisfies (keyof RepositoryFields)[];

/** The repository for a workspace that has none yet; null members are left out. */
export function newRepository(repository: RepositoryFields): JsonObject {
  const given = Object.entries(repository).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [kebabCase(name), value]));
}

/** The members that change; the service keeps the others. Undefined when none of them can be sent. */
function changedRepository(members: JsonObject): JsonObject | undefined {
  const sent = Object.entries(members).filter(
    ([name, value]) => value !== null || !connections.includes(name),
  );
  if (sent.length === 0) return undefined;
  return Object.fromEntries(sent.map(([name, value]) => [kebabCase(name), orEmptyText(name, value)]));
}

/** Free texts are cleared with ""; an empty branch means the default one (wire/workspaces 2.1). */
function orEmptyText(name: string, value: Json): Json {
  return value === null && (name === 'branch' || name === 'tagsRegex') ? '' : value;
}

/** By the specification only an update can connect an app installation; some services accept it in a create (wire/workspaces 1.5.2). */
export function waitsForUpdate(repository: RepositoryFields, dialect: Dialect): boolean {
  return (
    typeof repository.vcsAppInstallationId === 'string' &&
    !dialect.capabilities.has('app-installation-on-create')
  );
}
