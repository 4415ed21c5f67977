/**
 * Services that derive `fileTriggersEnabled` from the lists of triggers: it is true where one is filled, and cannot be set (rule 48).
 * An answer to a write of ours proves that, and the ledger keeps it. Then nothing is sent for a value that is no longer declared, and a
 * declared one that contradicts its lists is refused.
 */
import { type Json, memberOf } from '../../../model/json/json.ts';
import type { MarkContext, RefusedValue, Session } from '../../../model/kind/kind.ts';
import type { Call } from '../../../model/plan/call.ts';
import { quoted } from '../../../model/quoted.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type {
  KnownWorkspace,
  LiveWorkspace,
  PreparedWorkspace,
  WorkspaceComparison,
  WorkspaceFacts,
  WorkspaceFields,
  WorkspaceRecord,
} from '../workspace-types.ts';
import { asReturned, type PreparedLive } from './prepared-live.ts';
import { hasListsAfter, isFilled } from './prepare-triggers.ts';

const name = 'fileTriggersEnabled';
const mark = 'fileTriggersDerived';

/** Whether the file triggers of a workspace are as its lists are. */
function followsLists({ attributes }: WorkspaceItem): boolean {
  return attributes['file-triggers-enabled'] === hasLists(attributes);
}

function hasLists(attributes: WorkspaceItem['attributes']): boolean {
  return isFilled(attributes['trigger-prefixes']) || isFilled(attributes['trigger-patterns']);
}

/** Whether they are off, and neither lists nor an expression for tags explain it: the API begins with true. */
function isOffWithoutLists({ attributes }: WorkspaceItem): boolean {
  const regex = memberOf(attributes['vcs-repo'], 'tags-regex');
  return attributes['file-triggers-enabled'] === false && !hasLists(attributes) && !isFilled(regex);
}

/** @param lacksParts whether a workspace shows that the service lacks other parts of the API, too */
export function derivesFileTriggers(
  { target }: Session,
  items: readonly WorkspaceItem[],
  known: { readonly records: Iterable<WorkspaceRecord>; lacksParts(item: WorkspaceItem): boolean },
): WorkspaceFacts['fileTriggersDerived'] {
  if (target.ownership !== 'ledger' || !items.every(followsLists)) return undefined;
  const records = [...known.records];
  if (records.some(hasMark)) return 'proved';
  const turnedOff = new Set(records.flatMap(({ id, fields }) => (fields[name] === false ? id : [])));
  const isLikely = items.some(
    (item) => isOffWithoutLists(item) && known.lacksParts(item) && !turnedOff.has(item.id),
  );
  return isLikely ? 'likely' : undefined;
}

function hasMark({ marks }: WorkspaceRecord): boolean {
  return marks?.[mark] === true;
}

/** The ledger's mark that an answer to a write of ours proved it; without an answer, the earlier mark while nothing contradicts it. */
export function derivedTriggerMarks(
  context: MarkContext<WorkspaceSpec, LiveWorkspace>,
): Readonly<Record<string, Json>> {
  const { change, answers, live, record } = context;
  const items = (change?.calls ?? []).flatMap(
    ({ id }) => asWorkspaceItem(memberOf(answers.get(id)?.body, 'data')) ?? [],
  );
  const last = items.at(-1);
  const wasMarked = record !== undefined && hasMark(record);
  const isDerived =
    last === undefined
      ? wasMarked && live?.facts.fileTriggersDerived === 'proved'
      : followsLists(last) && (wasMarked || contradicts(last, context));
  return isDerived ? { [mark]: true } : {};
}

function contradicts(
  { attributes }: WorkspaceItem,
  { change, desired }: MarkContext<WorkspaceSpec, LiveWorkspace>,
): boolean {
  const declared = desired[name];
  const losesLists =
    declared === false &&
    (isFilled(desired.triggerPatterns) || isFilled(desired.triggerPrefixes)) &&
    !hasLists(attributes);
  const regex = memberOf(attributes['vcs-repo'], 'tags-regex');
  const written = change?.fields.find(({ path }) => path[0] === name);
  const byItself = change?.action === 'create' && !isFilled(regex) ? true : undefined;
  const expected = declared ?? (written === undefined ? byItself : written.after !== false);
  return losesLists || (expected !== undefined && attributes['file-triggers-enabled'] !== expected);
}

/** A value that is no longer declared is not reset where that is known to be without effect. */
export function prepareDerivedTriggers(
  { desired, live, planned, record }: WorkspaceComparison,
  prepared: PreparedWorkspace,
): PreparedLive {
  const isKnown = [live, planned].some((seen) => seen?.facts.fileTriggersDerived === 'proved');
  const isReset = desired[name] === undefined && record?.fields[name] !== undefined;
  return isKnown && isReset && prepared[name] === undefined
    ? { live: { [name]: true }, notes: [] }
    : asReturned;
}

/** What the reset of a value that was declared removes, for a service that may derive it. */
export function removedFileTriggers(
  before: Json | undefined,
  after: Json | undefined,
  desired: WorkspaceFields,
): NonNullable<Call['removes']> {
  return before === false && after === true && desired[name] === undefined ? { [name]: false } : {};
}

/** Whether the answer to such a reset shows that the value is derived, so that nothing else could be answered. */
export function showsDerived({ attributes }: WorkspaceItem, { removes }: Pick<Call, 'removes'>): boolean {
  return removes?.[name] === false && attributes['file-triggers-enabled'] === false && !hasLists(attributes);
}

/** A declared value that contradicts its lists, where the service derives it. */
export function refusedFileTriggers(
  desired: WorkspaceSpec,
  known: KnownWorkspace,
  evidence: NonNullable<WorkspaceFacts['fileTriggersDerived']>,
): RefusedValue[] {
  const declared = desired[name];
  const lists = hasListsAfter({ desired, ...known });
  if (declared === undefined || (declared ?? true) === lists) return [];
  const far = evidence === 'proved' ? '' : ', as far as its workspaces show';
  const beside = lists ? 'beside a list of triggers' : 'without a list of triggers';
  return [
    {
      fields: [name, 'triggerPatterns', 'triggerPrefixes', 'vcsRepo'],
      code: 'file-triggers-derived',
      message: `${quoted(`${name}: ${String(declared)}`)} is not possible ${beside}: the service derives it from them${far}`,
      fix: lists
        ? `remove the list of triggers, or ${quoted(name)}`
        : `declare ${quoted('triggerPatterns')} or ${quoted('triggerPrefixes')}, or remove ${quoted(name)}`,
    },
  ];
}
