/**
 * Services that lack something: they do not return some fields, never report whether an execution mode is a workspace's own, or
 * keep no ownership tags. The ledger records what the response to a write has shown.
 */
import { type Inherited, reportsInheritance } from '../../api/workspaces/projects.ts';
import { asWorkspaceItem, poolOf, type WorkspaceItem } from '../../api/workspaces/workspace.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { LiveSet, ReadRequest } from '../../model/kind.ts';
import type { MarkContext } from '../../model/kind-calls.ts';
import { shownOwnershipTag, type Spec } from '../../model/resource.ts';
import { fields } from './fields.ts';
import type { WorkspaceSpec } from './schema.ts';
import {
  asReturned,
  type LiveWorkspace,
  type PreparedLive,
  type WorkspaceComparison,
  type WorkspaceFacts,
  type WorkspaceRecord,
} from './workspace-types.ts';

/**
 * Whether a mode that the service reports as inherited is the workspace's own; undefined if nothing contradicts the service. A
 * default without a pool shows nothing about pools.
 */
export function ownModeOf(item: WorkspaceItem, inherited: Inherited): WorkspaceFacts['ownMode'] {
  const mode = item.attributes['execution-mode'];
  if (typeof mode !== 'string' || !reportsInheritance(item)) return undefined;
  if (inherited === 'unknown') return 'unknown';
  const isOtherPool = mode === 'agent' && inherited.pool !== null && poolOf(item) !== inherited.pool;
  return mode !== inherited.mode || isOtherPool ? 'proved' : undefined;
}

/** Whether the service reports the mode, or the pool, that was just sent as inherited. */
export function hidesOwnMode(
  item: WorkspaceItem,
  sent: { readonly mode?: Json | undefined; readonly pool?: Json | undefined },
): boolean {
  if (!reportsInheritance(item)) return false;
  const isMode = typeof sent.mode === 'string' && item.attributes['execution-mode'] === sent.mode;
  return isMode || (typeof sent.pool === 'string' && poolOf(item) === sent.pool);
}

const ownModeMark = 'ownModeUntold';

/** The ledger's mark that the service hides own modes. Without a response, the earlier mark stays until the service reports an own mode. */
export function ownModeMarks({
  change,
  answers,
  desired,
  live,
  record,
}: MarkContext<WorkspaceSpec, LiveWorkspace>): Readonly<Record<string, Json>> {
  const items = ['create', 'update'].flatMap((suffix) => {
    const id = change && `${formatAddress(change.address)}#${suffix}`;
    const item = asWorkspaceItem(memberOf(id && answers.get(id)?.body, 'data'));
    return item === undefined ? [] : [{ item, call: change?.calls.find((call) => call.id === id) }];
  });
  const isHidden =
    items.length === 0
      ? hasOwnModeMark(record) && live?.spec.settingOverwrites?.executionMode !== true
      : items.some(
          ({ item, call }) =>
            hidesOwnMode(item, { mode: desired.executionMode }) || (call && keepsOldMode(item, call)),
        );
  return isHidden ? { [ownModeMark]: true } : {};
}

/** Whether the response to a reset of the mode still has the old one, which is not the default: nothing was reset. */
export function keepsOldMode(item: WorkspaceItem, { removes }: Pick<Call, 'removes'>): boolean {
  const old = removes?.['executionMode'];
  return old !== undefined && item.attributes['execution-mode'] === old;
}

export function hasOwnModeMark(record: WorkspaceRecord | undefined): boolean {
  return record?.marks?.[ownModeMark] === true;
}

/** The live values of a mode that is certainly the workspace's own, although the service reports it as inherited. */
export function prepareOwnMode({ desired, live, record }: WorkspaceComparison): PreparedLive {
  const mode = live?.facts.effectiveMode;
  if (live === undefined || typeof mode !== 'string') return asReturned;
  const { settingOverwrites } = desired;
  // It is unknown whether the pool is also the workspace's own: the declared value is assumed.
  const overwrites =
    settingOverwrites === undefined ? {} : { settingOverwrites: withOwnMode(settingOverwrites) };
  if (live.facts.ownMode === 'proved') return { live: overwrites, notes: [] };
  if (!hasOwnModeMark(record) || live.spec.executionMode !== null || record?.fields.executionMode !== mode)
    return asReturned;
  return {
    live: {
      executionMode: mode,
      agentPoolId: mode === 'agent' ? (live.facts.agentPool ?? null) : null,
      ...overwrites,
    },
    // The report has one line about this for the whole service.
    notes: [],
  };
}

function withOwnMode(declared: Json): Json {
  return isJsonObject(declared) && declared['executionMode'] !== undefined
    ? { ...declared, executionMode: true }
    : declared;
}

// Services that keep no ownership tags: they have no tag bindings, or silently drop them. A drop shows only after a write, and the
// ledger records it until the tag is seen.

const lostTagMark = 'claimLost';

/** The ledger's mark of a workspace whose ownership tag was missing when it was read back. */
export function lostOwnershipTagMarks({
  lostTag,
  live,
  record,
}: MarkContext<WorkspaceSpec, LiveWorkspace>): Readonly<Record<string, Json>> {
  const isShown = live !== undefined && shownOwnershipTag(live.evidence) !== undefined;
  return lostTag || (record?.marks?.[lostTagMark] === true && !isShown) ? { [lostTagMark]: true } : {};
}

const fix =
  'set "ownership: ledger" for the target: then only the ledger records what this stack owns, and ownership tags of other stacks are not checked';

export const noOwnershipTags = {
  code: 'no-claims',
  class: 'invalid',
  message: 'the service has no tag bindings, so a workspace cannot show which stack owns it',
  fix,
} as const;

/** Why nothing can be planned if no ownership tag of any stack is seen, and one that this stack wrote was not kept. */
export function lostOwnershipTags(
  resources: readonly LiveWorkspace[],
  records: ReadonlyMap<AddressText, WorkspaceRecord>,
): LiveSet['unplannable'] {
  const live = new Set(resources.map(({ id }) => id));
  const lost = [...records.values()].find(({ id, marks }) => marks?.[lostTagMark] === true && live.has(id));
  const message =
    'the service does not keep ownership tags: one that this stack wrote was missing when it was read back';
  return lost && { ...noOwnershipTags, message };
}

type Request = Pick<ReadRequest<WorkspaceSpec>, 'declared'>;

/** Declared fields of existing resources that the service does not return: their drift cannot be seen. */
export function invisibleFields({ declared }: Request, resources: readonly LiveWorkspace[]): string[] {
  const live = new Map(
    resources.map((resource) => [formatAddress(resource.address), resource.spec] as const),
  );
  const unseen = declared.flatMap(({ address, spec }) => {
    const seen = live.get(formatAddress(address));
    if (seen === undefined) return [];
    const found: Spec = seen;
    const top = Object.keys(spec).filter((name) => isLiveField(name) && found[name] === undefined);
    return [...top, ...unseenMembers(spec.vcsRepo, seen.vcsRepo)];
  });
  return [...new Set(unseen)];
}

/** Declared fields that the service returns for no workspace of the organization. */
export function lackingFields({ declared }: Request, resources: readonly LiveWorkspace[]): string[] {
  if (resources.length === 0) return [];
  const answered = new Set(resources.flatMap(({ spec }) => Object.keys(spec)));
  const wanted = new Set(declared.flatMap(({ spec }) => Object.keys(spec)));
  const isLacking = (name: string) => !answered.has(name) && fieldsOfDocument.has(name);
  return [...wanted].filter((name) => isLiveField(name) && isLacking(name)).toSorted();
}

/** Fields of the document; not the retention policy, which is read separately, and not fields that only a creation accepts. */
const fieldsOfDocument = new Set(
  Object.entries(fields).flatMap(([name, { createOnly }]) =>
    createOnly || name === 'dataRetentionPolicy' ? [] : name,
  ),
);

function isLiveField(name: string): boolean {
  return fields[name] !== undefined && fields[name].local !== true;
}

function unseenMembers(declared: Json | undefined, seen: Json | undefined): string[] {
  if (!isJsonObject(declared) || !isJsonObject(seen)) return [];
  return Object.keys(declared).flatMap((name) => (seen[name] === undefined ? [`vcsRepo.${name}`] : []));
}
