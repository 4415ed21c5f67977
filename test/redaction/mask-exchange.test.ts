/** What a trace hides in requests and responses, even if the run does not know the secret. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { maskBody, maskHeader, maskLinks, maskText } from '../../src/redaction/mask-exchange.ts';

const hidden = 'known-to-the-service-only-4711';

describe('a header', () => {
  it.each([
    'authorization',
    'x-vault-token',
    'x-service-token',
    'set-cookie',
    'cookie',
    'private-token',
    'x-new',
    'x-ratelimit-token',
    'x-ratelimit-secret',
    'x-ratelimit-key',
    'x-api-key',
  ])('called %s shows only its name', (name) => {
    expect(maskHeader(name, hidden)).toBe('[secret]');
  });

  it.each([
    ['content-type', 'application/json'],
    ['retry-after', '3'],
    ['x-ratelimit-remaining', '29'],
    ['x-request-id', '51cefd10-d965-41f4-9820-5828e8bed5f8'],
    ['x-vault-namespace', 'platform/eu'],
    ['x-api-version', '2.6'],
    ['x-token-version', '3'],
  ])('that is known to be harmless (%s) is shown', (name, value) => {
    expect(maskHeader(name, value)).toBe(value);
  });

  it('with a link hides its parameters and its password', () => {
    expect(maskHeader('location', `https://me:${hidden}@host/x?sig=${hidden}`)).toBe(
      'https://***@host/x?sig=[secret]',
    );
  });

  it.each([
    [`/login?code=${hidden}`, '/login?code=[secret]'],
    [`login?page=2&code=${hidden}`, 'login?page=2&code=[secret]'],
    [`?${hidden}`, '?[secret]'],
    [`/v1/object/${'dmF1bHQ6djE6'.repeat(8)}${hidden}`, '/v1/object/[secret]'],
    [`//me:a?${hidden}@host/x`, '//***@host/x'],
    [`/login#access_token=${hidden}`, '/login#[secret]'],
    [
      `/login;jsessionid=${hidden}?a=${hidden};b=${hidden}`,
      '/login;jsessionid=[secret]?a=[secret];b=[secret]',
    ],
  ])('with a reference without a host hides them, too: %s', (reference, shown) => {
    expect(maskHeader('location', reference)).toBe(shown);
    expect(maskHeader('link', `<${reference}>; rel="next", </x?page=2>`)).toBe(
      `<${shown}>; rel="next", </x?page=2>`,
    );
  });
});

describe('a member', () => {
  it.each([
    'token',
    'client_token',
    'clientToken',
    'token_reviewer_jwt',
    'jwt',
    'secret_id',
    'password',
    'private-key',
    'accessor',
    'pwd',
    'db_pwd',
    'pat',
    'otp',
    'totp',
    'bearer',
    'ssh_key',
    'sshKey',
    'connection_string',
    'connectionString',
    'keys_base64',
    'webhook-url',
    'upload-url',
    'hosted-state-download-url',
    'hosted-json-state-download-url',
    'log-read-url',
  ])('called %s is hidden with all its content', (name) => {
    for (const value of [hidden, [hidden], { inner: { deep: [hidden] } }] satisfies Json[])
      expect(JSON.stringify(maskBody({ data: [{ attributes: { [name]: value } }] }))).not.toContain(hidden);
  });

  it('of "auth" is hidden, but neither its policies nor its lifetime', () => {
    const auth = { client_token: hidden, other: hidden, token_policies: ['ci'], lease_duration: 3600 };
    expect(maskBody({ auth })).toEqual({
      auth: { client_token: '[secret]', other: '[secret]', token_policies: ['ci'], lease_duration: 3600 },
    });
  });

  it('that the service marks as sensitive is hidden', () => {
    expect(maskBody({ sensitive: true, value: hidden, name: 'db' })).toEqual({
      sensitive: true,
      value: '[secret]',
      name: 'db',
    });
  });

  it.each([
    ['token_ttl', 3600],
    ['token_policies', ['reader']],
    ['token_bound_cidrs', ['10.0.0.0/8']],
    ['oauth-token-id', 'ot-1'],
    ['name', 'web'],
    ['working-directory', 'api'],
    ['ssh_key_id', 'sshkey-1'],
    ['ssh-key-id', 'sshkey-1'],
    ['path', '/patches'],
    ['keys', ['web', 'a-role-with-a-rather-long-name-for-production', 'Web2']],
    ['key', 'environment'],
  ])('that is a setting (%s) is shown', (name, value) => {
    expect(maskBody({ [name]: value })).toEqual({ [name]: value });
  });
});

const shares = [
  '0f3d77aa18d24711a0b1c2d3e4f50617a8b9cadbecfd0e1f2a3b4c5d6e7f8091a2',
  'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo0NzEx',
];

describe('a key share', () => {
  it.each(shares)('is hidden under "keys" and "key", wherever they are: %s', (share) => {
    const body = { data: [{ keys: ['web', share] }], key: share, more: { keys: { first: { keys: share } } } };
    expect(JSON.stringify(maskBody(body))).not.toContain(share);
    expect(maskText(`"keys": ["web", "${share}"`)).not.toContain(share);
  });
});

describe('a text in another form than JSON', () => {
  it.each([
    `{"auth":{"client_token":"${hidden}","policies":["ci"]`,
    `{"auth":{"client_token":"${hidden}`,
    String.raw`"{\"client_token\":\"${hidden}\"}"`,
    `{&quot;client_token&quot;:&quot;${hidden}&quot;}`,
    `{'password': '${hidden}'}`,
    `user=me&password=${hidden}&page=2`,
    `data: password=${hidden}`,
    `X-Service-Token: ${hidden}`,
    `Authorization: Bearer ${hidden}`,
    `Authorization: Token ${hidden}`,
    `pwd => ${hidden}`,
    `secret_id:\n  ${hidden}`,
    `tokens=["a", "${hidden}"]`,
  ])('hides the value after the name of a secret: %s', (text) => {
    expect(maskText(text)).not.toContain(hidden);
    expect(JSON.stringify(maskBody({ errors: [text] }))).not.toContain(hidden);
  });

  it.each([
    '502: the upstream is not reachable',
    'namespace: platform/eu, name=web; page=2',
    'permission denied: token_ttl=3600',
    'missing client token',
  ])('is shown if it has no secret: %s', (text) => {
    expect(maskText(text)).toBe(text);
  });
});

describe('a text that looks like a secret', () => {
  it.each([
    'hvs.abc123',
    'hvb.abc123',
    's.0123456789abcdefghijklmn',
    'bearer 0123abc',
    'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjaSJ9.c2lnbmF0dXJl',
    'hvs.CAESIJlWTnUmtgk3uQ8dJ0a1',
    'ghp_0123456789abcdefghijKLMN',
    'glpat-0123456789abcdefghij',
    'AbCd1234.atlasv1.zYxWvUtS0987',
    'Bearer 0123456789abcdef',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----',
  ])('is hidden in any member: %s', (text) => {
    const [longest = ''] = text.split(/\s/).sort((a, b) => b.length - a.length);
    expect(JSON.stringify(maskBody({ description: `see ${text} here` }))).not.toContain(longest);
    expect(maskText(`see ${text} here`)).not.toContain(longest);
  });
});

describe('a link', () => {
  it('keeps its page and its filter', () => {
    const link = 'https://host/api/v2/workspaces?sort=name&page%5Bnumber%5D=2&filter[tagged][0][key]=env';
    expect(maskLinks(link)).toBe(link);
  });

  it.each([
    `https://host/file?X-Amz-Signature=${hidden}`,
    `https://host/file?page[number]=2&sig=${hidden}`,
    `https://host/file#${hidden}`,
    `https://user:${hidden}@host/file`,
    `https://store.host/v1/object/${'dmF1bHQ6djE6'.repeat(8)}${hidden}`,
  ])('hides everything that gives access: %s', (link) => {
    expect(maskLinks(`see ${link} for it`)).not.toContain(hidden);
    expect(maskLinks(link)).toMatch(/^https:\/\/(\*\*\*@)?(store\.)?host\//);
  });
});
