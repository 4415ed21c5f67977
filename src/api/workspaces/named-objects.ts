/**
 * The objects of an organization that workspaces and projects refer to: projects, agent pools, SSH keys and VCS connections. Each
 * type is one list, which is read once per session, and only if a manifest refers to one of its objects by name.
 */
import { type JsonObject, memberOf, valueAt } from '../../model/json.ts';
import type { NamedObjects, Session } from '../../model/kind.ts';
import { type NamedId, type NameList, nameList } from '../../model/named-reference.ts';
import { listOf } from './organization.ts';
import { projectKind, projectNames } from './projects.ts';

const references: NamedObjects['references'] = [
  { name: ['project'], id: ['projectId'], objectType: 'project', kind: projectKind },
  { name: ['agentPool'], id: ['agentPoolId'], objectType: 'agent pool' },
  { name: ['sshKey'], id: ['sshKeyId'], objectType: 'SSH key' },
  {
    name: ['vcsRepo', 'connection'],
    id: ['vcsRepo', 'oauthTokenId'],
    besides: [['vcsRepo', 'vcsAppInstallationId']],
    objectType: 'VCS connection',
  },
];

interface Listed {
  /** below the organization */
  readonly path: string;
  /** the ids by which workspaces refer to an item; the item's own when absent */
  ids?(item: JsonObject): readonly string[];
}

const lists: ReadonlyMap<string, Listed> = new Map<string, Listed>([
  ['agent pool', { path: 'agent-pools' }],
  ['SSH key', { path: 'ssh-keys' }],
  ['VCS connection', { path: 'oauth-clients', ids: tokensOf }],
]);

/** A connection has the name of its OAuth client, and a workspace refers to the client's token. */
function tokensOf({ relationships = null }: JsonObject): readonly string[] {
  const tokens = valueAt(relationships, ['oauth-tokens', 'data']);
  return (Array.isArray(tokens) ? tokens : []).flatMap((token) => {
    const id = memberOf(token, 'id');
    return typeof id === 'string' ? id : [];
  });
}

/** Leaves out a client without a token: no workspace can be connected through it. */
async function list(session: Session, objectType: string): Promise<NameList> {
  if (objectType === 'project') return projectNames(session);
  const listed = lists.get(objectType);
  if (listed === undefined) throw new Error(`there is no list of ${objectType}`);
  const { items, problem } = await listOf(session, listed.path);
  const objects = items.flatMap((item): NamedId[] => {
    const name = valueAt(item, ['attributes', 'name']);
    const ids = listed.ids?.(item) ?? [String(item['id'])];
    return typeof name === 'string' && name !== '' ? ids.map((id) => ({ id, name })) : [];
  });
  return nameList(objects, problem);
}

export const namedObjects: NamedObjects = { references, list };

/** The objects that projects refer to. */
export const namedByProjects: NamedObjects = {
  references: [{ name: ['defaultAgentPool'], id: ['defaultAgentPoolId'], objectType: 'agent pool' }],
  list,
};
