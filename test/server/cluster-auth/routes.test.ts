// Behaviour of every request below /v1: envelope, verbs, paths, tokens and policies.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  dataOf,
  errorOf,
  ROOT,
  type ServedMount,
  serveMount,
} from '../../support/server/cluster-auth/serve-mount.ts';

const WEB = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DENIED = { status: 403, errors: ['1 error occurred:\n\t* permission denied\n\n'] };
const UNSUPPORTED_PATH = { status: 404, errors: ['1 error occurred:\n\t* unsupported path\n\n'] };
const UNSUPPORTED_OPERATION = { status: 405, errors: ['1 error occurred:\n\t* unsupported operation\n\n'] };

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
  await mount.send('POST', 'cluster/role/web', WEB);
});
afterAll(() => mount.close());

describe('the envelope', () => {
  it('wraps data with the request id and the empty parts of a secret', async () => {
    const reply = await mount.send('GET', 'cluster/role/web');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      request_id: expect.stringMatching(UUID),
      lease_id: '',
      renewable: false,
      lease_duration: 0,
      data: expect.objectContaining({ bound_service_account_names: ['web'] }),
      wrap_info: null,
      warnings: null,
      auth: null,
    });
  });

  it('forbids caching and has the content type JSON', async () => {
    const { headers } = await mount.send('GET', 'cluster/role/web');
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  });

  it('answers a write without warnings with an empty 204', async () => {
    const reply = await mount.send('POST', 'cluster/role/envelope', WEB);
    expect(reply).toMatchObject({ status: 204, body: undefined });
  });
});

describe('verbs', () => {
  it('treats PUT like POST', async () => {
    expect((await mount.send('PUT', 'cluster/role/put', WEB)).status).toBe(204);
    expect((await mount.send('GET', 'cluster/role/put')).status).toBe(200);
  });

  it('lists for LIST and for GET with any spelling of list=true', async () => {
    const { body } = await mount.send('LIST', 'cluster/role');
    for (const query of ['true', '1', 't', 'T', 'TRUE', 'True']) {
      const reply = await mount.send('GET', `cluster/role?list=${query}`);
      expect(dataOf(reply)).toEqual(dataOf({ body } as typeof reply));
    }
  });

  it('reads for GET with list=false', async () => {
    expect((await mount.send('GET', 'cluster/role/web?list=false')).status).toBe(200);
  });

  it('refuses a list parameter that is not a boolean', async () => {
    expect(errorOf(await mount.send('GET', 'cluster/role?list=yes'))).toEqual({ status: 400, errors: [] });
  });

  it('refuses other verbs', async () => {
    expect(errorOf(await mount.send('OPTIONS', 'cluster/config'))).toEqual({
      status: 400,
      errors: ['cannot handle internal-only request operation'],
    });
    expect((await mount.send('HEAD', 'cluster/config')).status).toBe(405);
  });

  it('refuses to PATCH a config or a role', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect(errorOf(await mount.send('PATCH', 'cluster/config', {}, { headers }))).toEqual(
      UNSUPPORTED_OPERATION,
    );
    expect(errorOf(await mount.send('PATCH', 'cluster/role/web', {}, { headers }))).toEqual(
      UNSUPPORTED_OPERATION,
    );
  });

  it('refuses a PATCH with another content type with 415, and without one with 400', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await mount.send('PATCH', 'cluster/role/web', {}, { headers })).status).toBe(415);
    expect((await mount.send('PATCH', 'cluster/role/web')).status).toBe(400);
  });

  it('refuses the wrong operation on a known path', async () => {
    for (const [method, path] of [
      ['GET', 'cluster/role'],
      ['POST', 'cluster/role'],
      ['DELETE', 'cluster/role'],
      ['DELETE', 'cluster/config'],
    ] as const) {
      expect(errorOf(await mount.send(method, path))).toEqual(UNSUPPORTED_OPERATION);
    }
  });
});

describe('paths', () => {
  it('serves a mount whose path has slashes, apart from the others', async () => {
    expect((await mount.send('POST', 'team/cluster/role/deep', WEB)).status).toBe(204);
    expect(dataOf(await mount.send('LIST', 'team/cluster/role'))).toEqual({ keys: ['deep'] });
    expect((await mount.send('GET', 'cluster/role/deep')).status).toBe(404);
  });

  it('answers that a path below a mount is unsupported', async () => {
    for (const path of [
      'cluster/role/x/y',
      'cluster/role/web/',
      'cluster/config/',
      'cluster/other',
      'cluster',
    ]) {
      expect(errorOf(await mount.send('GET', path)), path).toEqual(UNSUPPORTED_PATH);
    }
    expect(errorOf(await mount.send('LIST', 'cluster/config'))).toEqual(UNSUPPORTED_PATH);
    expect(errorOf(await mount.send('LIST', 'cluster/role/web'))).toEqual(UNSUPPORTED_PATH);
  });

  it('accepts role names of word characters with dots and dashes inside, and no others', async () => {
    for (const name of ['a', '_', 'a.b-c_D9', 'a..b']) {
      expect((await mount.send('POST', `cluster/role/${name}`, WEB)).status, name).toBe(204);
    }
    for (const name of ['-a', 'a-', '.a', 'a.', 'a%20b', 'a*', '%C3%A9']) {
      expect(errorOf(await mount.send('POST', `cluster/role/${name}`, WEB)), name).toEqual(UNSUPPORTED_PATH);
    }
  });

  it('names the route of an unknown mount', async () => {
    expect(errorOf(await mount.send('GET', 'nowhere/role/x'))).toEqual({
      status: 404,
      errors: ['no handler for route "auth/nowhere/role/x". route entry not found.'],
    });
    expect(errorOf(await mount.send('LIST', 'nowhere/role'))).toEqual({
      status: 404,
      errors: ['no handler for route "auth/nowhere/role/". route entry not found.'],
    });
  });

  it('refuses to write to a path that ends in a slash', async () => {
    expect(errorOf(await mount.send('POST', 'cluster/role/web/', WEB))).toEqual({
      status: 400,
      errors: ["cannot write to a path ending in '/'"],
    });
  });

  it('refuses a path that cannot be decoded', async () => {
    expect((await mount.send('GET', 'cluster/role/%E0%A4')).status).toBe(400);
  });

  it('redirects a path with ".." to the path that it means', async () => {
    const climbing = `${mount.url}/v1/auth/cluster/role/%2E%2E%2Fconfig`;
    const read = await fetch(climbing, { redirect: 'manual' });
    expect([read.status, read.headers.get('location')]).toEqual([307, '/v1/auth/cluster/config']);
    expect(await read.text()).toBe('<a href="/v1/auth/cluster/config">Temporary Redirect</a>.\n\n');
    const written = await fetch(climbing, { method: 'POST', redirect: 'manual' });
    expect([written.status, await written.text()]).toEqual([307, '']);
  });

  it('warns of unknown parameters of a read, and of a name beside the one in the path', async () => {
    const warningsOf = async (path: string) =>
      ((await mount.send('GET', path)).body as { warnings: unknown }).warnings;
    const replaced =
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]";
    expect(await warningsOf('cluster/role/web?b=1&a=2&audience=x')).toEqual([
      'Endpoint ignored these unrecognized parameters: [a b]',
    ]);
    expect(await warningsOf('cluster/role/web?name=other')).toEqual([replaced]);
    expect(await warningsOf('cluster/role?list=true')).toBeNull();
    expect(await warningsOf('cluster/role/web?list=false')).toEqual([
      'Endpoint ignored these unrecognized parameters: [list]',
    ]);
  });

  it('refuses a read with a parameter of a wrong type', async () => {
    const { status, errors } = errorOf(await mount.send('GET', 'cluster/role/web?token_ttl=soon'));
    expect(status).toBe(400);
    expect(errors[0]).toMatch(/^Field validation failed: error converting input for field "token_ttl": /);
  });
});

describe('bodies', () => {
  const names = async (role: string): Promise<unknown> =>
    dataOf(await mount.send('GET', `cluster/role/${role}`))['bound_service_account_names'];

  it('refuses broken JSON without repeating it', async () => {
    const { status, errors } = errorOf(await mount.send('POST', 'cluster/role/broken', '{"jwt": "secret'));
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [expect.stringMatching(/^failed to decode JSON input: /)],
    });
    expect(errors[0]).not.toContain('secret');
  });

  it('refuses JSON that is not an object', async () => {
    for (const body of ['[]', '3', '"text"']) {
      const { status, errors } = errorOf(await mount.send('POST', 'cluster/role/array', body));
      expect({ status, errors }).toEqual({
        status: 400,
        errors: [expect.stringMatching(/^failed to decode JSON input: /)],
      });
    }
  });

  it.each([
    ['bytes that are not UTF-8', {}, Buffer.from('{"audience":"caf\xe9"}', 'latin1')],
    ['half of a surrogate pair', {}, String.raw`{"audience":"\ud83d"}`],
    ['half of a surrogate pair in a name', {}, String.raw`{"\uDE00":"x"}`],
    [
      'a form whose escapes are not UTF-8',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'audience=caf%E9',
    ],
  ])('refuses %s with 400, and changes nothing', async (_what, headers, body) => {
    await mount.send('POST', 'cluster/role/well-formed', { ...WEB, audience: 'before' });
    const { status, errors } = errorOf(
      await mount.send('POST', 'cluster/role/well-formed', body, { headers }),
    );
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringMatching(/UTF-8|surrogate/)] });
    const shown = dataOf(await mount.send('GET', 'cluster/role/well-formed'));
    expect(shown['audience']).toBe('before');
  });

  it('reads an empty body as a write without fields', async () => {
    expect((await mount.send('POST', 'cluster/role/web')).status).toBe(204);
    expect((await mount.send('POST', 'cluster/role/web', 'null')).status).toBe(204);
    expect(await names('web')).toEqual(['web']);
  });

  it('reads JSON for any content type', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await mount.send('POST', 'cluster/role/typed', JSON.stringify(WEB), { headers });
    expect(await names('typed')).toEqual(['web']);
  });

  it('reads a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form =
      'bound_service_account_names=a&bound_service_account_names=b&bound_service_account_namespaces=n';
    await mount.send('POST', 'cluster/role/form', form, { headers });
    expect(await names('form')).toEqual(['a', 'b']);
  });

  it('accepts a body larger than a megabyte, and refuses one over 32', async () => {
    const big = { ...WEB, audience: 'x'.repeat(2_000_000) };
    expect((await mount.send('POST', 'cluster/role/big', big)).status).toBe(204);
    const huge = ' '.repeat(32 * 1024 * 1024 + 1);
    expect((await mount.send('POST', 'cluster/role/huge', huge)).status).toBe(413);
  });
});

describe('tokens', () => {
  const PLAIN = { status: 403, errors: ['permission denied'] };

  it('accepts a token as X-Service-Token or as a bearer', async () => {
    const bearer = { token: null, headers: { authorization: `Bearer ${ROOT}` } };
    expect((await mount.send('GET', 'cluster/role/web', undefined, bearer)).status).toBe(200);
  });

  it('denies a missing, an unknown and a misspelt token, even on a mount that does not exist', async () => {
    for (const path of ['cluster/role/web', 'nowhere/role/web', 'cluster/other']) {
      expect(errorOf(await mount.send('GET', path, undefined, { token: null }))).toEqual(PLAIN);
      expect(errorOf(await mount.send('GET', path, undefined, { token: 'unknown' }))).toEqual(PLAIN);
    }
    const misspelt = { token: null, headers: { authorization: `bearer ${ROOT}` } };
    expect(errorOf(await mount.send('GET', 'cluster/role/web', undefined, misspelt))).toEqual(PLAIN);
  });

  it('denies a token without policies unknown paths in the same way as known ones', async () => {
    for (const path of ['cluster/role/web', 'cluster/role/absent', 'cluster/other', 'nowhere/config']) {
      expect(errorOf(await mount.send('GET', path, undefined, { token: 'powerless' })), path).toEqual(DENIED);
    }
  });

  it('lets a reader read and list, and nothing else', async () => {
    const token = 'reader';
    expect((await mount.send('GET', 'cluster/role/web', undefined, { token })).status).toBe(200);
    expect((await mount.send('LIST', 'cluster/role', undefined, { token })).status).toBe(200);
    expect(errorOf(await mount.send('POST', 'cluster/role/web', WEB, { token }))).toEqual(DENIED);
    expect(errorOf(await mount.send('POST', 'cluster/config', {}, { token }))).toEqual(DENIED);
    expect(errorOf(await mount.send('DELETE', 'cluster/role/web', undefined, { token }))).toEqual(DENIED);
    expect(errorOf(await mount.send('GET', 'team/cluster/role/deep', undefined, { token }))).toEqual(DENIED);
  });

  it('requires create for a new role, and update for an existing one', async () => {
    expect((await mount.send('POST', 'cluster/role/made', WEB, { token: 'creator' })).status).toBe(204);
    expect(errorOf(await mount.send('POST', 'cluster/role/made', WEB, { token: 'creator' }))).toEqual(DENIED);
    expect((await mount.send('POST', 'cluster/role/made', WEB, { token: 'updater' })).status).toBe(204);
    expect(errorOf(await mount.send('POST', 'cluster/role/unmade', WEB, { token: 'updater' }))).toEqual(
      DENIED,
    );
  });

  it('lets a policy name the list with or without a slash', async () => {
    for (const token of ['lister', 'slash-lister']) {
      expect((await mount.send('LIST', 'cluster/role', undefined, { token })).status).toBe(200);
      expect(errorOf(await mount.send('GET', 'cluster/role/web', undefined, { token }))).toEqual(DENIED);
    }
  });

  it('applies an exact path before a wildcard that denies', async () => {
    const token = 'web-only';
    expect((await mount.send('GET', 'cluster/role/web', undefined, { token })).status).toBe(200);
    expect(errorOf(await mount.send('GET', 'cluster/role/put', undefined, { token }))).toEqual(DENIED);
  });
});
