/**
 * One stack before and after a change of everything: creates, updates, deletes, a release, a rename, an adoption, tags,
 * consumers, roles, the config with its reviewer JWT; and neighbours that are nobody's business.
 */
import { clusterAuthConfig, consumers, role, tagBindings, workspace } from '../cli/documents.ts';
import { smallSeed } from '../rig/embedded-service.ts';
import { clusterAuthTarget, type StackFile, workspacesTarget } from '../rig/stack-folder.ts';

export const secrets = {
  API_TOKEN: 'planted-api-token-77c1',
  SERVICE_TOKEN: 'planted-service-token-0d52',
  REVIEWER_JWT: 'planted.reviewer.jwt-f00d',
};

/** Ids that no apply may ever name in the path of a write. */
export const foreignIds = ['ws-bystander', 'ws-billing'];

export const seed = smallSeed({
  owners: { ci: secrets.API_TOKEN },
  serviceToken: secrets.SERVICE_TOKEN,
  organization: {
    'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }],
    'oauth-tokens': [{ id: 'ot-git' }],
    workspaces: [
      { name: 'bystander', id: 'ws-bystander', 'tag-bindings': { env: 'theirs' }, 'resource-count': 3 },
      { name: 'billing', id: 'ws-billing', 'tag-bindings': { 'trueup-stack': 'billing' } },
      { name: 'legacy', id: 'ws-legacy', 'tag-bindings': { env: 'old' }, 'source-name': 'by hand' },
    ],
  },
});

const jwt = { tokenReviewerJwt: { env: 'REVIEWER_JWT' } };

export const before: readonly object[] = [
  workspace('app', { description: 'old', tags: { env: 'dev', team: 'a' }, remoteStateConsumers: ['web'] }),
  workspace('web', { sshKeyId: 'sshkey-deploy' }),
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
    remoteStateConsumers: ['web', 'fresh', 'bystander'],
  }),
  workspace('web', { sshKeyId: null, lock: { reason: 'ours' } }),
  workspace('fresh', { sshKeyId: 'sshkey-deploy', tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
  workspace('fresher', { vcsRepo: { identifier: 'acme/fresher', oauthTokenId: 'ot-git' } }),
  tagBindings('fresher', { tags: { env: 'prod' } }),
  consumers('fresher', { consumers: ['fresh', 'web'] }),
  workspace('legacy', { description: 'ours now', tags: { env: 'prod' } }, { adopt: true }),
  workspace('moved', { description: 'was former' }, { renamedFrom: 'former' }),
  clusterAuthConfig({ ...jwt, issuer: 'me' }),
  role('api', { tokenTtl: '30m' }),
  role('new-api'),
  role('narrow'),
];

export function stackAt(url: string): StackFile {
  const owns = ['api', 'old-api', 'new-api', 'narrow'];
  return { targets: [workspacesTarget(url), clusterAuthTarget(url, { owns })] };
}
