// Roles that admit namespaces by their labels, which are read from the cluster.
import { describe, expect, it } from 'vitest';
import { sendJson } from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { type Logins, serveLogins } from '../../../support/server/cluster-auth/serve-logins.ts';

const REVIEWER = 'reviewer-secret';

async function served(selector: string): Promise<Logins> {
  const logins = await serveLogins({ clusterTimeoutMs: 1500 });
  await logins.configure({ token_reviewer_jwt: REVIEWER });
  await logins.role({
    bound_service_account_namespaces: ['payments'],
    bound_service_account_namespace_selector: selector,
  });
  return logins;
}

const loginFrom = async (logins: Logins, namespace: string) =>
  logins.login(await logins.cluster.issue({ namespace }));

it('admits a namespace that has all the labels', async () => {
  const logins = await served('{"matchLabels":{"team":"a","tier":"1"}}');
  logins.cluster.labels['orders'] = { team: 'a', tier: '1', more: 'x' };
  logins.cluster.labels['other'] = { team: 'a' };
  expect(await loginFrom(logins, 'orders')).toMatchObject({ status: 200 });
  expect(await loginFrom(logins, 'other')).toMatchObject({
    status: 403,
    errors: ['namespace not authorized'],
  });
});

it('does not read a namespace that the role lists', async () => {
  const logins = await served('{"matchLabels":{"team":"a"}}');
  expect((await loginFrom(logins, 'payments')).status).toBe(200);
  expect(logins.cluster.questions.map(({ path }) => path)).toEqual([
    '/apis/authentication.k8s.io/v1/tokenreviews',
  ]);
});

it('never reads a namespace with the JWT of the login', async () => {
  const logins = await served('{"matchLabels":{"team":"a"}}');
  await logins.configure();
  expect(await loginFrom(logins, 'orders')).toMatchObject({
    status: 403,
    errors: [
      'namespace not authorized err=namespace lookup failed: TokenReviewer JWT needs to be configured to use namespace selectors',
    ],
  });
  expect(logins.cluster.questions).toEqual([]);
});

it('answers the cluster`s error when the namespace cannot be read', async () => {
  const logins = await served('{"matchLabels":{"team":"a"}}');
  expect((await loginFrom(logins, 'orders')).errors).toEqual([
    'namespace not authorized err=failed to get namespace (code 404 status namespaces "orders" not found)',
  ]);
});

describe('a JWT that the cluster has not confirmed', () => {
  it.each(['\ud800', '..', '.', '../../apis/x', 'a/b', 'a?b=c', 'a#b', '%2e%2e', '..%2f'])(
    'cannot make the reviewer read another path with the namespace %s',
    async (namespace) => {
      const logins = await served('{"matchLabels":{"team":"a"}}');
      expect((await loginFrom(logins, namespace)).status).toBe(403);
      const paths = logins.cluster.questions.map(({ path }) => path);
      expect(paths.filter((path) => !/^\/api\/v1\/namespaces\/[^/?]+$/.test(path))).toEqual([]);
    },
  );

  it('gets an error without the reviewer`s JWT, even when the cluster echoes it', async () => {
    const logins = await served('{"matchLabels":{"team":"a"}}');
    logins.cluster.misbehaviour = (response, { bearer }) =>
      sendJson(response, 401, { status: 'Failure', message: `no: ${bearer}` });
    const reply = await loginFrom(logins, 'orders');
    expect(reply.status).toBe(403);
    expect(JSON.stringify(reply.body)).not.toContain(REVIEWER);
  });

  it('gets an error without any part of the reviewer`s JWT, plain or in base64', async () => {
    const logins = await served('{"matchLabels":{"team":"a"}}');
    const reviewer = ['eyJhbGciOiJSUzI1NiJ9', 'eyJzdWIiOiJyZXZpZXdlciJ9', 'c2lnbmF0dXJlPz8_'].join('.');
    await logins.configure({ token_reviewer_jwt: reviewer });
    const parts = [...reviewer.split('.'), reviewer];
    const encoded = ['', 'a', 'ab'].flatMap((before) =>
      (['base64', 'base64url'] as const).map((form) => Buffer.from(`${before}${reviewer};`).toString(form)),
    );
    logins.cluster.misbehaviour = (response) =>
      sendJson(response, 401, { message: `not for ${[...parts, ...encoded].join(' or ')}` });
    const [error = ''] = (await loginFrom(logins, 'orders')).errors ?? [];
    expect(error).toMatch(/status not for [ or]+/);
    for (const secret of [...parts, ...encoded]) expect(error).not.toContain(secret.slice(4, -4));
  });

  it('is refused after a timeout if the cluster never answers', async () => {
    const logins = await served('{"matchLabels":{"team":"a"}}');
    logins.cluster.misbehaviour = () => {};
    expect((await loginFrom(logins, 'orders')).errors).toEqual([
      'namespace not authorized err=failed to get namespace',
    ]);
  });
});

describe('a selector', () => {
  const written = async (selector: string) => {
    const logins = await serveLogins();
    const reply = await logins.role({ bound_service_account_namespace_selector: selector });
    return { status: reply.status, errors: reply.errors };
  };

  it.each(['\t', ' \t', '\n\t', '# none\n\t', '{matchLabels: {team: a}}\n\t', '\t{matchLabels: {team: a}}'])(
    'with a tab at the beginning of a line is refused: %j',
    async (selector) => {
      expect(await written(selector)).toEqual({
        status: 400,
        errors: ['invalid "bound_service_account_namespace_selector" configured'],
      });
    },
  );

  it.each(['!!binary aGk=', '!!binary ""', '!!str x', '2020-01-01', '0x10', '- a'])(
    'that is not a mapping is refused: %j',
    async (selector) => {
      expect((await written(selector)).status).toBe(400);
    },
  );

  it.each([
    ['a number in another notation', 'matchLabels: {team: 0x10}', '16'],
    ['an octal number', 'matchLabels: {team: 010}', '8'],
    ['an octal number with its letter', 'matchLabels: {team: 0o17}', '15'],
    ['a number with an exponent', 'matchLabels: {team: 1e3}', '1000'],
    ['a fraction in JSON', '{"matchLabels":{"team":1.50}}', '1.5'],
    ['a number in quotes', 'matchLabels: {team: "0x10"}', '0x10'],
    ['more than 63 bits', 'matchLabels: {team: 12345678901234567890}', '12345678901234567890'],
    ['a date', 'matchLabels: {team: 2020-01-01}', '2020-01-01'],
    ['an old boolean', 'matchLabels: {team: yes}', 'true'],
    ['bytes', 'matchLabels: {team: !!binary YQ==}', 'a'],
    ['an unknown type', '!x {matchLabels: !y {team: !z a}}', 'a'],
    ['a name twice, where the last one counts', 'matchLabels: {team: b, team: a}', 'a'],
    ['tabs in JSON', '{\n\t"matchLabels": {\t"team": "a" }\n}', 'a'],
  ])('reads labels like the real service: %s', async (_what, selector, team) => {
    const logins = await served(selector);
    logins.cluster.labels['orders'] = { team };
    logins.cluster.labels['other'] = { team: 'b' };
    expect((await loginFrom(logins, 'orders')).status).toBe(200);
    expect((await loginFrom(logins, 'other')).errors).toEqual(['namespace not authorized']);
  });

  it.each([
    ['in JSON', '{"matchLabels":{"team":"a"},"matchLabels":{"tier":"1"}}'],
    ['in YAML, in another case', 'matchLabels: {team: a}\nMatchLabels: {tier: 1}'],
  ])('requires the labels of both members when matchLabels is repeated, %s', async (_what, selector) => {
    const logins = await served(selector);
    logins.cluster.labels['orders'] = { team: 'a', tier: '1' };
    logins.cluster.labels['other'] = { tier: '1' };
    logins.cluster.labels['third'] = { team: 'a' };
    expect((await loginFrom(logins, 'orders')).status).toBe(200);
    for (const namespace of ['other', 'third'])
      expect((await loginFrom(logins, namespace)).errors).toEqual(['namespace not authorized']);
  });

  it.each([
    ['matchLabels: {team: 1e21}', 'values[0][team]: Invalid value: "1e+21"'],
    ['matchLabels: {team: 2020-01-01T00:00:00Z}', 'values[0][team]: Invalid value: "2020-01-01T00:00:00Z"'],
    ['matchLabels: {"a b": x}', 'key: Invalid value: "a b"'],
  ])(
    'with an invalid label admits no namespace, and the error names the reason: %s',
    async (selector, because) => {
      const logins = await served(selector);
      logins.cluster.labels['orders'] = { team: '2020-01-01T00:00:00Z', 'a b': 'x' };
      const { status, errors = [] } = await loginFrom(logins, 'orders');
      expect(status).toBe(403);
      expect(errors[0]).toContain(`namespace not authorized err=${because}`);
    },
  );
});
