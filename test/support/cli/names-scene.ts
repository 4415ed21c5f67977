/** An organization with projects, agent pools, SSH keys and connections, and a workspace that refers to one of each by its name. */
import { dialectUnderTest } from '../rig/dialect-under-test.ts';
import { type Bench, type BenchOptions, openBench } from './bench.ts';

/** Two connections have the same name, because services do not require unique names. */
const organization = {
  projects: [
    { name: 'payments', id: 'prj-payments' },
    { name: 'network', id: 'prj-network' },
    { name: 'Payments EU', id: 'prj-eu' },
  ],
  'agent-pools': [
    { name: 'linux', id: 'apool-linux' },
    { name: 'windows', id: 'apool-windows' },
  ],
  'ssh-keys': [
    { name: 'modules', id: 'sshkey-modules' },
    { name: 'old', id: 'sshkey-old' },
  ],
  'oauth-tokens': [
    { id: 'ot-git', name: 'GitHub' },
    { id: 'ot-lab', name: 'GitLab' },
    { id: 'ot-twin-1', name: 'twin' },
    { id: 'ot-twin-2', name: 'twin' },
    { id: 'ot-nameless' },
  ],
  'vcs-app-installations': [{ id: 'ghain-1' }],
} satisfies BenchOptions['organization'];

/** All four by name. */
export const byName = {
  project: 'payments',
  executionMode: 'agent',
  agentPool: 'linux',
  sshKey: 'modules',
  vcsRepo: { identifier: 'acme/app', branch: 'main', connection: 'GitHub' },
};

/** The same by id. */
export const byId = {
  projectId: 'prj-payments',
  executionMode: 'agent',
  agentPoolId: 'apool-linux',
  sshKeyId: 'sshkey-modules',
  vcsRepo: { identifier: 'acme/app', branch: 'main', oauthTokenId: 'ot-git' },
};

const lists = /\/organizations\/acme\/(projects|agent-pools|ssh-keys|oauth-clients)\?/;

export async function openNames(dialect: string = dialectUnderTest, more: BenchOptions['organization'] = {}) {
  const bench = await openBench({ dialects: [dialect], organization: { ...organization, ...more } });
  const stack = await bench.checkout({ workspaces: { dialect } });
  return { bench, stack, ...namesOf(bench) };
}

function namesOf(bench: Bench) {
  return {
    /** the lists that were read since the last reset, sorted */
    listed: () => bench.wire.seen.flatMap(({ path }) => lists.exec(path)?.[1] ?? []).sort(),
    /** gives a project another name */
    rename: (id: string, name: string) =>
      bench.byHand.patch(`/projects/${id}`, { data: { type: 'projects', attributes: { name } } }),
    /** the id of the project that a workspace is in */
    projectOf: async (name: string) => {
      const { resource } = await bench.byHand.get(`/workspaces/${await bench.idOf(name)}`);
      return resource.relationships?.['project'];
    },
  };
}
