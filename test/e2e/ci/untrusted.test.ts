/** What a pull request cannot change for its own plan: the places that get secrets, and the settings that protect the stack. */
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSigner } from '../../support/ci/signers.ts';
import { openThief } from '../../support/ci/thief.ts';
import { trueup } from '../../support/captured-host.ts';
import { secrets } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const manifest = (name: string, spec: object = {}) => documentsText([workspace(name, spec)]);

/** A pull request of a user with read permission only, with another address for the target. */
async function openTheft() {
  const scene = await openCiScene();
  const thief = await openThief();
  scene.github.state.permissions.set('ann', 'read');
  scene.propose({
    'stacks/pay/trueup.yaml': scene.stack('pay', {}, { url: thief.url }),
    'stacks/pay/manifests/more.yaml': manifest('pay-more'),
  });
  return { ...scene, thief };
}

describe('A target with another address', () => {
  it('is planned with the target of the base branch, as plan, comment and summary show', async () => {
    const { job, thief, github } = await openTheft();
    const ran = await job();
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(thief.tokens).toEqual([]);
    for (const text of [ran.out, ran.summary, github.comments[0]?.body ?? '']) {
      expect(text).toContain('targets-of-base');
      expect(text).toContain('pay-more');
    }
    expect(ran.out).toContain('url of the target "acme"');
    expect(ran.out).toContain('their author "ann" may not write to the repository');
  });

  it('counts if the code host says that the author may write', async () => {
    const { job, thief, github } = await openTheft();
    github.state.permissions.set('ann', 'write');
    const ran = await job();
    expect(thief.tokens.length).toBeGreaterThan(0);
    expect(ran.out).not.toContain('targets-of-base');
  });

  it('does not count in a fork of another user, who could push to it later', async () => {
    const { job, thief, github } = await openTheft();
    github.state.permissions.set('ann', 'write');
    github.pull.from = 'mallory/infra';
    const ran = await job();
    expect(thief.tokens).toEqual([]);
    expect(ran.out).toContain('they come from the repository "mallory/infra"');
    github.pull.from = 'Ann/infra';
    await job();
    expect(thief.tokens.length).toBeGreaterThan(0);
  });

  it.each([403, 404, 500])('does not count if the code host answers %i', async (status) => {
    const { job, thief, github } = await openTheft();
    github.state.permissions.set('ann', 'write');
    github.always(({ path }) =>
      path.endsWith('/permission') ? { status, body: { message: 'no' } } : undefined,
    );
    const ran = await job();
    expect(thief.tokens).toEqual([]);
    expect(ran.out).toContain('the code host does not say whether their author may write');
  });

  it('is not used if target or stack are new, so that the stack is only validated', async () => {
    const scene = await openCiScene();
    const thief = await openThief();
    scene.github.state.permissions.set('ann', 'read');
    scene.propose({
      'stacks/new/trueup.yaml': scene.stack('new', {}, { url: thief.url }),
      'stacks/new/manifests/a.yaml': manifest('new-a'),
      'stacks/pay/trueup.yaml': scene.stack('pay', {}, { name: 'other', url: thief.url }),
    });
    const ran = await scene.job();
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(thief.tokens).toEqual([]);
    expect(ran.out).toContain('2 stacks only validated');
    expect(ran.err).toContain('the changes decide where secrets go (a new stack)');
    expect(ran.err).toContain('the target "other"');
    expect(scene.github.comments[0]?.body).toContain('**Validated, and not planned**');
  });

  it.each<[string, object, string]>([
    ['the source of the token', { token: { env: 'SERVICE_TOKEN' } }, 'token of the target'],
    ['the certificate', { caCert: { file: 'ca.pem' } }, 'caCert of the target'],
    ['the organization', { organization: 'umbrella' }, 'organization of the target'],
  ])('has the same rules as a target with a change of %s', async (_, target, says) => {
    const scene = await openCiScene();
    scene.github.state.permissions.set('ann', 'read');
    scene.propose({
      'stacks/pay/trueup.yaml': scene.stack('pay', {}, target),
      'stacks/pay/ca.pem': 'x',
    });
    expect((await scene.job()).out + (await scene.job()).err).toContain(says);
  });
});

describe('pull_request_target', () => {
  const target = { ref: 'base', env: { GITHUB_EVENT_NAME: 'pull_request_target' } } as const;
  const fork = { head: { repo: { full_name: 'mallory/infra' } } };

  it('plans the pull request from git objects, and its comment names the head commit', async () => {
    const scene = await openCiScene();
    const head = scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    scene.push({ 'stacks/pay/manifests/later.yaml': manifest('pay-later') });
    const pull = { ...fork, head: { ...fork.head, sha: head } };
    for (const clone of [[], ['--depth=1']]) {
      const ran = await scene.job({ ...target, pull, clone });
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect(ran.out).toContain('pay-more');
      // The head is merged with the base, so that changes of the base are not reverted.
      expect(ran.out).toContain('pay-later');
      expect(git(ran.clone, 'status', '--porcelain')).toBe('');
    }
    expect(scene.github.comments[0]?.body).toContain(`Made for commit \`${head}\``);
  });

  it('finds a ledger in git, in a remote of the clone', async () => {
    const scene = await openCiScene();
    const settings = { spec: { ledger: 'git' } };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', settings) });
    const pay = join(scene.work, 'stacks/pay');
    expect(await trueup(['apply', '--yes'], { cwd: pay, env: secrets })).toMatchObject({ code: 0 });
    const head = scene.propose({
      'stacks/pay/trueup.yaml': scene.stack('pay', settings),
      'stacks/pay/manifests/more.yaml': manifest('pay-more'),
    });
    const ran = await scene.job({ ...target, pull: { ...fork, head: { ...fork.head, sha: head } } });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/ledger +found/);
    expect(ran.out).toContain('pay-more');
  });

  it('sends no token to an address that the pull request names', async () => {
    const { job, thief, github } = await openTheft();
    const ran = await job({ ...target, pull: { ...fork, head: { ...fork.head, sha: github.pull.head } } });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(thief.tokens).toEqual([]);
    expect(ran.out).toContain('targets-of-base');
  });

  it('follows no link of the pull request', async () => {
    const scene = await openCiScene();
    const file = join(scene.work, 'stacks/pay/manifests/passwd.yaml');
    scene.propose({ 'stacks/pay/manifests/passwd.yaml': 'x' });
    rmSync(file);
    symlinkSync('/etc/passwd', file);
    const head = scene.propose({});
    const ran = await scene.job({ ...target, pull: { ...fork, head: { ...fork.head, sha: head } } });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('are links or submodules, which are not followed');
    expect(ran.out + ran.err).not.toContain('root:');
  });

  it('refuses a job that has checked out the pull request', async () => {
    const scene = await openCiScene();
    const head = scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const pull = { ...fork, head: { ...fork.head, sha: head } };
    const before = (clone: string) => void git(clone, 'checkout', '--quiet', 'origin/change');
    const ran = await scene.job({ ...target, pull, before });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('remove "ref" from the checkout step');
  });
});

describe('A fork without secrets', () => {
  it('gets the validation of its stacks, and the job succeeds', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const pull = { head: { sha: scene.github.pull.head, repo: { full_name: 'mallory/infra' } } };
    const env = { API_TOKEN: '', SERVICE_TOKEN: '', GITHUB_TOKEN: '' };
    const ran = await scene.job({ pull, env });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain('1 stack only validated');
    expect(ran.err).toContain('this job gets no secrets, as in a fork');
    const wrong = documentsText([{ ...workspace('x'), spec: { autoAply: true } }]);
    scene.propose({ 'stacks/pay/manifests/more.yaml': wrong });
    expect(await scene.job({ pull, env })).toMatchObject({ code: 7 });
  });
});

describe('Settings that a pull request loosens', () => {
  it('do not count for its own plan, and block it as the first guard in every format', async () => {
    const scene = await openCiScene();
    const limited = { guards: { maxDeletes: 1 } };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: limited }) });
    const loose = { guards: { maxDeletes: 50, allow: ['zero'] } };
    scene.propose({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: loose }),
      'stacks/pay/manifests/more.yaml': manifest('pay-more'),
    });
    const ran = await scene.job({ args: ['--out-dir', 'plans'] });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    const says = /spec\.guards\.maxDeletes is loosened from 1 to 50/;
    for (const text of [ran.out, ran.summary, scene.github.comments[0]?.body ?? '']) {
      expect(text).toMatch(says);
      expect(text).toContain('loosened');
    }
    expect(ran.out).toMatch(/Risks\n\s+! blocks\s+loosened/);
    const shown = async (format: string) =>
      (await scene.run(['show', 'plans/pay.plan.json', '--format', format], ran.clone)).out;
    for (const format of ['json', 'markdown', 'html', 'text']) expect(await shown(format)).toMatch(says);
    const { guards, acknowledge } = JSON.parse(await shown('json'));
    expect(guards.map(({ id }: { id: string }) => id)).toEqual(['loosened', 'loosened']);
    expect(acknowledge).toEqual(['loosened']);
  });

  it('do not loosen its guards: deletes that the base blocks stay blocked', async () => {
    const scene = await openCiScene();
    const spec = { ledger: 'git', guards: { maxDeletes: 0 } };
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec }),
      'stacks/pay/manifests/more.yaml': manifest('pay-more'),
    });
    expect(await scene.run(['apply', 'stacks/pay', '--yes'])).toMatchObject({ code: 0 });
    scene.propose({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { ...spec, guards: { maxDeletes: 9 } } }),
      'stacks/pay/manifests/more.yaml': undefined,
    });
    const ran = await scene.job();
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/! blocks\s+loosened[\s\S]*! blocks\s+deletes/);
  });

  it('include a new line in a file of signers, in a pull request that changes nothing else', async () => {
    const scene = await openCiScene();
    const keys = temporaryFolder();
    const alice = makeSigner(keys, 'alice');
    const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { ledger: 'git', approvals } }),
      'stacks/pay/allowed_signers': alice,
    });
    expect(await scene.run(['apply', 'stacks/pay', '--yes'])).toMatchObject({ code: 0 });
    // A comment and another order of the lines admit no new signer.
    scene.propose({ 'stacks/pay/allowed_signers': `# people who may approve\n${alice}` });
    expect((await scene.job()).out).not.toContain('loosened');
    scene.propose({ 'stacks/pay/allowed_signers': makeSigner(keys, 'mallory') + alice });
    const ran = await scene.job();
    expect(ran, ran.err).toMatchObject({ code: 0 });
    const [body = ''] = scene.github.comments.map((comment) => comment.body);
    for (const text of [ran.out, ran.summary, body]) {
      expect(text).toContain('loosened');
      expect(text.replaceAll(/\s+/g, ' ')).toMatch(
        /the file .allowed_signers. of signers is loosened from .*alice@example\.com.* to .*mallory@example\.com/,
      );
    }
    expect(ran.out).toMatch(/Risks\n\s+! blocks\s+loosened/);
  });

  it('cannot be allowed by the stack', async () => {
    const scene = await openCiScene();
    scene.propose({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { guards: { allow: ['loosened'] } } }),
    });
    expect(await scene.job()).toMatchObject({ code: 7, err: expect.stringContaining('guards.allow') });
  });
});
