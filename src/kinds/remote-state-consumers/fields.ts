/**
 * How consumers compare: as a set of names. Gives live consumers the names that manifests have for them, and decides what is
 * compared while the state is shared with everyone and the list is unknown.
 */
import { unreadPart, workspaceOf } from '../../api/workspaces/workspace.ts';
import { set } from '../../compare/comparisons.ts';
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldsOf, FieldTable } from '../../model/field.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind-specs.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import { consumersOf, edgesOf, type LiveConsumers } from './read.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export const fields: FieldTable = {
  consumers: { compare: set, default: [] },
} satisfies FieldsOf<RemoteStateConsumersSpec>;

type Comparison = CompareContext<RemoteStateConsumersSpec, LiveConsumers>;

export function prepare(context: Comparison): PreparedSpecs<RemoteStateConsumersSpec> {
  const { address, desired, live, peer } = context;
  const workspace = peer(workspaceOf(address));
  if (live === undefined) {
    return { desired, problems: workspace.live === undefined ? [] : [unread(context, workspace.live)] };
  }
  if (desired.consumers === undefined) return { desired: { consumers: [] }, live: { consumers: [] } };
  if (live.facts.project === true)
    return { desired, live: { consumers: [] }, problems: [sharedWithProject(context)] };
  // Use the sharing that the plan read: the change of the workspace may end it before this child is written.
  const { globalRemoteState: found } = workspace.live?.facts ?? {};
  const shared = found ?? live.facts.global;
  if (shared !== true) return { desired, live: { consumers: knownConsumers(context) } };
  if (staysShared(workspace))
    return { desired, live: { consumers: [] }, problems: [sharedGlobally(context)] };
  return { desired, unknown: { consumers: 'unknown while shared globally' } };
}

/**
 * Consumers are matched by id: one that was renamed in the service gets the name that the manifest declares. One that this
 * plan renames keeps the name from the time of planning, even when it is read again later.
 */
function knownConsumers({ address, desired, live, peer }: Comparison): readonly string[] {
  const { edges } = peer(address).live?.facts ?? {};
  const planned = [...edgesOf(edges)].map(([name, id]) => [id, name] as const);
  const declared = consumersOf(desired).flatMap((name) => {
    const id = peer({ ...workspaceOf(address), name }).live?.id;
    return id === undefined ? [] : [[id, name] as const];
  });
  const names = new Map([...planned, ...declared]);
  return [...edgesOf(live?.facts.edges)].map(([name, id]) => names.get(id) ?? name);
}

/** Whether global sharing is still on after this plan: not if it is declared off, or is no longer declared. */
function staysShared({ desired, record }: ReturnType<Comparison['peer']>): boolean {
  const { globalRemoteState: declared } = desired ?? {};
  const { globalRemoteState: recorded } = record?.fields ?? {};
  if (declared !== undefined) return declared === true;
  return desired === undefined || recorded === undefined;
}

function sharedGlobally({ address }: Comparison): Diagnostic {
  const name = formatAddress(workspaceOf(address));
  return {
    code: 'consumers-while-global',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(name)} shares its state with the whole organization, so a list of consumers has no effect`,
    fix: `declare "globalRemoteState: false" for ${quoted(name)}, or remove the list of consumers`,
  };
}

function sharedWithProject({ address }: Comparison): Diagnostic {
  const name = formatAddress(workspaceOf(address));
  return {
    code: 'consumers-while-project',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(name)} shares its state with the whole project, so a list of consumers has no effect`,
    fix: "turn that off in the service's own settings of the workspace, or remove the list of consumers",
  };
}

function unread({ address }: Comparison, workspace: LiveResource): Diagnostic {
  return {
    code: 'consumers-unread',
    severity: 'error',
    class: 'incomplete',
    ...unreadPart(`the consumers of ${quoted(formatAddress(workspaceOf(address)))}`, workspace),
  };
}
