// Remotes and refs that do not hold a ledger: they are errors, and never count as "there is no ledger".
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { serveGit } from '../../support/ledger/git-http.ts';
import { serveFakeGit } from '../../support/ledger/fake-git-host.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

async function stackAt(address: string): Promise<Checkout> {
  const stack = await (await openBench()).checkout({ spec: { ledger: 'git' } });
  await stack.declare(workspace('app', {}));
  git(stack.directory, 'init', '--quiet');
  git(stack.directory, 'remote', 'add', 'origin', address);
  return stack;
}

const readingCommands = [['plan'], ['apply', '--yes'], ['history'], ['unlock', '--id', 'x']];

describe('a remote that does not speak git is an error', () => {
  it.each([
    ['an empty answer', ''],
    ['a page of one line', '<html><title>Log in</title></html>'],
  ])('when it gives %s', async (_, body) => {
    const stack = await stackAt(`http://${await serveFakeGit(() => ({ body }))}/x.git`);
    for (const command of readingCommands) {
      const { err } = await stack.run(command, 1);
      expect(err).toContain(`cannot be read: its address does not answer like a git server`);
    }
  });
});

it('a repository without any ref gets the first ledger', async () => {
  const { directory } = makeRemote();
  const empty = join(directory, '..', 'empty.git');
  git(directory, 'init', '--quiet', '--bare', empty);
  git(empty, 'config', 'http.receivepack', 'true');
  const login = `Basic ${Buffer.from('me:planted-password').toString('base64')}`;
  const { url } = await serveGit(empty, login);
  for (const version of ['0', '2']) {
    const stack = await stackAt(url.replace('//', '//me:planted-password@'));
    git(stack.directory, 'config', 'protocol.version', version);
    expect((await stack.run(['history'], 0)).out).toContain('Nothing was applied yet');
  }
  const stack = await stackAt(url.replace('//', '//me:planted-password@'));
  await stack.run(['apply', '--yes'], 0);
  expect((await stack.run(['history'], 0)).out).toContain('1 applied');
});

it('a ref with this name but other content is reported, and is not changed', async () => {
  const { directory } = makeRemote();
  const stack = await stackAt(`file://${directory}`);
  git(directory, 'update-ref', 'refs/trueup/payments', 'main');
  const before = git(directory, 'rev-parse', 'refs/trueup/payments');
  for (const command of [...readingCommands, ['recover', '--yes']]) {
    const { err } = await stack.run(command, 1);
    expect(err).toContain(
      'the ledger "refs/trueup/payments" of the remote "origin" cannot be read: it holds files that trueup did not',
    );
  }
  expect(git(directory, 'rev-parse', 'refs/trueup/payments')).toBe(before);
});
