// Which signed approvals count, with real keys, ssh-keygen and remotes.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAllowedSigners } from '../../src/approvals/allowed-signers.ts';
import {
  formatApproval,
  parseApproval,
  type SignedApproval,
  signedText,
} from '../../src/approvals/signed-approval.ts';
import {
  day,
  type Key,
  line,
  makeKey,
  ref,
  type SignedStack,
  signedStack,
} from '../support/approvals/signed-stack.ts';
import { git } from '../support/ledger/git-remote.ts';

const digest = '0123456789abcdef0123456789abcdef';
const other = 'fedcba9876543210fedcba9876543210';

/** A stack that admits Alice, who has approved. */
async function approved(...flags: readonly string[]) {
  const alice = makeKey('alice');
  const stack = signedStack(line('alice@example.com', alice));
  await approveAs(stack, alice, ...flags);
  return { alice, stack };
}

async function approveAs(stack: SignedStack, key: Key, ...flags: readonly string[]): Promise<void> {
  const { code, err } = await stack.approve([digest, '--yes', '--key', key.file, ...flags]);
  expect(err).not.toContain('error');
  expect(code).toBe(0);
}

/** Approves with `selfApprove` in the work tree of the signer only, so that the command accepts an author. */
async function approveOwn(stack: SignedStack, key: Key): Promise<void> {
  const file = join(stack.directory, 'trueup.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"approvals":{', '"approvals":{"selfApprove":true,'));
  await approveAs(stack, key);
  writeFileSync(file, text);
}

async function expectNone(stack: SignedStack, why: RegExp | string, change = {}): Promise<void> {
  const { approvals, refused } = await stack.read(change);
  expect(approvals).toEqual([]);
  expect(refused.map((one) => one.why).join('\n')).toMatch(why);
}

function onlyApproval(stack: SignedStack): [path: string, text: string] {
  const [found] = Object.entries(stack.kept()).filter(([path]) => path.startsWith('approvals/'));
  if (found === undefined) throw new Error('there is no approval');
  return found;
}

/** The name of an approval file with this text. */
function nameOf(text: string, of = digest): string {
  return `approvals/${of}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.json`;
}

/** Signs an approval that differs from this one, as the owner of the key could, and puts it into the ref. */
function signOther(
  stack: SignedStack,
  { key, text, namespace = 'trueup-approval@v1' }: { key: Key; text: string; namespace?: string },
  change: Partial<SignedApproval>,
): void {
  const stored = parseApproval(text);
  if (stored === undefined || stored === 'newer') throw new Error('not an approval');
  const approval = { ...stored.approval, ...change };
  const signature = execFileSync('ssh-keygen', ['-Y', 'sign', '-n', namespace, '-f', key.file], {
    input: signedText(approval),
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const signed = formatApproval({ approval, signature });
  stack.push([{ path: nameOf(signed, approval.digest), text: signed }]);
}

describe('a signed approval', () => {
  it.each([
    ['ed25519', ['-t', 'ed25519']],
    ['ecdsa', ['-t', 'ecdsa']],
    ['rsa', ['-t', 'rsa', '-b', '2048']],
  ])('with a key of type %s counts, and acknowledges its guards', async (_, type) => {
    const key = makeKey('alice', ...type);
    const stack = signedStack(line('alice@example.com', key));
    await approveAs(stack, key, '--ack', 'zero,deletes');
    const { approvals, refused } = await stack.read();
    expect(refused).toEqual([]);
    expect(approvals).toMatchObject([
      {
        method: 'signature',
        by: 'alice@example.com',
        digest,
        pullRequest: 7,
        acknowledged: ['deletes', 'zero'],
      },
    ]);
  });

  it('with a certificate counts under the name in the certificate if its authority is admitted', async () => {
    const [authority, key] = [makeKey('authority'), makeKey('alice')];
    execFileSync('ssh-keygen', [
      '-q',
      '-s',
      authority.file,
      '-I',
      'x',
      '-n',
      'alice@example.com',
      `${key.file}.pub`,
    ]);
    const stack = signedStack(line('*@example.com', authority, 'cert-authority'));
    await approveAs(stack, { ...key, file: `${key.file}-cert.pub` });
    expect((await stack.read()).approvals).toMatchObject([{ by: 'alice@example.com' }]);
  });

  it('counts once per person, with all acknowledged guards, even if the person has two keys', async () => {
    const [one, two, bob] = [makeKey('one'), makeKey('two'), makeKey('bob')];
    const stack = signedStack(
      line('alice@example.com', one) + line('alice@example.com', two) + line('bob@example.com', bob),
    );
    await approveAs(stack, one, '--ack', 'deletes');
    await approveAs(stack, two, '--ack', 'zero');
    await approveAs(stack, bob);
    const { approvals } = await stack.read();
    expect(approvals.map(({ by, acknowledged }) => [by, acknowledged]).sort()).toEqual([
      ['alice@example.com', ['deletes', 'zero']],
      ['bob@example.com', []],
    ]);
  });

  it('does not exist if the ref does not exist', async () => {
    const stack = signedStack(line('alice@example.com', makeKey('alice')));
    expect(await stack.read()).toEqual({ approvals: [], refused: [], contents: new Map() });
  });
});

describe('a signed approval does not count', () => {
  it('when no signer is admitted', async () => {
    const stack = signedStack('');
    await stack.approveAsStranger(makeKey('mallory'), digest);
    await expectNone(stack, 'no signers are named there');
  });

  it('by a key that is not admitted', async () => {
    const stack = signedStack(line('alice@example.com', makeKey('alice')));
    await stack.approveAsStranger(makeKey('mallory'), digest);
    await expectNone(stack, /is not admitted at the head: No principal matched/);
  });

  it('when any of its members was edited', async () => {
    const { stack } = await approved();
    const original = parseApproval(onlyApproval(stack)[1]);
    if (original === undefined || original === 'newer') throw new Error('not an approval');
    const edits: Partial<SignedApproval>[] = [
      { digest: other },
      { acknowledged: ['deletes'] },
      { until: new Date(Date.now() + 20 * day).toISOString() },
      { at: new Date(Date.now() - 1000).toISOString() },
    ];
    for (const edit of edits) {
      const text = formatApproval({ ...original, approval: { ...original.approval, ...edit } });
      stack.push([{ path: nameOf(text, edit.digest), text }]);
      await expectNone(stack, /is not admitted at the head/);
    }
  });

  it('with a member that this version does not know', async () => {
    const { stack } = await approved();
    const value = JSON.parse(onlyApproval(stack)[1]);
    const text = JSON.stringify({ ...value, approval: { ...value.approval, scope: 'all' } });
    stack.push([{ path: nameOf(text), text }]);
    await expectNone(stack, 'is not an approval');
  });

  it('for another stack, stack file or repository', async () => {
    const { stack, alice } = await approved();
    const changes = [
      [{ stack: 'other' }, 'it is for the stack "other"'],
      [{ path: 'stacks/other/trueup.yaml' }, 'it is for the stack file "stacks/other/trueup.yaml"'],
      [{ repository: 'git.example.com/acme/other' }, 'it is for the repository "git.example.com/acme/other"'],
    ] as const;
    const [, text] = onlyApproval(stack);
    for (const [change, why] of changes) {
      signOther(stack, { key: alice, text }, change);
      await expectNone(stack, why);
    }
  });

  it('for a commit that is not applied', async () => {
    const { stack } = await approved();
    stack.commit({ 'manifests.yaml': '# later' });
    await expectNone(stack, 'which this job does not apply');
  });

  it('when it has expired, is from the future, or is valid for too long', async () => {
    const { stack, alice } = await approved('--expires', '2d');
    await expectNone(stack, 'it expired at', { now: Date.now() + 3 * day });
    const { refused } = await stack.read({ now: Date.now() + 3 * day });
    expect(refused).toMatchObject([{ by: 'alice@example.com' }]);
    await expectNone(stack, 'which is in the future', { now: Date.now() - 6 * 60_000 });
    expect((await stack.read({ now: Date.now() - 4 * 60_000 })).approvals).toHaveLength(1);
    const [, text] = onlyApproval(stack);
    signOther(stack, { key: alice, text }, { until: new Date(Date.now() + 40 * day).toISOString() });
    await expectNone(stack, 'it is valid for more than 30 days');
  });

  it('when the signature was made for another purpose', async () => {
    const alice = makeKey('alice');
    // The line admits the key for everything.
    const stack = signedStack(line('alice@example.com', alice, ''));
    await approveAs(stack, alice);
    signOther(stack, { key: alice, text: onlyApproval(stack)[1], namespace: 'git' }, {});
    await expectNone(stack, /namespace/);
  });

  it('when the line of the key is for another purpose, or is not valid at this time', async () => {
    const lines = [
      ['namespaces="git"', /namespace/],
      ['valid-before="20200101"', /line 1 of the signers: key has expired/],
      ['valid-after="20990101"', /line 1 of the signers: key is not yet valid/],
    ] as const;
    const { stack, alice } = await approved();
    for (const [options, why] of lines) {
      const allowed = line('alice@example.com', alice, options);
      await expectNone(stack, why, { head: { allowed, selfApprove: false } });
    }
  });

  it('when the pull request itself adds the signer', async () => {
    const [alice, mallory] = [makeKey('alice'), makeKey('mallory')];
    const stack = signedStack(line('alice@example.com', alice));
    stack.commit({
      allowed_signers: line('alice@example.com', alice) + line('mallory@example.com', mallory),
    });
    await approveAs(stack, mallory);
    await expectNone(stack, /is not admitted at the base commit/);
  });

  it('when the signer was removed between the approval and the apply', async () => {
    const { stack } = await approved();
    await expectNone(stack, /is not admitted at the head/, {
      head: { allowed: '# nobody\n', selfApprove: false },
    });
  });

  it('by an author, committer or co-author, under any name that the signers file gives to the key', async () => {
    const writer = makeKey('writer');
    const stack = signedStack(line('writer@example.com', writer));
    await approveOwn(stack, writer);
    await expectNone(stack, 'it is by an author of the commits');
    const comment = `w ${writer.publicKey} Some Writer <writer@example.com>\n`;
    for (const allowed of [line('w,Writer@Example.com', writer), line('*', writer), comment])
      await expectNone(stack, 'author', { head: { allowed, selfApprove: false } });
    stack.commit({}, '-m', 'x\n\nCo-Authored-By: Carol <carol@example.com>');
    await approveOwn(stack, writer);
    const carol = { allowed: line('carol@example.com', writer), selfApprove: false };
    await expectNone(stack, 'it is by an author of the commits', { head: carol });
  });

  it('by an author, unless both base and head have "selfApprove"', async () => {
    const writer = makeKey('writer');
    const allowed = line('writer@example.com', writer);
    const stack = signedStack(allowed);
    await approveOwn(stack, writer);
    const heads = [git(stack.directory, 'rev-parse', 'HEAD')];
    const authors = { names: ['writer@example.com'], keys: [] };
    const rules = (atBase: boolean, atHead: boolean) => ({
      head: { allowed, selfApprove: atHead },
      proposals: [{ heads, authors, base: { allowed, selfApprove: atBase } }],
    });
    await expectNone(stack, 'author', rules(true, false));
    await expectNone(stack, 'author', rules(false, true));
    expect((await stack.read(rules(true, true))).approvals).toHaveLength(1);
  });

  it('by the key that signed a commit, even if the commit has another address', async () => {
    const alice = makeKey('alice');
    const stack = signedStack(line('alice@example.com', alice));
    git(stack.directory, 'config', 'gpg.format', 'ssh');
    git(stack.directory, 'config', 'user.signingKey', alice.file);
    stack.commit({}, '--gpg-sign');
    await approveOwn(stack, alice);
    await expectNone(stack, 'it is by an author of the commits');
  });
});

describe('a ref that another user wrote', () => {
  it('adds no approval by symbolic links, long files, forged names, or files in other folders', async () => {
    const { stack } = await approved();
    const [path, text] = onlyApproval(stack);
    const entries = [
      { mode: '120000', path, text },
      { path, text: text + ' '.repeat(70_000) },
      { path: nameOf(text, other), text },
      { path: `approvals/${digest}-0000000000000000.json`, text },
      { path: path.replace('approvals/', 'plans/'), text },
      { path: 'approvals/..json', text },
    ];
    for (const entry of entries) {
      stack.push([entry]);
      await expectNone(stack, /is not a file that trueup reads|is not an approval/);
    }
    stack.push([{ path, text }]);
    expect((await stack.read()).approvals).toHaveLength(1);
  });

  it('is an error if it names no commit, or has more files than are read', async () => {
    const { stack } = await approved();
    const [, text] = onlyApproval(stack);
    stack.push(Array.from({ length: 501 }, (_, index) => ({ path: nameOf(`${text}${index}`), text })));
    await expect(stack.read()).rejects.toThrow(/more than trueup reads.*git push origin --delete/);
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: stack.remote, input: 'x' });
    git(stack.remote, 'update-ref', ref, blob.toString().trim());
    await expect(stack.read()).rejects.toThrow('the ref does not name a commit');
  });

  it('is an error if the remote cannot be read', async () => {
    const { stack } = await approved();
    git(stack.directory, 'remote', 'set-url', 'origin', '/nowhere/remote.git');
    await expect(stack.read()).rejects.toThrow(
      /the approvals "refs\/trueup-approvals\/payments" .* cannot be read/,
    );
  });
});

describe('ssh-keygen', () => {
  it('must be installed, and else the error says what to install', async () => {
    const { stack } = await approved();
    const onlyGit = `${stack.env['HOME']}/bin`;
    const where = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    execFileSync('sh', ['-c', `mkdir '${onlyGit}' && ln -s '${where}' '${onlyGit}/git'`]);
    const env = { ...stack.env, PATH: onlyGit };
    await expect(stack.read({ git: { directory: stack.directory, env } })).rejects.toThrow(
      /signatures need "ssh-keygen".*install OpenSSH/,
    );
  });
});

describe('a file of allowed signers', () => {
  it('is read from the commit, not from the work tree, and never through a link', async () => {
    const stack = signedStack('# first\n');
    const at = { directory: stack.directory, env: stack.env };
    const path = 'stacks/pay/allowed_signers';
    execFileSync('sh', ['-c', 'echo later > allowed_signers'], { cwd: stack.directory });
    expect(await readAllowedSigners(at, { commit: 'HEAD', paths: [path] })).toBe('# first\n');
    expect(readFileSync(`${stack.directory}/allowed_signers`, 'utf8')).toBe('later\n');
    expect(await readAllowedSigners(at, { commit: stack.base, paths: ['missing'] })).toBe('');
    execFileSync('sh', ['-c', 'ln -sf /etc/hostname allowed_signers'], { cwd: stack.directory });
    const commit = stack.commit({});
    await expect(readAllowedSigners(at, { commit, paths: [path] })).rejects.toThrow(
      'it is not a regular file',
    );
    await expect(readAllowedSigners(at, { commit: '0'.repeat(40), paths: [path] })).rejects.toThrow(
      'cannot be read',
    );
  });
});
