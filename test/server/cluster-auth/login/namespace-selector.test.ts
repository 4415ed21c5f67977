// Roles that admit namespaces by their labels, which the cluster is asked for.
import { describe, expect, it } from 'vitest';
import { sendJson } from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { type Logins, serveLogins } from '../../../support/server/cluster-auth/serve-logins.ts';

const REVIEWER = 'reviewer-secret';

async function served(selector: string): Promise<Logins> {
  const logins = await serveLogins({ clusterPatienceMs: 1500 });
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

it('asks for no namespace that is listed', async () => {
  const logins = await served('{"matchLabels":{"team":"a"}}');
  expect((await loginFrom(logins, 'payments')).status).toBe(200);
  expect(logins.cluster.questions.map(({ path }) => path)).toEqual([
    '/apis/authentication.k8s.io/v1/tokenreviews',
  ]);
});

it('never asks with the JWT of the login', async () => {
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

it('tells that the namespace could not be read, as the cluster words it', async () => {
  const logins = await served('{"matchLabels":{"team":"a"}}');
  expect((await loginFrom(logins, 'orders')).errors).toEqual([
    'namespace not authorized err=failed to get namespace (code 404 status namespaces "orders" not found)',
  ]);
});

describe('a JWT that nobody vouched for', () => {
  it.each(['\ud800', '..', '.', '../../apis/x', 'a/b', 'a?b=c', 'a#b', '%2e%2e', '..%2f'])(
    'cannot lead the reviewer elsewhere by the namespace %s',
    async (namespace) => {
      const logins = await served('{"matchLabels":{"team":"a"}}');
      expect((await loginFrom(logins, namespace)).status).toBe(403);
      const paths = logins.cluster.questions.map(({ path }) => path);
      expect(paths.filter((path) => !/^\/api\/v1\/namespaces\/[^/?]+$/.test(path))).toEqual([]);
    },
  );

  it('learns nothing of the reviewer`s JWT, even when the cluster echoes it', async () => {
    const logins = await served('{"matchLabels":{"team":"a"}}');
    logins.cluster.misbehaviour = (response, { bearer }) =>
      sendJson(response, 401, { status: 'Failure', message: `no: ${bearer}` });
    const reply = await loginFrom(logins, 'orders');
    expect(reply.status).toBe(403);
    expect(JSON.stringify(reply.body)).not.toContain(REVIEWER);
  });

  it('learns no part of the reviewer`s JWT, and nothing that base64 makes of it', async () => {
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

  it('does not wait for a cluster that never answers', async () => {
    const logins = await served('{"matchLabels":{"team":"a"}}');
    logins.cluster.misbehaviour = () => {};
    expect((await loginFrom(logins, 'orders')).errors).toEqual([
      'namespace not authorized err=failed to get namespace',
    ]);
  });
});
