/**
 * What starts the runs of a workspace: paths in one of two lists, or a regular expression for tags, which excludes file triggers. The
 * service derives undeclared ones of these fields from the declared ones; this file does the same, and reports live values that
 * contradict the manifest.
 */
import { asWorkspaceItem, type WorkspaceItem } from '../../api/workspaces/workspace.ts';
import { formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, sameJson } from '../../model/json.ts';
import type { RefusedValue, Session } from '../../model/kind.ts';
import type { MarkContext } from '../../model/kind-calls.ts';
import { quoted } from '../../model/quoted.ts';
import { triggerLists } from './fields.ts';
import type { WorkspaceSpec } from './schema.ts';
import {
  asReturned,
  type KnownWorkspace,
  type LiveWorkspace,
  type PreparedLive,
  type PreparedWorkspace,
  type WorkspaceComparison,
  type WorkspaceFacts,
  type WorkspaceFields,
  type WorkspaceRecord,
} from './workspace-types.ts';

interface PreparedTriggers {
  readonly desired: PreparedWorkspace;
  readonly notes: readonly string[];
  readonly problems: readonly Diagnostic[];
}

const fileTriggers = 'fileTriggersEnabled';

export function prepareTriggers(context: WorkspaceComparison): PreparedTriggers {
  const cleared = clearedTriggers(context);
  const regex = prepareTagsRegex(context);
  return { ...regex, desired: { ...cleared.desired, ...regex.desired }, notes: cleared.notes };
}

function prepareTagsRegex(context: WorkspaceComparison): Pick<PreparedTriggers, 'desired' | 'problems'> {
  const { desired, live, record } = context;
  if (!hasTagsRegex(context)) return { desired: {}, problems: [] };
  if (desired[fileTriggers] !== undefined)
    return { desired: {}, problems: desired[fileTriggers] === true ? [contradiction(context)] : [] };
  // With an expression, the default of file triggers is false. Setting an expression turns them off.
  const dropped = record?.fields[fileTriggers] !== undefined;
  const turnedOff = setTrigger(context) === 'tagsRegex' && live?.spec[fileTriggers] === true;
  return { desired: dropped || turnedOff ? { [fileTriggers]: false } : {}, problems: [] };
}

const triggers = [...triggerLists, 'tagsRegex'] as const;
type TriggerField = (typeof triggers)[number];

/** Setting one of the three makes the service clear the others, which the plan shows as a change. */
function clearedTriggers(context: WorkspaceComparison): Pick<PreparedTriggers, 'desired' | 'notes'> {
  const newTrigger = setTrigger(context);
  if (newTrigger === undefined) return { desired: {}, notes: [] };
  const cleared = triggers.filter((name) => name !== newTrigger && isLeftToService(context, name));
  const lists = cleared.filter((name) => name !== 'tagsRegex').map((name) => [name, null] as const);
  const { vcsRepo } = context.desired;
  const repository = { ...(isJsonObject(vcsRepo) ? vcsRepo : {}), tagsRegex: null };
  return {
    desired: {
      ...Object.fromEntries(lists),
      ...(cleared.includes('tagsRegex') ? { vcsRepo: repository } : {}),
    },
    notes: cleared.map(
      (name) => `setting ${pathOf(newTrigger)} clears ${pathOf(name)}: only one of them starts runs`,
    ),
  };
}

/** Whether a trigger is live and not managed; one that was managed and is no longer declared is reset anyway. */
function isLeftToService({ desired, live, record }: WorkspaceComparison, name: TriggerField): boolean {
  const { vcsRepo } = desired;
  const removesRepository =
    vcsRepo === null || (vcsRepo === undefined && record?.fields.vcsRepo !== undefined);
  return (
    isFilled(triggerOf(live?.spec, name)) &&
    triggerOf(desired, name) === undefined &&
    triggerOf(record?.fields, name) === undefined &&
    !(name === 'tagsRegex' && removesRepository)
  );
}

/**
 * The trigger that this change sets, if any; `check` refuses two. The workspace as planned decides: when it is read again for a later call,
 * an earlier call may already have set the trigger.
 */
function setTrigger({ desired, live, planned = live }: Sides): TriggerField | undefined {
  if (planned === undefined) return undefined;
  return triggers.find((name) => {
    const value = triggerOf(desired, name);
    return isFilled(value) && !sameJson(value, triggerOf(planned.spec, name));
  });
}

function triggerOf(spec: WorkspaceFields | undefined, name: TriggerField): Json | undefined {
  return name === 'tagsRegex' ? memberOf(spec?.vcsRepo, name) : spec?.[name];
}

function pathOf(name: TriggerField | undefined): string {
  return name === 'tagsRegex' ? 'vcsRepo.tagsRegex' : String(name);
}

/** Whether an expression is set after the change. Setting a list of paths removes it. */
function hasTagsRegex({ desired, live, record }: WorkspaceComparison): boolean {
  if ([desired.triggerPrefixes, desired.triggerPatterns].some(isFilled)) return false;
  const { vcsRepo } = desired;
  const recorded = record?.fields.vcsRepo;
  if (vcsRepo === null || (vcsRepo === undefined && recorded !== undefined)) return false;
  const own = memberOf(vcsRepo, 'tagsRegex');
  if (own !== undefined) return isFilled(own);
  return memberOf(recorded, 'tagsRegex') === undefined && isFilled(memberOf(live?.spec.vcsRepo, 'tagsRegex'));
}

type Sides = Pick<WorkspaceComparison, 'desired'> & {
  readonly live?: WorkspaceComparison['live'] | undefined;
  readonly planned?: WorkspaceComparison['live'] | undefined;
  readonly record?: WorkspaceComparison['record'] | undefined;
};

/** Whether a list of paths is filled after the change. */
function hasListsAfter(context: Sides): boolean {
  const { desired, live, record } = context;
  const newTrigger = setTrigger(context);
  return triggerLists.some((name) => {
    if (desired[name] !== undefined) return isFilled(desired[name]);
    const isReset = record?.fields[name] !== undefined;
    return !isReset && isFilled(live?.spec[name]) && (newTrigger === undefined || newTrigger === name);
  });
}

export function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

function contradiction({ address }: WorkspaceComparison): Diagnostic {
  return {
    code: 'regex-with-file-triggers',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(formatAddress(address))} declares file triggers, but its repository has a "tagsRegex" that the manifest does not declare`,
    fix: 'declare "vcsRepo.tagsRegex: null", or "fileTriggersEnabled: false"',
  };
}

// Services that derive `fileTriggersEnabled` from the lists of triggers: it is true if one is filled, and cannot be set. The
// response to a write proves that, and the ledger records it. Then nothing is sent for a value that is no longer declared, and a
// declared one that contradicts its lists is refused.

const mark = 'fileTriggersDerived';

/** Whether the file triggers of a workspace are on exactly if one of its lists is filled. */
function followsLists({ attributes }: WorkspaceItem): boolean {
  return attributes['file-triggers-enabled'] === hasLists(attributes);
}

function hasLists(attributes: WorkspaceItem['attributes']): boolean {
  return isFilled(attributes['trigger-prefixes']) || isFilled(attributes['trigger-patterns']);
}

/** Whether file triggers are off although neither lists nor a tags regex explain it: the default of the API is on. */
function isOffWithoutLists({ attributes }: WorkspaceItem): boolean {
  const regex = memberOf(attributes['vcs-repo'], 'tags-regex');
  return attributes['file-triggers-enabled'] === false && !hasLists(attributes) && !isFilled(regex);
}

/**
 * Whether the service derives file triggers: `proved` by the ledger, or `likely` from its workspaces.
 * @param known.isLimited whether a workspace shows that the service lacks other features of the API, too
 */
export function derivesFileTriggers(
  { target }: Session,
  items: readonly WorkspaceItem[],
  known: { readonly records: Iterable<WorkspaceRecord>; isLimited(item: WorkspaceItem): boolean },
): WorkspaceFacts['fileTriggersDerived'] {
  if (target.ownership !== 'ledger' || !items.every(followsLists)) return undefined;
  const records = [...known.records];
  if (records.some(isMarked)) return 'proved';
  const turnedOff = new Set(records.flatMap(({ id, fields }) => (fields[fileTriggers] === false ? id : [])));
  const isLikely = items.some(
    (item) => isOffWithoutLists(item) && known.isLimited(item) && !turnedOff.has(item.id),
  );
  return isLikely ? 'likely' : undefined;
}

function isMarked({ marks }: WorkspaceRecord): boolean {
  return marks?.[mark] === true;
}

/** The ledger's mark that a response proved the derivation. Without a response, the earlier mark stays while nothing contradicts it. */
export function derivedTriggerMarks(
  context: MarkContext<WorkspaceSpec, LiveWorkspace>,
): Readonly<Record<string, Json>> {
  const { change, answers, live, record } = context;
  const items = (change?.calls ?? []).flatMap(
    ({ id }) => asWorkspaceItem(memberOf(answers.get(id)?.body, 'data')) ?? [],
  );
  const last = items.at(-1);
  const wasMarked = record !== undefined && isMarked(record);
  const isDerived =
    last === undefined
      ? wasMarked && live?.facts.fileTriggersDerived === 'proved'
      : followsLists(last) && (wasMarked || contradicts(last, context));
  return isDerived ? { [mark]: true } : {};
}

/** Whether a response shows other file triggers than the write should have set, or lists that it should have kept as lost. */
function contradicts(
  { attributes }: WorkspaceItem,
  { change, desired }: MarkContext<WorkspaceSpec, LiveWorkspace>,
): boolean {
  const declared = desired[fileTriggers];
  const losesLists =
    declared === false &&
    (isFilled(desired.triggerPatterns) || isFilled(desired.triggerPrefixes)) &&
    !hasLists(attributes);
  const regex = memberOf(attributes['vcs-repo'], 'tags-regex');
  const written = change?.fields.find(({ path }) => path[0] === fileTriggers);
  const byDefault = change?.action === 'create' && !isFilled(regex) ? true : undefined;
  const expected = declared ?? (written === undefined ? byDefault : written.after !== false);
  return losesLists || (expected !== undefined && attributes['file-triggers-enabled'] !== expected);
}

/** Does not reset a value that is no longer declared, if a reset is known to have no effect. */
export function prepareDerivedTriggers(
  { desired, live, planned, record }: WorkspaceComparison,
  prepared: PreparedWorkspace,
): PreparedLive {
  const isKnown = [live, planned].some((seen) => seen?.facts.fileTriggersDerived === 'proved');
  const isReset = desired[fileTriggers] === undefined && record?.fields[fileTriggers] !== undefined;
  return isKnown && isReset && prepared[fileTriggers] === undefined
    ? { live: { [fileTriggers]: true }, notes: [] }
    : asReturned;
}

/** The value that a reset removes, for a service that may derive it. */
export function removedFileTriggers(
  before: Json | undefined,
  after: Json | undefined,
  desired: WorkspaceFields,
): NonNullable<Call['removes']> {
  return before === false && after === true && desired[fileTriggers] === undefined
    ? { [fileTriggers]: false }
    : {};
}

/** Whether the response to a reset of file triggers shows that the service derives the value. */
export function showsDerived({ attributes }: WorkspaceItem, { removes }: Pick<Call, 'removes'>): boolean {
  return (
    removes?.[fileTriggers] === false &&
    attributes['file-triggers-enabled'] === false &&
    !hasLists(attributes)
  );
}

/** A declared value that contradicts its lists, if the service derives it. */
export function refusedFileTriggers(
  desired: WorkspaceSpec,
  known: KnownWorkspace,
  evidence: NonNullable<WorkspaceFacts['fileTriggersDerived']>,
): RefusedValue[] {
  const declared = desired[fileTriggers];
  const lists = hasListsAfter({ desired, ...known });
  if (declared === undefined || (declared ?? true) === lists) return [];
  const limitation = evidence === 'proved' ? '' : ', as far as its workspaces show';
  const context = lists ? 'together with a list of triggers' : 'without a list of triggers';
  return [
    {
      fields: [fileTriggers, 'triggerPatterns', 'triggerPrefixes', 'vcsRepo'],
      code: 'file-triggers-derived',
      message: `${quoted(`${fileTriggers}: ${String(declared)}`)} is not possible ${context}: the service derives it from the lists of triggers${limitation}`,
      fix: lists
        ? `remove the list of triggers, or ${quoted(fileTriggers)}`
        : `declare ${quoted('triggerPatterns')} or ${quoted('triggerPrefixes')}, or remove ${quoted(fileTriggers)}`,
    },
  ];
}
