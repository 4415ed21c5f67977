// The login of git for the remote of a ledger: the remote may repeat it, trueup never shows it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../../support/ledger/git-remote.ts';
import { gitRefusal, serveFakeGit } from '../../support/ledger/fake-git-host.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const password = 'HunterTwoPass77';

/** A stack whose ledger is in git, at a host that refuses requests and repeats their login. */
async function refusedStack(): Promise<{ stack: Checkout; host: string }> {
  const repeats = (authorization = '') =>
    `denied ${authorization} ${Buffer.from(authorization.split(' ')[1] ?? '', 'base64').toString()}`;
  const host = await serveFakeGit(({ headers }) => gitRefusal(repeats(headers.authorization)), {
    asksLogin: true,
  });
  const stack = await (await openBench()).checkout({ spec: { ledger: 'git' } });
  await stack.declare(workspace('app', {}));
  git(stack.directory, 'init', '--quiet');
  return { stack, host };
}

async function expectHidden(stack: Checkout, secret = password): Promise<void> {
  const spellings = [
    secret,
    ...[0, 1, 2].map((before) => coreOf(secret, before)).filter(({ length }) => length > 4),
  ];
  for (const command of [['plan'], ['apply', '--yes'], ['history'], ['unlock', '--id', 'x']]) {
    for (const format of command[0] === 'unlock' ? [[]] : [[], ['--format', 'json']]) {
      const { code, out, err } = await stack.tryRun([...command, ...format]);
      expect(code).toBe(1);
      expect(out + err).toContain('remote error: denied');
      for (const spelling of spellings) expect(out + err).not.toContain(spelling);
    }
  }
}

/** The part of its base64 that is the same for each text with so many bytes before it. */
function coreOf(secret: string, before: number): string {
  const encoded = Buffer.from(`${'x'.repeat(before)}${secret}`).toString('base64');
  return encoded.slice(before === 0 ? 0 : 4, Math.floor((secret.length + before) / 3) * 4);
}

describe('A password that the remote of the ledger repeats is not shown', () => {
  it.each([
    [
      'the address of the remote',
      ['remote.origin.url', (host: string) => `http://u:${password}@${host}/x.git`],
    ],
    [
      'an address with escapes',
      ['remote.origin.url', (host: string) => `http://u:Hunter%54woPass77@${host}/x.git`],
    ],
  ] as const)('from %s', async (_, [key, address]) => {
    const { stack, host } = await refusedStack();
    git(stack.directory, 'config', key, address(host));
    await expectHidden(stack);
  });

  it('from an address that replaces another one (insteadOf)', async () => {
    const { stack, host } = await refusedStack();
    git(stack.directory, 'config', 'remote.origin.url', 'short:x.git');
    git(stack.directory, 'config', `url.http://u:${password}@${host}/.insteadOf`, 'short:');
    await expectHidden(stack);
  });

  it.each([
    ['remotes', (address: string) => `URL: ${address}\n`],
    ['branches', (address: string) => `${address}\n`],
  ])('from an address in a file of an old format (.git/%s)', async (folder, contentOf) => {
    const { stack, host } = await refusedStack();
    mkdirSync(join(stack.directory, '.git', folder), { recursive: true });
    const file = join(stack.directory, '.git', folder, 'origin');
    writeFileSync(file, contentOf(`http://u:${password}@${host}/x.git`));
    await expectHidden(stack);
  });

  it('from a header that git is configured to send', async () => {
    const { stack, host } = await refusedStack();
    const login = Buffer.from(`x-access-token:${password}`).toString('base64');
    git(stack.directory, 'config', 'remote.origin.url', `http://${host}/x.git`);
    git(stack.directory, 'config', `http.http://${host}/.extraheader`, `AUTHORIZATION: basic ${login}`);
    await expectHidden(stack);
  });

  it('if it is so short that it could be a word', async () => {
    const { stack, host } = await refusedStack();
    git(stack.directory, 'config', 'remote.origin.url', `http://u:qz7x@${host}/x.git`);
    await expectHidden(stack, 'qz7x');
  });
});

it.each(['', ':', ':x-oauth-basic'])(
  'A short token as the user of "user%s@host" is not shown',
  async (rest) => {
    const { stack, host } = await refusedStack();
    git(stack.directory, 'config', 'remote.origin.url', `http://${password}${rest}@${host}/x.git`);
    git(stack.directory, 'config', 'core.askPass', 'true');
    await expectHidden(stack);
  },
);

it('A token as the user of the address is not shown if the remote of the ledger repeats it', async () => {
  const { stack, host } = await refusedStack();
  git(stack.directory, 'config', 'remote.origin.url', `http://tok_9f31c2aa77be@${host}/x.git`);
  git(stack.directory, 'config', 'core.askPass', 'true');
  await expectHidden(stack, 'tok_9f31c2aa77be');
});
