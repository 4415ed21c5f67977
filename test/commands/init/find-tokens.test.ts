/** Which tokens of a machine are found, and the one address that each may be sent to. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dialects } from '../../../src/api/dialects.ts';
import { findTokens, originOf } from '../../../src/commands/init/choose-token.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const clients = [...dialects.values()].flatMap(({ client }) => client ?? []);

async function found(env: Record<string, string>, files: Record<string, string> = {}) {
  const tokens = await findTokens(clients, {
    env: { HOME: temporaryFolder(files), ...env },
    secrets: new KnownSecrets(),
  });
  return tokens.map(({ from, value, origin }) => `${from} ${value} ${origin}`);
}

const stored = (credentials: object) => ({
  '.terraform.d/credentials.tfrc.json': JSON.stringify({ credentials }),
});

describe('a token belongs to', () => {
  it.each([
    ['the default address', {}, 'https://app.terraform.io'],
    [
      'the address in the variable beside it',
      { TFE_ADDRESS: 'https://TFE.example.com:443/' },
      'https://tfe.example.com',
    ],
    [
      'the host in the variable beside it',
      { TFE_HOSTNAME: 'tfe.example.com:8443' },
      'https://tfe.example.com:8443',
    ],
    [
      'both addresses, if they agree',
      { TFE_ADDRESS: 'https://a.example', TFE_HOSTNAME: 'A.example' },
      'https://a.example',
    ],
    [
      'no address, if two addresses differ',
      { TFE_ADDRESS: 'https://a.example', TFE_HOSTNAME: 'b.example' },
      undefined,
    ],
    [
      'no address, if the address has a user',
      { TFE_ADDRESS: 'https://app.terraform.io@evil.example' },
      undefined,
    ],
    ['no address, if the address is not valid', { TFE_ADDRESS: 'app.terraform.io' }, undefined],
  ])('%s', async (_, env, origin) => {
    expect(await found({ TFE_TOKEN: 'one', ...env })).toEqual([`TFE_TOKEN one ${origin}`]);
  });

  it('the address of its secrets service, and to no address without one', async () => {
    expect(await found({ VAULT_TOKEN: 'one' })).toEqual(['VAULT_TOKEN one undefined']);
    expect(await found({ VAULT_TOKEN: 'one', VAULT_ADDR: 'http://127.0.0.1:8200' })).toEqual([
      'VAULT_TOKEN one http://127.0.0.1:8200',
    ]);
    expect(
      await found({ BAO_TOKEN: 'two', VAULT_ADDR: 'https://v.example', BAO_ADDR: 'https://b.example' }),
    ).toEqual(['BAO_TOKEN two https://b.example']);
  });

  it('the host in the name of its variable', async () => {
    expect(
      await found({
        TF_TOKEN_my__tfe_example_com: 'one',
        TF_TOKEN_app_terraform_io: 'two',
        'TF_TOKEN_a/b': 'three',
      }),
    ).toEqual([
      'TF_TOKEN_my__tfe_example_com one https://my-tfe.example.com',
      'TF_TOKEN_app_terraform_io two https://app.terraform.io',
      'TF_TOKEN_a/b three undefined',
    ]);
  });

  it('the host that the file of credentials names, with its port', async () => {
    const files = stored({
      'app.terraform.io': { token: 'one' },
      'localhost:8443': { token: 'two' },
      'app.terraform.io@evil.example': { token: 'three' },
      'evil.example/app.terraform.io': { token: 'four' },
      'bücher.example': { token: 'five' },
      'empty.example': {},
    });
    expect((await found({}, files)).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'one https://app.terraform.io',
      'two https://localhost:8443',
      'three undefined',
      'four undefined',
      'five https://xn--bcher-kva.example',
    ]);
  });

  it('no address, if two clients would send the token of one file to different places', async () => {
    const files = { '.vault-token': 'one\n' };
    expect(await found({ VAULT_ADDR: 'https://a.example', BAO_ADDR: 'https://b.example' }, files)).toEqual([
      '~/.vault-token one undefined',
    ]);
    expect(await found({ VAULT_ADDR: 'https://a.example' }, files)).toEqual([
      '~/.vault-token one https://a.example',
    ]);
  });
});

it('a file of credentials that is damaged or a folder has no token', async () => {
  expect(await found({}, { '.terraform.d/credentials.tfrc.json': '{"credentials": ' })).toEqual([]);
  expect(await found({}, { '.terraform.d/credentials.tfrc.json/x': '' })).toEqual([]);
});

it('the origin of an address is the one that requests are sent to, or undefined', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.string(), (url, text) => {
      expect(originOf(url)).toBe(new URL(url).origin);
      const odd = `https://app.terraform.io${text}`;
      const origin = originOf(odd);
      if (origin === 'https://app.terraform.io') expect(new URL(odd).host).toBe('app.terraform.io');
      else if (origin !== undefined) expect(new URL(odd).origin).toBe(origin);
    }),
  );
});
