/**
 * A live workspace as a manifest would say it (for exports). One decision that the service answers in several fields is
 * said once; what follows from a clock, from the project or from somebody's lock is not said at all.
 */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { Description } from '../../model/kind/kind.ts';
import type { LiveSpec, LiveWorkspace, WorkspaceFields } from './workspace-types.ts';

/** What the stack's defaults mention is kept as it is live: leaving it out would let the default win. */
export function describe(live: LiveWorkspace, defaults: WorkspaceFields): Description {
  const { settingOverwrites: _, autoDestroyAt, autoDestroyActivityDuration, ...rest } = live.spec;
  const spec = {
    ...rest,
    ...describeOverwrites(live.spec, defaults),
    ...describeAutoDestroy(live, { autoDestroyAt, autoDestroyActivityDuration }),
    ...describeLock(live.spec.lock, defaults.lock),
  };
  return { spec: Object.fromEntries(Object.entries(spec).filter(isSaid)), remarks: lockRemark(live) };
}

type DescribedFields = Readonly<Record<string, Json | undefined>>;

function isSaid(entry: [string, Json | undefined]): entry is [string, Json] {
  return entry[1] !== undefined;
}

/** The mode says whether it is the workspace's own, and so does the pool: only an inherited pool of an own mode does not show. */
function describeOverwrites(
  { executionMode, agentPoolId, settingOverwrites }: LiveSpec,
  defaults: WorkspaceFields,
): DescribedFields {
  if (settingOverwrites === undefined || defaults.settingOverwrites !== undefined) {
    return { settingOverwrites };
  }
  const inheritsPool = executionMode === 'agent' && (agentPoolId ?? null) === null;
  return inheritsPool ? { settingOverwrites: { agentPool: false } } : {};
}

/** The service computes the time from the duration, and both from the project where it inherits (wire/workspaces 1.5.19). */
function describeAutoDestroy({ facts }: LiveWorkspace, spec: DescribedFields): DescribedFields {
  if (facts.inheritsAutoDestroy === true) return {};
  const { autoDestroyAt, autoDestroyActivityDuration: duration } = spec;
  return (duration ?? null) === null ? { autoDestroyAt } : { autoDestroyActivityDuration: duration };
}

/** Who locked it will unlock it, and a run locks for as long as it runs: a manifest would lock it again (rule 18). */
function describeLock(live: Json | undefined, byDefault: Json | undefined): DescribedFields {
  if (!isJsonObject(live)) return { lock: live };
  return { lock: isJsonObject(byDefault) ? byDefault : undefined };
}

function lockRemark({ facts }: LiveWorkspace): string[] {
  if (facts.locked !== true) return [];
  const reason = facts.lockedReason;
  const because = typeof reason === 'string' && reason !== '' ? ` (${JSON.stringify(reason)})` : '';
  return [`It was locked when this was written${because}; "lock: {}" would keep it locked.`];
}
