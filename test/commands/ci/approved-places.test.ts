/** Which changes of targets and settings could send secrets to another place, with files of real commits. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findNewPlaces } from '../../../src/commands/ci/approved-places.ts';
import type { Stack, Target } from '../../../src/model/stack.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const target: Target = {
  name: 'acme',
  service: 'workspaces',
  url: 'https://app.example.com',
  dialect: 'neutral',
  organization: 'acme',
  token: { env: 'API_TOKEN' },
  caCert: { file: 'ca.pem' },
};

const stackOf = (more: Partial<Target> = {}, spec: Partial<Stack> = {}): Stack => ({
  name: 'payments',
  file: 'trueup.yaml',
  directory: '/nowhere',
  manifests: [],
  targets: [{ ...target, ...more }],
  defaults: [],
  guards: {},
  ...spec,
});

/** A repository with the certificate of the stack in `pay`. */
function openFiles() {
  const directory = temporaryFolder({ 'pay/ca.pem': 'one' });
  git(directory, 'init', '--quiet', '-b', 'main');
  const commit = () => {
    git(directory, 'add', '--all');
    git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    return git(directory, 'rev-parse', 'HEAD');
  };
  const first = commit();
  const newIn = async (now: Stack, head: string, before: Stack = stackOf(), path = 'pay/trueup.yaml') => {
    const applied = { stack: before, commit: first, path: 'pay/trueup.yaml' };
    const at = { directory, env: process.env };
    return (await findNewPlaces(now, { head, at, path, applied })).names;
  };
  return { directory, commit, newIn };
}

describe('Secrets could go to another place', () => {
  it.each<[string, Stack, string[]]>([
    ['with another address', stackOf({ url: 'https://evil.example' }), ['url of the target "acme"']],
    ['with another dialect', stackOf({ dialect: 'hcp-terraform' }), ['dialect of the target "acme"']],
    ['with another token', stackOf({ token: { env: 'OTHER' } }), ['token of the target "acme"']],
    [
      'with another login',
      stackOf({ token: { login: { mount: 'jwt', role: 'x', jwt: { env: 'JWT' } } } }),
      ['token of the target "acme"'],
    ],
    [
      'with another audit token',
      stackOf({ auditToken: { env: 'API_TOKEN' } }),
      ['auditToken of the target "acme"'],
    ],
    ['with another target', stackOf({ name: 'more' }), ['the target "more"']],
    ['with another ledger', stackOf({}, { ledger: { in: 'local' } }), ['spec.ledger']],
    [
      'with an archive',
      stackOf({}, { audit: { archive: { in: 'postgres', url: { env: 'DB' } } } }),
      ['spec.audit'],
    ],
    [
      'not with other limits',
      stackOf({ owns: ['a*'], requestsPerSecond: 3 }, { guards: { maxDeletes: 1 } }),
      [],
    ],
  ])('%s', async (_, now, names) => {
    const { commit, newIn } = openFiles();
    expect(await newIn(now, commit())).toEqual(names);
  });

  it('if a certificate changed or became a link, and not if only the path of the stack changed', async () => {
    const { directory, commit, newIn } = openFiles();
    writeFileSync(join(directory, 'pay/ca.pem'), 'two');
    expect(await newIn(stackOf(), commit())).toEqual(['a file of the target "acme"']);
    rmSync(join(directory, 'pay/ca.pem'));
    symlinkSync('/etc/ssl/one.pem', join(directory, 'pay/ca.pem'));
    expect(await newIn(stackOf(), commit())).toEqual(['a file of the target "acme"']);
    git(directory, 'checkout', '--quiet', 'HEAD~2');
    git(directory, 'mv', 'pay', 'pay2');
    expect(await newIn(stackOf(), commit(), stackOf(), 'pay2/trueup.yaml')).toEqual([]);
  });

  it('with every target of a stack that was never applied', async () => {
    const { directory, commit } = openFiles();
    const about = { head: commit(), at: { directory, env: process.env }, path: 'pay/trueup.yaml' };
    const { names } = await findNewPlaces(stackOf(), { ...about, applied: undefined });
    expect(names).toEqual(['the target "acme"']);
  });
});
