// Differences between the dialects of the auth method that the recorded answers do not show.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ServerOptions, startServer } from '../../../src/server/start-server.ts';
import { fixtures } from '../../support/server/cluster-auth/replay/vectors.ts';

const { keys, certs } = fixtures();
const CA = certs.ca.certificate;
const ROLE = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

type Send = (method: string, path: string, body?: object) => Promise<Answer>;

/** A service that speaks this dialect, with one mount at its customary path. */
async function serve(dialect: string, options: Partial<ServerOptions> = {}): Promise<Send> {
  const mount = dialect === 'neutral' ? 'cluster' : 'kubernetes';
  const server = await startServer({
    data: ':memory:',
    relaxed: true,
    dialects: [dialect],
    seed: { mounts: [mount], 'service-tokens': [{ token: 'root', policies: ['root'] }] },
    ...options,
  });
  onTestFinished(() => server.close());
  const header = dialect === 'neutral' ? 'x-service-token' : 'x-vault-token';
  return async (method, path, body) => {
    const response = await fetch(`${server.url}/v1/auth/${mount}/${path}`, {
      method,
      headers: { [header]: 'root' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? {} : JSON.parse(text) };
  };
}

const refusal = (text: string) => expect.objectContaining({ status: 400, body: { errors: [text] } });

function podFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-pod-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ca.crt'), CA);
  writeFileSync(join(folder, 'token'), 'local-token');
  return folder;
}

describe('a config without a CA', () => {
  const host = { vault: 'kubernetes_host', openbao: 'kubernetes_host', neutral: 'cluster_host' };
  const local = 'open /var/run/secrets/kubernetes.io/serviceaccount/ca.crt: no such file or directory';

  it.each([
    ['vault', false, refusal(local)],
    ['vault', true, { status: 204 }],
    ['openbao', false, refusal(local)],
    ['openbao', true, refusal('kubernetes_ca_cert must be given when disable_local_ca_jwt is true')],
    ['neutral', false, { status: 204 }],
    ['neutral', true, { status: 204 }],
  ] as const)(
    'but with keys gets the answer of the dialect %s with disable_local_ca_jwt %s',
    async (dialect, disabled, answer) => {
      const send = await serve(dialect);
      const config = {
        [host[dialect]]: 'https://h',
        pem_keys: [keys.ec.public],
        disable_local_ca_jwt: disabled,
      };
      expect(await send('POST', 'config', config)).toMatchObject(answer);
    },
  );

  it.each(['vault', 'openbao', 'neutral'] as const)(
    'is accepted by %s in a pod, and shows neither the CA nor the token of the pod',
    async (dialect) => {
      const send = await serve(dialect, { inPod: podFolder() });
      const config = { [host[dialect]]: 'https://h' };
      expect(await send('POST', 'config', config)).toMatchObject({ status: 204 });
      const { body } = await send('GET', 'config');
      expect(body['data']).toMatchObject({ token_reviewer_jwt_set: false });
      expect(JSON.stringify(body)).not.toContain('BEGIN CERTIFICATE');
      expect(JSON.stringify(body)).not.toContain('local-token');
    },
  );

  it('is refused in a pod without a CA file, with the path of that file', async () => {
    const folder = podFolder();
    rmSync(join(folder, 'ca.crt'));
    const send = await serve('vault', { inPod: folder });
    expect(await send('POST', 'config', { kubernetes_host: 'https://h' })).toEqual(
      refusal(`open ${folder}/ca.crt: no such file or directory`),
    );
  });
});

it.each([
  ['neutral', 400],
  ['vault', 400],
  ['openbao', 204],
] as const)('only some dialects check the format of a CA: %s answers %i', async (dialect, status) => {
  const named = dialect === 'neutral' ? 'cluster' : 'kubernetes';
  const config = { [`${named}_host`]: 'https://h', [`${named}_ca_cert`]: 'no PEM' };
  expect(await (await serve(dialect))('POST', 'config', config)).toMatchObject({ status });
});

describe('keys', () => {
  const write = (send: Send, ...pem_keys: readonly string[]) =>
    send('POST', 'config', { kubernetes_host: 'https://h', kubernetes_ca_cert: CA, pem_keys });
  const noneOf = (dialect: string) =>
    dialect === 'vault'
      ? 'data does not contain any valid RSA or ECDSA public keys'
      : 'data does not contain any valid public keys';

  it('may be Ed25519 in openbao, but not in vault', async () => {
    expect(await write(await serve('openbao'), keys.ed25519.public)).toMatchObject({ status: 204 });
    expect(await write(await serve('vault'), keys.ed25519.public)).toEqual(refusal(noneOf('vault')));
  });

  it('may be followed by more text in vault, but not in openbao', async () => {
    const two = keys.ec.public + keys.rsa.public;
    expect(await write(await serve('vault'), two, `${keys.ec.public} more`)).toMatchObject({ status: 204 });
    const send = await serve('openbao');
    for (const element of [two, `${keys.ec.public} more`])
      expect(await write(send, element)).toEqual(refusal('unexpected trailing data after parsed PEM block'));
    expect(await write(send, `text before\n${keys.ec.public}`)).toMatchObject({ status: 204 });
  });

  it.each(['vault', 'openbao'])(
    'that are invalid are refused by %s with the error of its library',
    async (dialect) => {
      const send = await serve(dialect);
      const block = (hex: string) =>
        `-----BEGIN PUBLIC KEY-----\n${Buffer.from(hex, 'hex').toString('base64')}\n-----END PUBLIC KEY-----`;
      const words = async (pem: string) => ((await write(send, pem)).body['errors'] as string[])[0];
      expect(await words('no key')).toBe(noneOf(dialect));
      expect(await words(block('0102'))).toBe('x509: malformed certificate');
      expect(await words(block('3003020101ff'))).toBe('x509: trailing data');
      expect(await words(keys.ec.private)).toBe('x509: malformed tbs certificate');
      expect(await words(block('30053003040100'))).toBe('x509: malformed serial number');
      expect(await words(`x\n ${keys.ec.public}`)).toBe(noneOf(dialect));
    },
  );
});

describe('fields', () => {
  it('of one dialect are stored and returned there, and unknown to the others', async () => {
    const vault = await serve('vault');
    const audience = 'vault';
    expect(await vault('POST', 'role/a', { ...ROLE, audience, alias_metadata: { team: 'a' } })).toMatchObject(
      {
        status: 204,
      },
    );
    const { data } = (await vault('GET', 'role/a')).body as { data: Record<string, unknown> };
    expect(data['alias_metadata']).toEqual({ team: 'a' });
    expect(data).not.toHaveProperty('token_strictly_bind_ip');
    const over = { ...ROLE, audience, token_strictly_bind_ip: true, token_max_ttl: '800h' };
    expect((await vault('POST', 'role/b', over)).body['warnings']).toContain(
      'Endpoint ignored these unrecognized parameters: [token_strictly_bind_ip]',
    );
    const config = {
      kubernetes_host: 'https://h',
      kubernetes_ca_cert: CA,
      use_annotations_as_alias_metadata: true,
    };
    expect(await vault('POST', 'config', config)).toMatchObject({ status: 204 });
    expect((await vault('GET', 'config')).body['data']).toMatchObject({
      use_annotations_as_alias_metadata: true,
    });
    const openbao = await serve('openbao');
    await openbao('POST', 'config', config);
    expect((await openbao('GET', 'config')).body['data']).not.toHaveProperty(
      'use_annotations_as_alias_metadata',
    );
  });

  it('of real services do not exist in the dialect neutral', async () => {
    const send = await serve('neutral');
    await send('POST', 'role/a', { ...ROLE, alias_metadata: { team: 'a' }, token_strictly_bind_ip: true });
    const { data } = (await send('GET', 'role/a')).body as { data: object };
    for (const name of ['alias_metadata', 'token_strictly_bind_ip']) expect(data).not.toHaveProperty(name);
    await send('POST', 'config', {
      ...{ cluster_host: 'https://h', cluster_ca_cert: CA },
      use_annotations_as_alias_metadata: true,
    });
    expect((await send('GET', 'config')).body['data']).not.toHaveProperty(
      'use_annotations_as_alias_metadata',
    );
  });

  it('of the dialect neutral have other names than those of a real service', async () => {
    const body = { cluster_host: 'https://a', cluster_ca_cert: CA };
    expect(await (await serve('vault'))('POST', 'config', body)).toEqual(refusal('no host provided'));
    const real = { kubernetes_host: 'https://a', kubernetes_ca_cert: CA };
    expect(await (await serve('neutral'))('POST', 'config', real)).toEqual(refusal('no host provided'));
  });

  it('lead to a warning in vault if the audience is missing', async () => {
    const warned = await (await serve('vault'))('POST', 'role/Web', { ...ROLE, audience: '  ' });
    expect(warned.status).toBe(200);
    expect(warned.body['warnings']).toEqual([
      expect.stringMatching(/^Role web does not have an audience configured\./),
    ]);
    expect(await (await serve('openbao'))('POST', 'role/web', ROLE)).toMatchObject({ status: 204 });
  });
});

it('numbers of 64 bits are kept to the last digit', async () => {
  const send = await serve('openbao');
  const server = async (text: string) =>
    send('POST', 'role/web', { ...ROLE, token_num_uses: text, audience: 'x' });
  expect(await server('9223372036854775807')).toMatchObject({ status: 204 });
  expect(await server('9223372036854775808')).toMatchObject({ status: 400 });
  expect(await send('POST', 'role/web', { audience: 'y' })).toMatchObject({ status: 204 });
  expect((await send('GET', 'role/web')).text).toContain('"token_num_uses":9223372036854775807,');
});

describe('paths and verbs', () => {
  it('of no API get the 404 of the real service', async () => {
    const server = await startServer({ data: ':memory:', dialects: ['vault'] });
    onTestFinished(() => server.close());
    for (const path of ['/v2/auth', '/', '/v1', '//v1/auth']) {
      const response = await fetch(server.url + path);
      expect([response.status, await response.text()], path).toEqual([404, '{"errors":[]}\n']);
    }
    const other = await fetch(`${server.url}/api/v2/nothing`);
    expect(other.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
  });

  it.each([
    ['vault', 'alias_metadata (map)', 'token_strictly_bind_ip (bool)'],
    ['openbao', 'token_strictly_bind_ip (bool)', 'alias_metadata (map)'],
  ])('have a help text with the fields of the dialect %s', async (dialect, own, other) => {
    const send = await serve(dialect);
    const { status, body } = await send('GET', 'role/web?help=1');
    expect([status, Object.keys(body)]).toEqual([200, ['help', 'openapi', 'see_also']]);
    expect(body['help']).toContain(`    ${own}`);
    expect(body['help']).not.toContain(other);
    expect((await send('GET', '?help=1')).body['openapi']).toMatchObject({
      paths: { '/config': {}, '/login': {}, '/role': {}, '/role/{name}': { delete: {} } },
    });
    expect((await send('GET', 'login?help=1')).body['help']).toContain('    jwt (string)');
    expect((await send('GET', 'nothing?help=1')).status).toBe(404);
    expect((await send('GET', 'config?help=')).status).toBe(404);
  });

  it('have no help text in the dialect neutral', async () => {
    const send = await serve('neutral');
    expect(await send('GET', 'config?help=1')).toMatchObject({ status: 404, body: { errors: [] } });
  });

  it('list roles page by page only in openbao', async () => {
    const keysOf = async (dialect: string) => {
      const send = await serve(dialect);
      for (const name of ['a', 'b', 'c']) await send('POST', `role/${name}`, { ...ROLE, audience: 'x' });
      const { body } = await send('GET', 'role?list=true&after=a&limit=1');
      return (body['data'] as { keys: string[] }).keys;
    };
    expect(await keysOf('openbao')).toEqual(['b']);
    expect(await keysOf('vault')).toEqual(['a', 'b', 'c']);
    expect(await keysOf('neutral')).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['neutral', 200],
    ['vault', 200],
    ['openbao', 404],
  ] as const)('scan below a path only in openbao: %s answers %i', async (dialect, status) => {
    const send = await serve(dialect);
    await send('POST', 'role/a', { ...ROLE, audience: 'x' });
    expect((await send('GET', 'role/a?scan=true')).status).toBe(status);
  });

  it('of namespaces exist only in openbao, and vault ignores the namespace header', async () => {
    for (const [dialect, status] of [
      ['vault', 404],
      ['openbao', 204],
    ] as const) {
      const server = await startServer({
        data: ':memory:',
        dialects: [dialect],
        seed: { 'service-tokens': [{ token: 'root', policies: ['root'] }] },
      });
      onTestFinished(() => server.close());
      const send = (path: string, namespace: string, method = 'GET') =>
        fetch(`${server.url}/v1/${path}`, {
          method,
          headers: { 'x-vault-token': 'root', 'x-vault-namespace': namespace },
        });
      expect([dialect, (await send('sys/namespaces/team', '', 'DELETE')).status]).toEqual([dialect, status]);
      const elsewhere = await send('sys/auth', 'nowhere');
      expect([dialect, elsewhere.status]).toEqual([dialect, dialect === 'vault' ? 200 : 404]);
      expect(elsewhere.headers.get('x-vault-namespace')).toBe(dialect === 'vault' ? null : 'nowhere');
    }
  });

  it('require a valid duration in the header for response wrapping', async () => {
    const server = await startServer({ data: ':memory:', dialects: ['vault'] });
    onTestFinished(() => server.close());
    const refused = async (ttl: string) =>
      (await fetch(`${server.url}/v1/sys/health`, { headers: { 'x-vault-wrap-ttl': ttl } })).text();
    expect(await refused('soon')).toContain('error parsing X-Vault-Wrap-TTL header: ');
    expect(await refused('-1s')).toContain('requested wrap ttl cannot be negative');
  });
});
