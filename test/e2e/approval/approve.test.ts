// `trueup approve` with real keys, real remotes and the real CLI: what a reviewer sees, and what is kept for the apply.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proveContent } from '../../../src/plan/approved-plans.ts';
import {
  day,
  type Key,
  line,
  makeKey,
  type SignedStack,
  signedStack,
} from '../../support/approvals/signed-stack.ts';
import { trueup } from '../../support/captured-host.ts';
import { role } from '../../support/cli/documents.ts';
import { onTerminal, trueupProcess } from '../../support/cli/process.ts';
import { git } from '../../support/ledger/git-remote.ts';

const digest = '0123456789abcdef0123456789abcdef';

function opened(): SignedStack & { alice: Key } {
  const alice = makeKey('alice');
  return { ...signedStack(line('alice@example.com', alice)), alice };
}

/** Plans a role that every service account may use, which a guard blocks. */
async function planned(stack: SignedStack): Promise<{ digest: string }> {
  const open = role('app', { boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'] });
  stack.commit({ 'manifests.yaml': JSON.stringify(open) });
  const { code, err } = await trueup(['plan', '--out', 'plan.json'], {
    cwd: stack.directory,
    env: stack.env,
  });
  expect(err).not.toContain('error');
  expect(code).toBe(0);
  return JSON.parse(readFileSync(join(stack.directory, 'plan.json'), 'utf8'));
}

describe('trueup approve', () => {
  it('shows the summary and the guards of the plan file, signs it, and keeps its content beside the approval', async () => {
    const stack = opened();
    const plan = await planned(stack);
    const ran = await stack.approve(['plan.json', '--yes', '--key', stack.alice.file, '--ack', 'wildcard']);
    expect(ran.err).toBe('');
    expect(ran.out).toMatch(/Risks\n {2}! blocks {2}wildcard/);
    expect(ran.out).toMatch(/1 to create, 0 unchanged; the whole plan: trueup show plan\.json/);
    expect(ran.out).toMatch(/Signed by alice@example\.com \(SHA256:/);
    const { approvals, contents } = await stack.read();
    expect(approvals).toMatchObject([{ digest: plan.digest, acknowledged: ['wildcard'] }]);
    const proved = proveContent(contents.get(plan.digest), { stack: 'payments', digest: plan.digest });
    expect(proved?.changes).toMatchObject([{ action: 'create' }]);
    const [, text = ''] = Object.entries(stack.kept()).find(([path]) => path.startsWith('plans/')) ?? [];
    const edited = JSON.parse(text.replaceAll('vault', 'other'));
    expect(proveContent(edited, { stack: 'payments', digest: plan.digest })).toBeUndefined();
  });

  it('says that an approval is not enough if it leaves a blocking guard open', async () => {
    const stack = opened();
    await planned(stack);
    const { err, out } = await stack.approve([
      'plan.json',
      '--yes',
      '--key',
      stack.alice.file,
      '--format',
      'json',
    ]);
    expect(err).toBe('');
    const answer = JSON.parse(out);
    expect(answer).toMatchObject({ unacknowledged: ['wildcard'], by: 'alice@example.com', acknowledged: [] });
    expect(answer.diagnostics[0].message).toMatch(/this approval is not enough.*wildcard.*--ack wildcard/);
  });

  it('refuses a plan of another stack and a digest of another form, and writes nothing', async () => {
    const stack = opened();
    await planned(stack);
    const text = readFileSync(join(stack.directory, 'trueup.yaml'), 'utf8');
    stack.commit({ 'trueup.yaml': text.replace('"payments"', '"other"') });
    const refused = await stack.approve(['plan.json', '--yes', '--key', stack.alice.file]);
    expect(refused.code).toBe(4);
    expect(refused.err).toContain('is of the stack "payments", and this is "other"');
    expect((await stack.approve(['0123', '--yes'])).err).toContain('the plan "0123" cannot be read');
    expect(git(stack.remote, 'for-each-ref', 'refs/trueup-approvals')).toBe('');
  });

  it('asks on a terminal, and needs --yes elsewhere', async () => {
    const { alice, directory, env, read } = opened();
    const alone = await trueupProcess(['approve', digest, '--key', alice.file], { cwd: directory, env });
    expect(alone).toMatchObject({ code: 1, err: expect.stringContaining('pass --yes') });
    const { code, screen } = await onTerminal(
      ['approve', digest, '--key', alice.file],
      { cwd: directory, env },
      async ({ waitForText, typeText }) => {
        await waitForText(/Approve the plan 0123456789abcdef0123456789abcdef at commit [0-9a-f]{12}\?/);
        typeText('y\r');
        await waitForText(/Approved the plan/);
      },
    );
    expect(screen).toContain('a digest alone shows nothing of the plan');
    expect(code).toBe(0);
    expect((await read()).approvals).toHaveLength(1);
  });

  it('asks for the passphrase of a key on the terminal, and says what to do if it cannot sign', async () => {
    const { alice, approve, directory, env, read } = opened();
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'a secret phrase', '-f', alice.file]);
    const args = ['approve', digest, '--yes', '--key', alice.file];
    const withoutAskpass = { ...env, SSH_ASKPASS_REQUIRE: 'never' };
    const { screen } = await onTerminal(
      args,
      { cwd: directory, env: withoutAskpass },
      async ({ waitForText, typeText }) => {
        await waitForText(/Enter passphrase/);
        typeText('a secret phrase\r');
        await waitForText(/Approved the plan/);
      },
    );
    expect(screen).not.toContain('a secret phrase');
    const file = join(env['HOME'] ?? '', 'alone.pub');
    copyFileSync(`${alice.file}.pub`, file);
    const refused = await approve([digest, '--yes', '--key', file]);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/did not sign: .*--key.*"ssh-add"/),
    });
    expect((await read()).approvals).toHaveLength(1);
  });

  it('signs with the key of git, or with a usual key that the stack admits', async () => {
    const { alice, directory, approve, env, read } = opened();
    const [home = ''] = [env['HOME']];
    mkdirSync(join(home, '.ssh'));
    const bob = makeKey('bob');
    for (const end of ['', '.pub']) {
      copyFileSync(`${bob.file}${end}`, join(home, '.ssh', `id_ed25519${end}`));
      copyFileSync(`${alice.file}${end}`, join(home, '.ssh', `id_rsa${end}`));
    }
    expect((await approve([digest, '--yes'])).out).toContain('Signed by alice@example.com');
    git(directory, 'config', 'user.signingKey', `${bob.file}.pub`);
    const { err, code } = await approve([digest, '--yes']);
    expect(err).toMatch(/nothing was approved: the stack does not admit the key SHA256:/);
    expect(code).toBe(1);
    expect((await read()).approvals).toHaveLength(1);
  });

  it('refuses an approval that cannot count: by an author, or if the stack names no signers', async () => {
    const alice = makeKey('alice');
    const stack = signedStack(line('writer@example.com', alice));
    const writer = ['-c', 'user.email=writer@example.com'];
    git(stack.directory, ...writer, 'commit', '--quiet', '--allow-empty', '-m', 'not merged');
    const own = await stack.approve([digest, '--yes', '--key', alice.file]);
    expect(own).toMatchObject({ code: 1 });
    expect(own.err).toMatch(
      /nothing was approved: "writer@example.com" is an author of commit [0-9a-f]{12}, and/,
    );
    const none = await signedStack('').approve([digest, '--yes', '--key', alice.file]);
    expect(none.err).toContain('the stack names no signers at HEAD');
    expect(git(stack.remote, 'for-each-ref', 'refs/trueup-approvals')).toBe('');
    const open = signedStack(line('writer@example.com', alice), { selfApprove: true });
    git(open.directory, ...writer, 'commit', '--quiet', '--allow-empty', '-m', 'not merged');
    expect(await open.approve([digest, '--yes', '--key', alice.file])).toMatchObject({ code: 0 });
  });

  it('lists who approved which plan, and why an approval does not count', async () => {
    const stack = opened();
    await stack.approve([digest, '--yes', '--key', stack.alice.file, '--ack', 'deletes', '--expires', '1h']);
    await stack.approveAsStranger(makeKey('mallory'), digest);
    const { err } = await stack.approve(['--list', '--ack', 'deletes', '--key', 'x']);
    expect(err).toContain('--list approves nothing: pass it without --ack, --key');
    const { out, code } = await stack.approve(['--list']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`${digest} {2}at commit [0-9a-f]{12} {2}by alice@example.com \\(SHA256:`));
    expect(out).toMatch(/expires \S+, acknowledges deletes\n {2}may count: for an apply of this commit/);
    expect(out).toMatch(/by an unknown key .*\n.*\n {2}does not count: its key is not admitted at HEAD/);
    const later = await stack.approve(['--list', '--format', 'json'], Date.now() + day);
    const listed = JSON.parse(later.out).approvals.map(({ by, why }: Record<string, string>) => [by, why]);
    expect(listed).toContainEqual(['alice@example.com', expect.stringContaining('it expired at')]);
  });

  it('removes expired approvals, and files that are not approvals, with the next approval', async () => {
    const stack = opened();
    const sign = (plan: string, now?: number) =>
      stack.approve([plan, '--yes', '--key', stack.alice.file, '--expires', '1d'], now);
    await sign(digest, Date.now() - 2 * day);
    const [path = '', text = ''] = Object.entries(stack.kept())[0] ?? [];
    stack.push([
      { path, text },
      { path: 'notes/todo.txt', text: 'x' },
      { path: `plans/${digest}.json`, text: '{}' },
    ]);
    await sign('fedcba9876543210fedcba9876543210');
    expect(Object.keys(stack.kept())).toEqual([expect.stringMatching(/^approvals\/fedcba98/)]);
  });

  it('loses no approval when several people approve at once', async () => {
    const keys = [makeKey('a'), makeKey('b'), makeKey('c')];
    const stack = signedStack(keys.map((key, index) => line(`${index}@example.com`, key)).join(''));
    await Promise.all(keys.map((key) => stack.approve([digest, '--yes', '--key', key.file])));
    expect((await stack.read()).approvals).toHaveLength(3);
  });
});
