/**
 * Services that never say whether an execution mode is a workspace's own: they answer every one as inherited (rule 48). A mode that
 * differs from the default that the workspace would inherit is its own. Where it does not differ, or the default cannot be read, the
 * mode that we wrote counts as the workspace's own while it is the one that the workspace has.
 */
import { formatAddress } from '../../../model/resource/address.ts';
import { isJsonObject, type Json, memberOf } from '../../../model/json/json.ts';
import type { Call } from '../../../model/plan/call.ts';
import type { MarkContext } from '../../../model/kind/kind.ts';
import { type Inherited, reportsInheritance } from '../../../services/workspaces/inherited-execution.ts';
import { asWorkspaceItem, poolOf, type WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type {
  LiveWorkspace,
  WorkspaceComparison,
  WorkspaceFacts,
  WorkspaceRecord,
} from '../workspace-types.ts';
import { asReturned, type PreparedLive } from './prepared-live.ts';

/**
 * Whether a mode that is said to be inherited is the workspace's own; undefined where nothing contradicts the service. A default
 * without a pool says nothing about pools.
 */
export function whoseMode(item: WorkspaceItem, inherited: Inherited): WorkspaceFacts['ownMode'] {
  const mode = item.attributes['execution-mode'];
  if (typeof mode !== 'string' || !reportsInheritance(item)) return undefined;
  if (inherited === 'unknown') return 'unknown';
  const isOtherPool = mode === 'agent' && inherited.pool !== null && poolOf(item) !== inherited.pool;
  return mode !== inherited.mode || isOtherPool ? 'proved' : undefined;
}

/** Whether a workspace has the mode, or the pool, that was sent, and is said to inherit it. */
export function hidesOwnMode(
  item: WorkspaceItem,
  sent: { readonly mode?: Json | undefined; readonly pool?: Json | undefined },
): boolean {
  if (!reportsInheritance(item)) return false;
  const isMode = typeof sent.mode === 'string' && item.attributes['execution-mode'] === sent.mode;
  return isMode || (typeof sent.pool === 'string' && poolOf(item) === sent.pool);
}

const mark = 'ownModeUntold';

/** The ledger's mark that the service hides it; without an answer that shows it, the earlier mark, until the service tells. */
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
      ? hasMark(record) && live?.spec.settingOverwrites?.executionMode !== true
      : items.some(
          ({ item, call }) =>
            hidesOwnMode(item, { mode: desired.executionMode }) || (call && keepsOldMode(item, call)),
        );
  return isHidden ? { [mark]: true } : {};
}

/** Whether the answer to a reset of the mode still has the old one, which is not the default: nothing was reset. */
export function keepsOldMode(item: WorkspaceItem, { removes }: Pick<Call, 'removes'>): boolean {
  const old = removes?.['executionMode'];
  return old !== undefined && item.attributes['execution-mode'] === old;
}

export function hasMark(record: WorkspaceRecord | undefined): boolean {
  return record?.marks?.[mark] === true;
}

export function prepareOwnMode({ desired, live, record }: WorkspaceComparison): PreparedLive {
  const mode = live?.facts.effectiveMode;
  if (live === undefined || typeof mode !== 'string') return asReturned;
  const { settingOverwrites } = desired;
  // Whether the pool is its own, too, is not known: the manifest's word stands.
  const overwrites = settingOverwrites === undefined ? {} : { settingOverwrites: ownMode(settingOverwrites) };
  if (live.facts.ownMode === 'proved') return { live: overwrites, notes: [] };
  if (!hasMark(record) || live.spec.executionMode !== null || record?.fields.executionMode !== mode)
    return asReturned;
  return {
    live: {
      executionMode: mode,
      agentPoolId: mode === 'agent' ? (live.facts.agentPool ?? null) : null,
      ...overwrites,
    },
    // The beginning of the report says it for the whole service.
    notes: [],
  };
}

function ownMode(declared: Json): Json {
  return isJsonObject(declared) && declared['executionMode'] !== undefined
    ? { ...declared, executionMode: true }
    : declared;
}
