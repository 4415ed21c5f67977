/**
 * Services that never tell whether an execution mode is a workspace's own: they answer every one as inherited (rule 48). That they
 * do so is known from the answer to a write of ours; from then on the mode that we wrote counts as the workspace's own while it
 * is the one that the workspace has.
 */
import { formatAddress } from '../../../model/resource/address.ts';
import { isJsonObject, type Json, memberOf } from '../../../model/json/json.ts';
import type { MarkContext } from '../../../model/kind/kind.ts';
import { asWorkspaceItem, type WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import { poolOf } from '../read/live-workspace.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { LiveWorkspace, WorkspaceComparison, WorkspaceRecord } from '../workspace-types.ts';
import { asAnswered, type PreparedLive } from './prepared-live.ts';

/** Whether a workspace has the mode, or the pool, that was sent, and is said to inherit it. */
export function hidesOwnMode(
  item: WorkspaceItem,
  sent: { readonly mode?: Json | undefined; readonly pool?: Json | undefined },
): boolean {
  const { 'setting-overwrites': overwrites, 'execution-mode': mode } = item.attributes;
  if (!isJsonObject(overwrites) || overwrites['execution-mode'] !== false) return false;
  const isMode = typeof sent.mode === 'string' && mode === sent.mode;
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
    const answer = change && answers.get(`${formatAddress(change.address)}#${suffix}`);
    return asWorkspaceItem(memberOf(answer?.body, 'data')) ?? [];
  });
  const isHidden =
    items.length === 0
      ? hasMark(record) && live?.spec.settingOverwrites?.executionMode !== true
      : items.some((item) => hidesOwnMode(item, { mode: desired.executionMode }));
  return isHidden ? { [mark]: true } : {};
}

export function hasMark(record: WorkspaceRecord | undefined): boolean {
  return record?.marks?.[mark] === true;
}

export function prepareOwnMode({ desired, live, record }: WorkspaceComparison): PreparedLive {
  const mode = live?.facts.effectiveMode;
  if (!hasMark(record) || live === undefined || typeof mode !== 'string') return asAnswered;
  if (live.spec.executionMode !== null || record?.fields.executionMode !== mode) return asAnswered;
  const { settingOverwrites } = desired;
  return {
    live: {
      executionMode: mode,
      agentPoolId: mode === 'agent' ? (live.facts.agentPool ?? null) : null,
      ...(settingOverwrites === undefined ? {} : { settingOverwrites }),
    },
    // The beginning of the report says it for the whole service.
    notes: [],
  };
}
