// Bodies that the service reads, and bodies that it refuses because they would block all other requests for a long time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';
import {
  dataOf,
  errorOf,
  ROOT,
  type ServedMount,
  serveMount,
} from '../../support/server/cluster-auth/serve-mount.ts';

const WEB = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
const FORM = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
const TOO_MANY_TEXTS = 'refused JSON input due to high complexity: exceeded maximum number of strings';
const TOO_MUCH = { status: 400, errors: ['failed to decode JSON input: there is too much in it'] };

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
});
afterAll(() => mount.close());

const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));

it('reads a text of many megabytes, with quotes and escapes in it', async () => {
  const audience = String.raw`\"é\\`.repeat(1_500_000);
  const body = `{"audience":"${audience}","bound_service_account_names":"web","bound_service_account_namespaces":"shop"}`;
  expect((await mount.send('POST', 'cluster/role/long', body)).status).toBe(204);
  const read = dataOf(await mount.send('GET', 'cluster/role/long'))['audience'];
  expect(read === JSON.parse(`"${audience}"`)).toBe(true);
});

it('trims a text with many blanks', async () => {
  const name = `a${' '.repeat(1_000_000)}b`;
  const body = { ...WEB, bound_service_account_names: [` ${name}\t`] };
  expect((await mount.send('POST', 'cluster/role/blank', body)).status).toBe(204);
  const read = dataOf(await mount.send('GET', 'cluster/role/blank'))['bound_service_account_names'];
  expect((read as string[])[0] === name).toBe(true);
});

it.each([
  ['nested a million times', `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`],
  ['of a million opening brackets', '['.repeat(1e6)],
  ['with 400,000 members', JSON.stringify(members(400_000))],
  ['with a list of 400,000 elements', JSON.stringify({ a: Array.from({ length: 400_000 }, () => 1) })],
])('refuses a body %s, with or without a token', async (_what, body) => {
  expect(errorOf(await mount.send('POST', 'cluster/role/x', body))).toEqual(TOO_MUCH);
  expect(errorOf(await mount.send('POST', 'cluster/login', body, { token: null }))).toEqual(TOO_MUCH);
});

it('reads deeply nested values', async () => {
  const body = { ...WEB, other: JSON.parse('['.repeat(200) + ']'.repeat(200)) };
  expect((await mount.send('POST', 'cluster/role/deep', body)).status).toBe(204);
});

it.each([
  ['openbao', 900, 204],
  ['openbao', 1100, 400],
  ['vault', 299, 200],
  ['vault', 301, 400],
] as const)(
  'in the dialect %s a value nested %i levels deep is answered %i',
  async (dialect, levels, status) => {
    const logins = await serveLogins({ dialect });
    const other = JSON.parse('['.repeat(levels - 1) + ']'.repeat(levels - 1));
    expect((await logins.role({ other })).status).toBe(status);
    const names = await logins.role({ bound_service_account_names: other });
    expect(names.status).toBe(400);
    expect(names.errors?.[0]?.includes('there is too much in it')).toBe(status === 400);
  },
);

it.each(['x', 'text/plain', ';', 'application/json; charset='])(
  'reads a body as JSON with any content type: %j',
  async (type) => {
    const headers = { 'content-type': type };
    expect((await mount.send('POST', 'cluster/role/typed', WEB, { headers })).status).toBe(204);
  },
);

it('reads the body of a PATCH before it refuses the verb', async () => {
  const headers = { 'content-type': 'application/merge-patch+json' };
  expect((await mount.send('PATCH', 'cluster/role/x', '{', { headers })).status).toBe(400);
  expect((await mount.send('PATCH', 'cluster/role/x', '{}', { headers })).status).toBe(405);
  expect(
    (await mount.send('PATCH', 'cluster/role/x', '{}', { headers: { 'content-type': 'x' } })).status,
  ).toBe(415);
});

it('ignores invalid pairs of a query', async () => {
  await mount.send('POST', 'cluster/role/web', WEB);
  const { body } = await mount.send('GET', 'cluster/role/web?a;b=c&%zz=1&audience=%f&d=e+f');
  expect(body).toMatchObject({
    warnings: ['Endpoint ignored these unrecognized parameters: [d]'],
  });
});

describe('a form', () => {
  it.each(['audience=%zz', 'audience=%a', 'a;b=c', '%=x'])('that is invalid is refused: %s', async (form) => {
    const { status, errors } = errorOf(await mount.send('POST', 'cluster/role/x', form, FORM));
    expect({ status, errors }).toEqual({ status: 400, errors: ['error parsing form data'] });
  });

  it('may have plus signs, escapes, names without values and empty pairs', async () => {
    const form = 'bound_service_account_names=a%2Cb&&bound_service_account_namespaces=c&audience=d+%C3%A9&x';
    expect((await mount.send('POST', 'cluster/role/form', form, FORM)).status).toBe(204);
    expect(dataOf(await mount.send('GET', 'cluster/role/form'))).toMatchObject({
      bound_service_account_names: ['a', 'b'],
      audience: 'd é',
    });
  });

  const form = (count: number) =>
    new URLSearchParams(Object.keys(members(count)).map((name): [string, string] => [name, '1']));

  it('may have ninety thousand names', async () => {
    const body = `${form(90_000)}&bound_service_account_names=a&bound_service_account_names=b`;
    const answer = await mount.send(
      'POST',
      'cluster/role/form',
      `${body}&bound_service_account_namespaces=c`,
      FORM,
    );
    expect(answer.status).toBe(204);
    expect(dataOf(await mount.send('GET', 'cluster/role/form'))['bound_service_account_names']).toEqual([
      'a',
      'b',
    ]);
  });

  it('may not have two hundred thousand names', async () => {
    expect(errorOf(await mount.send('POST', 'cluster/role/x', String(form(200_000)), FORM))).toEqual({
      status: 400,
      errors: ['failed to parse form data: there is too much in it'],
    });
  });
});

it.each([
  ['neutral', 1001, 204],
  ['vault', 1001, 200],
  ['openbao', 1000, 204],
  ['openbao', 1001, 400],
] as const)(
  'in the dialect %s a body of %i texts, names included, is answered %i',
  async (dialect, texts, status) => {
    const logins = await serveLogins({ dialect });
    const bound_service_account_names = Array.from({ length: texts - 3 }, (_, at) => `svc-${at}`);
    const reply = await logins.role({ bound_service_account_names });
    expect(reply.status).toBe(status);
    expect(reply.errors).toEqual(status === 400 ? [TOO_MANY_TEXTS] : undefined);
  },
);

describe('a request for response wrapping', () => {
  const wrapped = (ttl: string, token: string | null = ROOT) => ({
    token,
    headers: { 'x-service-wrap-ttl': ttl },
  });
  const REFUSED = { status: 400, errors: ['answers cannot be wrapped here'] };

  it('is refused if its answer has data', async () => {
    expect(errorOf(await mount.send('GET', 'cluster/role?list=true', undefined, wrapped('60')))).toEqual(
      REFUSED,
    );
    expect((await mount.send('GET', 'cluster/role?list=true', undefined, wrapped('0s'))).status).toBe(200);
  });

  it('creates no token', async () => {
    const listed = async () => dataOf(await mount.send('GET', 'token/accessors?list=true'))['keys'];
    const before = await listed();
    for (const path of ['token/create', 'token/renew-self', 'cluster/login'])
      expect(errorOf(await mount.send('POST', path, {}, wrapped('500ms')))).toEqual(REFUSED);
    expect(await listed()).toEqual(before);
  });

  it('is executed if its answer has no body', async () => {
    expect((await mount.send('POST', 'cluster/role/wrapped', WEB, wrapped('60'))).status).toBe(204);
    expect((await mount.send('GET', 'cluster/role/wrapped')).status).toBe(200);
  });
});

it.each(['%ff', '%E0%A4', '%zz'])('refuses a path that ends in %s, without an error text', async (end) => {
  const { status, body } = await mount.send('GET', `cluster/role/${end}`);
  expect({ status, body }).toEqual({ status: 400, body: { errors: [] } });
});
