/** `trueup ci plan` in a merge queue, after a push, and in GitLab. */
import { describe, expect, it } from 'vitest';
import { type CiScene, openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const manifest = (name: string, spec: object = {}) => documentsText([workspace(name, spec)]);

/** The text of a public key for SSH, made of one number. */
function signerKey(number: number): string {
  const type = 'ssh-ed25519';
  const key = Buffer.alloc(4 + type.length + 4 + 32, number);
  key.writeUInt32BE(type.length, 0);
  key.write(type, 4, 'latin1');
  key.writeUInt32BE(32, 4 + type.length);
  return `${type} ${key.toString('base64')}`;
}

/** The job of a group with these files on top of the base branch, as the queue commits them. */
async function group(
  scene: CiScene,
  files: Readonly<Record<string, string>>,
  {
    subject = 'Change (#7)',
    branch = 'pr-7',
    base = 'main',
  }: { readonly subject?: string; readonly branch?: string; readonly base?: string } = {},
) {
  scene.git('checkout', '--quiet', '-B', 'group', base);
  const head = scene.commit(files, subject);
  scene.git('push', '--quiet', '--force', 'origin', 'group');
  const before = scene.git('rev-parse', base);
  const event = {
    action: 'checks_requested',
    merge_group: { head_sha: head, base_sha: before, base_ref: 'refs/heads/main' },
  };
  return scene.job({
    event,
    branch: 'group',
    env: {
      GITHUB_EVENT_NAME: 'merge_group',
      GITHUB_REF: `refs/heads/gh-readonly-queue/main/${branch}-${before}`,
    },
  });
}

describe('A merge group', () => {
  it('may be merged if its plan equals the one in the comment of its pull request, squashed or not', async () => {
    const scene = await openCiScene();
    const files = { 'stacks/pay/manifests/more.yaml': manifest('pay-more') };
    scene.propose(files);
    await scene.job();
    const comment = { ...scene.github.comments[0] };
    const ran = await group(scene, files);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain('1 stack planned');
    expect(await group(scene, files, { subject: 'Merge pull request #7 from acme/change' })).toMatchObject({
      code: 0,
    });
    expect(scene.github.comments).toEqual([comment]);
  });

  it('can contain several pull requests in a row', async () => {
    const scene = await openCiScene();
    const first = { 'stacks/pay/manifests/more.yaml': manifest('pay-more') };
    const second = { 'stacks/pay/manifests/other.yaml': manifest('pay-other') };
    scene.propose(first);
    await scene.job();
    scene.git('checkout', '--quiet', '-b', 'second', 'main');
    const head = scene.commit(second, 'second');
    scene.git('push', '--quiet', 'origin', 'second');
    scene.github.state.openPull({ number: 8, author: 'ann', head });
    const repo = { full_name: 'acme/infra' };
    await scene.job({ branch: 'second', pull: { number: 8, head: { sha: head, ref: 'second', repo } } });
    scene.git('checkout', '--quiet', '-B', 'waiting', 'main');
    const base = scene.commit(first, 'First (#7)');
    const ran = await group(scene, second, { subject: 'Second (#8)', branch: 'pr-8', base });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    scene.github.comments.splice(0);
    expect(await group(scene, second, { subject: 'Second (#8)', branch: 'pr-8', base })).toMatchObject({
      code: 4,
    });
  });

  it('fails with the difference if its plan has a change that no pull request showed', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    await scene.job();
    const ran = await group(scene, {
      'stacks/pay/manifests/more.yaml': manifest('pay-more', { autoApply: true }),
    });
    expect(ran.code).toBe(4);
    expect(ran.out).toContain('autoApply');
    expect(ran.err).toContain('is not what its pull requests have shown');
    expect(ran.out).toContain('::error title=not-reviewed');
    expect(ran.out).toContain('Next: take the pull request out of the queue');
    expect(ran.err).toContain('if an earlier merge is not applied yet, wait for that apply instead');
  });

  it('fails if it loosens a setting that no comment shows', async () => {
    const scene = await openCiScene();
    const change = { 'stacks/pay/manifests/more.yaml': manifest('pay-more') };
    const stackWith = (maxDeletes: number) => ({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { guards: { maxDeletes } } }),
    });
    scene.push(stackWith(3));
    scene.propose({ ...change, ...stackWith(7) });
    await scene.job();
    expect(scene.github.comments[0]?.body).toContain('from 3 to 7');
    const seen = await group(scene, { ...change, ...stackWith(7) });
    expect(seen, seen.err).toMatchObject({ code: 0 });
    const other = await group(scene, { ...change, ...stackWith(9) });
    expect(other.code).toBe(4);
    expect(other.err).toContain('none of them shows the guard "loosened"');
    expect(other.err).toContain('from 3 to 9');
    // Also if the group changes nothing else.
    expect((await group(scene, stackWith(9))).code).toBe(4);
    scene.github.comments.splice(0);
    expect((await group(scene, stackWith(7))).code).toBe(4);
  });

  it('fails if it adds a pattern to a long list that no comment shows', async () => {
    const scene = await openCiScene();
    const known = Array.from({ length: 16 }, (_, at) => `PLATFORM_APPLICATION_${at}_*`);
    const stackWith = (...more: readonly string[]) => ({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { secrets: { env: [...known, ...more] } } }),
    });
    scene.push(stackWith());
    scene.propose(stackWith('OUR_TOKEN'));
    await scene.job();
    const seen = await group(scene, stackWith('OUR_TOKEN'));
    expect(seen, seen.err).toMatchObject({ code: 0 });
    const other = await group(scene, stackWith('*'));
    expect(other.code).toBe(4);
    expect(other.err).toContain('none of them shows the guard "loosened"');
    expect(other.err).toContain('with "*" added');
  });

  it('fails if a policy has a message that no comment shows', async () => {
    const scene = await openCiScene();
    const ruled = (message: string) => ({
      'stacks/pay/policies/rules.yaml': policiesText(policy('x', { severity: 'confirm', message })),
    });
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: withPolicies }),
      ...ruled('"a name"'),
    });
    const change = { 'stacks/pay/manifests/more.yaml': manifest('pay-more') };
    scene.propose(change);
    await scene.job();
    const seen = await group(scene, change);
    expect(seen, seen.err).toMatchObject({ code: 0 });
    scene.push(ruled('"wipes production"'));
    const other = await group(scene, change);
    expect(other.code).toBe(4);
    expect(other.err).toContain('none of them shows the guard "policy/x"');
  });

  it.each([
    {
      what: 'a signer',
      spec: { approvals: { accept: ['signature'], from: [{ signers: 'signers' }] } },
      file: 'signers',
      shown: `alice ${signerKey(1)}\n`,
      other: `alice ${signerKey(1)}\nmallory ${signerKey(2)}\n`,
    },
    {
      what: 'a rule of a policy',
      spec: withPolicies,
      file: 'policies/rules.yaml',
      shown: policiesText(policy('x', { rule: 'change.action != "delete"' })),
      other: policiesText(policy('x', { rule: 'true' })),
    },
  ])(
    'fails if $what differs from the comment, and the base has no valid stack',
    async ({ spec, file, shown, other }) => {
      const scene = await openCiScene();
      const proposed = (text: string) => ({
        'stacks/pay/trueup.yaml': scene.stack('pay', { spec }),
        [`stacks/pay/${file}`]: text,
        'stacks/pay/manifests/more.yaml': manifest('pay-more'),
      });
      scene.push({
        'stacks/pay/trueup.yaml': 'apiVersion: trueup.dev/v1\nkind: Stack\nmetadata: { name: pay }\n',
      });
      scene.propose(proposed(shown));
      await scene.job();
      const seen = await group(scene, proposed(shown));
      expect(seen, seen.err).toMatchObject({ code: 0 });
      const changed = await group(scene, proposed(other));
      expect(changed.code, changed.out).toBe(4);
      expect(changed.err).toContain('none of them shows the guard "loosened"');
    },
  );

  it.each<[string, (scene: CiScene) => void]>([
    [
      'was written by another user',
      ({ github: { comments } }) => {
        const stolen = comments.splice(0).map((comment) => ({ ...comment, author: 'mallory' }));
        comments.push(...stolen);
      },
    ],
    [
      'is about another commit',
      ({ github }) => {
        github.pull.head = 'b'.repeat(40);
      },
    ],
    [
      'is gone',
      ({ github }) => {
        github.comments.splice(0);
      },
    ],
    [
      'cannot be read',
      ({ github }) =>
        github.always(({ path }) => (path.endsWith('/comments') ? { status: 500, body: {} } : undefined)),
    ],
  ])('fails if the comment %s', async (_, spoil) => {
    const scene = await openCiScene();
    const files = { 'stacks/pay/manifests/more.yaml': manifest('pay-more') };
    scene.propose(files);
    await scene.job();
    spoil(scene);
    expect((await group(scene, files)).code).not.toBe(0);
  });
});

describe('A push to the protected branch', () => {
  it('is planned, trusted, and its digest is an output for the next job', async () => {
    const scene = await openCiScene();
    const before = scene.git('rev-parse', 'main');
    scene.github.state.permissions.clear();
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', {}, { requestsPerSecond: 5000 }),
      'stacks/pay/manifests/more.yaml': manifest('pay-more'),
    });
    const job = { ref: 'base', event: { before } } as const;
    const env = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main' };
    const ran = await scene.job({ ...job, env });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.outputs).toMatchObject({
      stacks: '["stacks/pay"]',
      digest: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(ran.out).toContain('then apply it with "trueup ci apply"');
    expect(scene.github.comments).toEqual([]);
    // After a forced push the previous commit does not exist any more, so the first parent counts.
    const forced = await scene.job({ ref: 'base', event: { before: 'e'.repeat(40) }, env });
    expect(forced.outputs['stacks']).toBe('["stacks/pay"]');
  });
});

describe('A push after one that was not applied', () => {
  it('is compared with the last apply, so that settings cannot be loosened in two steps', async () => {
    const scene = await openCiScene();
    const stack = (spec: object) => scene.stack('pay', { spec: { ledger: 'git', ...spec } });
    scene.push({ 'stacks/pay/trueup.yaml': stack({ guards: { maxDeletes: 0 } }) });
    expect(await scene.run(['apply', 'stacks/pay', '--yes'])).toMatchObject({ code: 0 });
    const before = scene.push({ 'stacks/pay/trueup.yaml': stack({ guards: { maxDeletes: 9 } }) });
    scene.push({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const env = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main' };
    const ran = await scene.job({ ref: 'base', event: { before }, env });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/spec\.guards\.maxDeletes is loosened from 0 to 9/);
  });
});

describe('A job of GitLab CI', () => {
  it('plans the merge request with the newest commit of its target branch', async () => {
    const scene = await openCiScene();
    const head = scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const ran = await scene.job({
      ref: 'head',
      args: ['--no-comment', '--trust-author'],
      env: {
        GITHUB_ACTIONS: '',
        GITLAB_CI: 'true',
        CI_API_V4_URL: scene.github.url,
        CI_PIPELINE_SOURCE: 'merge_request_event',
        CI_MERGE_REQUEST_IID: '7',
        CI_MERGE_REQUEST_PROJECT_ID: '42',
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
        CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        CI_COMMIT_REF_PROTECTED: 'true',
      },
    });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain('1 stack planned');
    expect(ran.out).not.toContain('::');
  });
});
