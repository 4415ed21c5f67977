/**
 * One stack before and after changes of every sort: creates, updates, deletes, a release, a rename, an adoption, tags,
 * consumers, roles, the config with its reviewer JWT; and neighbours that no apply may change.
 */
import { clusterAuthConfig, consumers, role, tagBindings, workspace } from '../cli/documents.ts';
import { clusterAuthTarget, type StackFile, workspacesTarget } from '../rig/stack-folder.ts';
import { bystander, legacy, mounts, neighbours, type Tenant } from './world.ts';

const [deployKey] = neighbours.sshKeys;
const [oauthTokenId] = neighbours.oauthTokens;
const jwt = { tokenReviewerJwt: { env: 'REVIEWER_JWT' } };

export const before: readonly object[] = [
  workspace('app', { description: 'old', tags: { env: 'dev', team: 'a' }, remoteStateConsumers: ['web'] }),
  workspace('web', { sshKeyId: deployKey }),
  workspace('old', { tags: { env: 'dev' } }),
  workspace('let-go', { tags: { env: 'dev' } }, { onRemove: 'release' }),
  workspace('former'),
  clusterAuthConfig(jwt),
  role('api'),
  role('old-api'),
  role('narrow', { boundServiceAccountNames: ['app', 'worker'] }),
];

export const after: readonly object[] = [
  workspace('app', {
    description: 'new',
    autoApply: true,
    tags: { env: 'prod', owner: 'us' },
    remoteStateConsumers: ['web', 'fresh', bystander],
  }),
  workspace('web', { sshKeyId: null, lock: { reason: 'ours' } }),
  workspace('fresh', { sshKeyId: deployKey, tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
  workspace('fresher', { vcsRepo: { identifier: 'acme/fresher', oauthTokenId } }),
  tagBindings('fresher', { tags: { env: 'prod' } }),
  consumers('fresher', { consumers: ['fresh', 'web'] }),
  workspace(legacy, { description: 'ours now', tags: { env: 'prod' } }, { adopt: true }),
  workspace('moved', { description: 'was former' }, { renamedFrom: 'former' }),
  clusterAuthConfig({ ...jwt, issuer: 'me' }),
  role('api', { tokenTtl: '30m' }),
  role('new-api'),
  role('narrow'),
];

export function stackAt(url: string, { name }: Tenant): StackFile {
  const owns = ['api', 'old-api', 'new-api', 'narrow'];
  return {
    targets: [workspacesTarget(url), clusterAuthTarget(url, { mount: mounts.prod(name), owns })],
  };
}
