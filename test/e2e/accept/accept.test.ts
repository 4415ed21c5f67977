// trueup accept: writes live values into manifests that people wrote. Only the values change; comments and layout stay.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { otherCaCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';

const manifests = `# yaml-language-server: $schema=../schemas/manifest.schema.json
apiVersion: trueup.dev/v1
kind: Workspace # the app
metadata:
  name: app
spec:
  # nobody applies by hand
  autoApply: true # since March
  description: |- # shown in the list
    first line
    second line

  vcsRepo: # of the team
    identifier: acme/app # the repository
    oauthTokenId: ot-git
    branch: main   # released from
  tags: # short form
    env: "prod"  # where
    team: 'net' # whose
    # nothing below
  remoteStateConsumers: [one, two] # who reads
  tagNames:
    - core # kept
    # above extra
    - Extra   # added
---
apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: one }
spec: { autoApply: false } # flow
---
apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: two }
spec: {}
---
apiVersion: trueup.dev/v1
kind: TagBindings
metadata: { name: one }
spec:
  tags: { cost: a, "owner": 'b' } # in a document
---
apiVersion: trueup.dev/v1
kind: RemoteStateConsumers
metadata: { name: one }
spec:
  consumers:
    - app # first
    - two # second
---
apiVersion: trueup.dev/v1
kind: ClusterAuthConfig
metadata: { name: config }
spec:
  clusterHost: https://cluster.internal:6443 # inside
  clusterCaCert: | # of the cluster
${otherCaCert.trim().replace(/^/gm, '    ')}
  tokenReviewerJwt: { env: REVIEWER_JWT } # secret
---
apiVersion: trueup.dev/v1
kind: ClusterAuthRole
metadata: { name: web }
spec:
  boundServiceAccountNames: # who
    - web # the site
    - worker # the queue
  boundServiceAccountNamespaces: [shop]
  tokenTtl: 1h # an hour
  tokenPolicies: [read, write] # may
  audience: vault
`;

const file = 'manifests/all.yaml';

async function openApplied(text = manifests): Promise<{ bench: Bench; stack: Checkout; text: () => string }> {
  const bench = await openBench();
  const spec = { guards: { allow: ['scheduled-destroy'] } };
  const stack = await bench.checkout({ spec, clusterAuth: { owns: ['*'] } });
  await stack.write(file, text);
  await stack.run(['apply', '--yes'], 0);
  return { bench, stack, text: () => readFileSync(join(stack.directory, file), 'utf8') };
}

/** The lines that are only in one of the two texts. */
function changedLines(before: string, after: string): { gone: string[]; new: string[] } {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return {
    gone: old.filter((line) => !now.includes(line)),
    new: now.filter((line) => !old.includes(line)),
  };
}

async function expectNoChanges(stack: Checkout): Promise<void> {
  const plan = await stack.plan();
  expect(plan.changes).toEqual([]);
}

it('accept writes the live fields of a workspace, and keeps the comments beside them', async () => {
  const { bench, stack, text } = await openApplied();
  await bench.byHand.update(await bench.idOf('app'), {
    'auto-apply': false,
    description: 'now one: line',
    'vcs-repo': { branch: 'trunk' },
  });
  const { out, err } = await stack.run(['accept', 'Workspace/acme/app', '--yes'], 0);
  expect(err).toContain('Next: "trueup apply" records the new values.');
  expect(changedLines(manifests, text())).toEqual({
    gone: [
      '  autoApply: true # since March',
      '  description: |- # shown in the list',
      '    first line',
      '    second line',
      '    branch: main   # released from',
    ],
    new: [
      '  autoApply: false # since March',
      "  description: 'now one: line' # shown in the list",
      '    branch: trunk   # released from',
    ],
  });
  expect(out).toContain('\n-    branch: main   # released from\n+    branch: trunk   # released from\n');
  await expectNoChanges(stack);
});

it('accept writes a character that changes the direction of text as an escape', async () => {
  const { bench, stack, text } = await openApplied();
  await bench.byHand.update(await bench.idOf('app'), { description: 'a\u202eb' });
  const { out } = await stack.run(['accept', '--all', '--yes'], 0);
  expect(out + text()).not.toContain('\u202e');
  expect(changedLines(manifests, text())).toEqual({
    gone: ['  description: |- # shown in the list', '    first line', '    second line'],
    new: ['  description: "a\\u202eb" # shown in the list'],
  });
  await expectNoChanges(stack);
});

it('accept --field writes only that field', async () => {
  const { bench, stack, text } = await openApplied();
  await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': false, description: 'other' });
  await stack.run(['accept', 'Workspace/acme/app', '--field', 'autoApply', '--yes'], 0);
  expect(changedLines(manifests, text()).new).toEqual(['  autoApply: false # since March']);
  const { changes } = await stack.plan();
  expect(changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(['/description']);
});

it('accept writes tags and consumers, in the short form and in documents of their own', async () => {
  const { bench, stack, text } = await openApplied();
  const [app, one, two] = [await bench.idOf('app'), await bench.idOf('one'), await bench.idOf('two')];
  const tag = (key: string, value: string) => ({ type: 'tag-bindings', attributes: { key, value } });
  const ownershipTag = (await bench.tagsOf('app'))['trueup-stack'] as string;
  const bind = (id: string, ...tags: object[]) =>
    bench.byHand.update(id, {}, { 'tag-bindings': { data: [...tags, tag('trueup-stack', ownershipTag)] } });
  await bind(app, tag('env', 'stage'), tag('zone', '1.10'));
  await bind(one, tag('owner', 'b'), tag('new', 'yes'));
  const consumers = (id: string) => `/workspaces/${id}/relationships/remote-state-consumers`;
  await bench.byHand.patch(consumers(app), { data: [{ type: 'workspaces', id: two }] });
  await bench.byHand.patch(consumers(one), { data: [{ type: 'workspaces', id: app }] });
  const parts = [
    'TagBindings/acme/app',
    'RemoteStateConsumers/acme/app',
    'TagBindings/acme/one',
    'RemoteStateConsumers/acme/one',
  ];
  await stack.run(['accept', ...parts, '--yes'], 0);
  expect(changedLines(manifests, text())).toEqual({
    gone: [
      '    env: "prod"  # where',
      "    team: 'net' # whose",
      '  remoteStateConsumers: [one, two] # who reads',
      '  tags: { cost: a, "owner": \'b\' } # in a document',
      '    - two # second',
    ],
    new: [
      '    env: "stage"  # where',
      "    zone: '1.10'",
      '  remoteStateConsumers: [two] # who reads',
      "  tags: { \"owner\": 'b', new: 'yes' } # in a document",
    ],
  });
  await expectNoChanges(stack);
});

it('accept writes a config and a role', async () => {
  const { bench, stack, text } = await openApplied();
  await bench.byHandMount('POST', 'config', {
    cluster_host: 'https://other.internal:6443',
    cluster_ca_cert: otherCaCert,
    token_reviewer_jwt: 'x',
    issuer: 'me',
  });
  await bench.byHandMount('POST', 'role/web', {
    bound_service_account_names: ['worker', 'cron'],
    token_ttl: 5400,
    token_policies: ['read', 'write'],
    token_num_uses: 3,
  });
  await stack.run(['accept', 'ClusterAuthConfig/prod/config', 'ClusterAuthRole/prod/web', '--yes'], 0);
  expect(changedLines(manifests, text())).toEqual({
    gone: [
      '  clusterHost: https://cluster.internal:6443 # inside',
      '    - web # the site',
      '  tokenTtl: 1h # an hour',
    ],
    new: [
      '  clusterHost: https://other.internal:6443 # inside',
      '  issuer: me',
      '    - cron',
      '  tokenTtl: 1h30m # an hour',
    ],
  });
  await expectNoChanges(stack);
});

it('accept writes a time in the format of the manifests, also if another service cannot be read', async () => {
  const document = (rest: string) =>
    `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\nspec:\n${rest}`;
  const { bench, stack, text } = await openApplied(
    document('  autoDestroyAt: 2090-01-01T00:00:00Z # then\n'),
  );
  await bench.byHand.update(await bench.idOf('app'), { 'auto-destroy-at': '2091-02-03T04:05:00Z' });
  const env = { ...stack.env, SERVICE_TOKEN: 'of-nobody' };
  const ran = await trueup(['accept', '--all', '--yes'], { cwd: stack.directory, env });
  expect(ran).toMatchObject({ code: 6, err: expect.stringContaining('target-unread') });
  expect(text()).toBe(document('  autoDestroyAt: 2091-02-03T04:05:00Z # then\n'));
  await expectNoChanges(stack);
});
