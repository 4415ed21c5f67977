/**
 * Live consumers under the names that the manifests have for them, and what is to be compared while the state is still
 * shared with everyone: then nobody can tell which consumers there are besides (rule 15).
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { consumersOf, edgesOf } from './edges.ts';
import type { LiveConsumers } from './read-edges.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

type Meeting = CompareContext<RemoteStateConsumersSpec, LiveConsumers>;

export function prepare(meeting: Meeting): PreparedSpecs<RemoteStateConsumersSpec> {
  const { address, desired, live, peer } = meeting;
  const workspace = peer(workspaceOf(address));
  if (live === undefined) {
    return { desired, problems: workspace.live === undefined ? [] : [unread(meeting)] };
  }
  if (desired.consumers === undefined) return { desired: { consumers: [] }, live: { consumers: [] } };
  if (live.facts.project === true)
    return { desired, live: { consumers: [] }, problems: [sharedWithProject(meeting)] };
  // As the plan saw it: once the workspace's own change is sent the answer is another one, and the plan is the same.
  const { globalRemoteState: found } = workspace.live?.facts ?? {};
  const shared = found ?? live.facts.global;
  if (shared !== true) return { desired, live: { consumers: knownConsumers(meeting) } };
  if (staysShared(workspace))
    return { desired, live: { consumers: [] }, problems: [sharedGlobally(meeting)] };
  return { desired, unknown: { consumers: 'unknown while shared globally' } };
}

/**
 * A consumer that was renamed in the service is the one that the manifest names, as long as its id is the same; one that
 * this very plan renames keeps the name that the plan was made with, however late it is looked at again.
 */
function knownConsumers({ address, desired, live, peer }: Meeting): readonly string[] {
  const { edges } = peer(address).live?.facts ?? {};
  const planned = [...edgesOf(edges)].map(([name, id]) => [id, name] as const);
  const declared = consumersOf(desired).flatMap((name) => {
    const id = peer({ ...workspaceOf(address), name }).live?.id;
    return id === undefined ? [] : [[id, name] as const];
  });
  const names = new Map([...planned, ...declared]);
  return [...edgesOf(live?.facts.edges)].map(([name, id]) => names.get(id) ?? name);
}

/** Whether global sharing outlives this plan: not when it is declared off, or was declared and no longer is (rule 6). */
function staysShared({ desired, record }: ReturnType<Meeting['peer']>): boolean {
  const { globalRemoteState: declared } = desired ?? {};
  const { globalRemoteState: recorded } = record?.fields ?? {};
  if (declared !== undefined) return declared === true;
  return desired === undefined || recorded === undefined;
}

function sharedGlobally({ address, place }: Meeting): Diagnostic {
  const name = formatAddress(workspaceOf(address));
  return {
    code: 'consumers-while-global',
    severity: 'error',
    class: 'invalid',
    message: `"${name}" shares its state with the whole organization, so a list of consumers means nothing`,
    ...(place === undefined ? {} : { place }),
    fix: `declare "globalRemoteState: false" for "${name}", or remove the list of consumers`,
  };
}

function sharedWithProject({ address, place }: Meeting): Diagnostic {
  const name = formatAddress(workspaceOf(address));
  return {
    code: 'consumers-while-project',
    severity: 'error',
    class: 'invalid',
    message: `"${name}" shares its state with the whole project, so a list of consumers means nothing`,
    ...(place === undefined ? {} : { place }),
    fix: "turn that off in the service's own settings of the workspace, or remove the list of consumers",
  };
}

function unread({ address, place }: Meeting): Diagnostic {
  return {
    code: 'consumers-unread',
    severity: 'error',
    class: 'incomplete',
    message: `the consumers of "${formatAddress(workspaceOf(address))}" could not be read`,
    ...(place === undefined ? {} : { place }),
    fix: 'let the token read them; after a rename, put the same "renamedFrom" into this document as into the workspace\'s',
  };
}
