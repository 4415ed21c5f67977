/**
 * Exports a live workspace to a manifest. A setting that the service returns in several fields is written once; values that
 * depend on the clock, on the project or on a lock are left out.
 */
import { isJsonObject, type Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { Description } from '../../model/kind.ts';
import type { LiveSpec, LiveWorkspace, WorkspaceFields } from './workspace-types.ts';

/** A field that the stack's defaults set is always written: without it, the default would replace the live value. */
export function toManifest(live: LiveWorkspace, defaults: WorkspaceFields): Description {
  const { settingOverwrites: _, autoDestroyAt, autoDestroyActivityDuration, ...rest } = live.spec;
  const spec = {
    ...rest,
    ...unknownModeFields(live),
    ...overwritesToManifest(live.spec, defaults),
    ...autoDestroyToManifest(live, { autoDestroyAt, autoDestroyActivityDuration }),
    ...lockToManifest(live.spec.lock, defaults.lock),
  };
  const remarks = [...unknownModeRemark(live), ...lockRemark(live)];
  return { spec: Object.fromEntries(Object.entries(spec).filter(hasValue)), remarks };
}

/** The current mode, if it is unknown whether it is inherited: without it, a workspace created from the export could lose its agents. */
function unknownModeFields({ facts }: LiveWorkspace): ManifestFields {
  const { ownMode, effectiveMode: mode, agentPool: pool } = facts;
  if (ownMode !== 'unknown' || mode === undefined) return {};
  return { executionMode: mode, ...(mode === 'agent' && pool !== undefined ? { agentPoolId: pool } : {}) };
}

function unknownModeRemark({ facts }: LiveWorkspace): string[] {
  return facts.ownMode === 'unknown'
    ? [
        'The service reports its execution mode as inherited, and the default could not be read: the current mode is written here.',
      ]
    : [];
}

type ManifestFields = Readonly<Record<string, Json | undefined>>;

function hasValue(entry: [string, Json | undefined]): entry is [string, Json] {
  return entry[1] !== undefined;
}

/** Mode and pool already show whether they are inherited, except for an inherited pool with an own mode. */
function overwritesToManifest(
  { executionMode, agentPoolId, settingOverwrites }: LiveSpec,
  defaults: WorkspaceFields,
): ManifestFields {
  if (settingOverwrites === undefined || defaults.settingOverwrites !== undefined) {
    return { settingOverwrites };
  }
  const inheritsPool = executionMode === 'agent' && (agentPoolId ?? null) === null;
  return inheritsPool ? { settingOverwrites: { agentPool: false } } : {};
}

/** The service computes the time from the duration, and inherits both from the project (wire/workspaces 1.5.19). */
function autoDestroyToManifest({ facts }: LiveWorkspace, spec: ManifestFields): ManifestFields {
  if (facts.inheritsAutoDestroy === true) return {};
  const { autoDestroyAt, autoDestroyActivityDuration: duration } = spec;
  return (duration ?? null) === null ? { autoDestroyAt } : { autoDestroyActivityDuration: duration };
}

/** A lock is not exported: its holder will remove it, and the manifest would lock the workspace again. */
function lockToManifest(live: Json | undefined, byDefault: Json | undefined): ManifestFields {
  if (!isJsonObject(live)) return { lock: live };
  return { lock: isJsonObject(byDefault) ? byDefault : undefined };
}

function lockRemark({ facts }: LiveWorkspace): string[] {
  if (facts.locked !== true) return [];
  const reason = facts.lockedReason;
  const because = typeof reason === 'string' && reason !== '' ? ` (${quoted(reason)})` : '';
  return [`It was locked when this was written${because}; "lock: {}" would keep it locked.`];
}
