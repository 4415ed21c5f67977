/** One repository has many URLs: the ledger keeps what they have in common, without a login. */
import { expect, it } from 'vitest';
import { normalizeRemote } from '../../../src/ledger/git/checkout.ts';

it.each([
  'https://git.test/acme/infra',
  'https://git.test/Acme/infra.git',
  'https://ci:secret@git.test/acme/infra.git/',
  'https://git.test/acme/infra?token=secret',
  'git@git.test:acme/infra.git',
  'git.test:/acme/infra',
  'ssh://git@git.test:7999/acme/infra.git',
  'gcrypt::https://ci:secret@git.test/acme/infra',
])('%s is the repository git.test/acme/infra', (url) => {
  expect(normalizeRemote(url)).toBe('git.test/acme/infra');
});

it.each([
  ['http://localhost:3000/acme/infra.git', 'localhost:3000/acme/infra'],
  ['/srv/git/Infra.git', '/srv/git/Infra'],
  ['file:///srv/git/Infra.git', '/srv/git/Infra'],
  ['C:\\git\\infra', 'C:\\git\\infra'],
])('%s is the repository %s', (url, repository) => {
  expect(normalizeRemote(url)).toBe(repository);
});

it('A remote that is not a URL is stored without its login', () => {
  expect(normalizeRemote('https://ci:secret@git.test:999999/acme/infra')).not.toContain('secret');
});
