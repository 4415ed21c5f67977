// Annotations of service accounts, which only the dialect vault turns into metadata.
import { expect, it } from 'vitest';
import {
  type Misbehaviour,
  sendJson,
  acceptingReview,
} from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { serveLogins } from '../../../support/server/cluster-auth/serve-logins.ts';

const PREFIX = 'vault.hashicorp.com/alias-metadata-';
const ACCOUNT = '/api/v1/namespaces/payments/serviceaccounts/api';

/** A cluster that confirms every JWT, and whose service account has these annotations. */
function annotated(annotations: unknown, status = 200): Misbehaviour {
  return (response, { path, body }) =>
    path === ACCOUNT
      ? sendJson(response, status, { kind: 'ServiceAccount', metadata: { annotations } })
      : sendJson(response, 201, acceptingReview({}, body.spec.audiences));
}

async function login(misbehaviour: Misbehaviour, dialect: 'vault' | 'openbao' = 'vault') {
  const logins = await serveLogins({ dialect });
  await logins.configure({ use_annotations_as_alias_metadata: true });
  logins.cluster.misbehaviour = misbehaviour;
  const reply = await logins.login(await logins.cluster.issue());
  return { reply, requestedPaths: logins.cluster.questions.map(({ path }) => path) };
}

it('reads the service account from the cluster after the cluster confirmed the JWT', async () => {
  const { reply, requestedPaths } = await login(annotated({ [`${PREFIX}team`]: 'a', other: 'x' }));
  expect(reply.status).toBe(200);
  expect(requestedPaths.at(-1)).toBe(ACCOUNT);
  expect(requestedPaths).toHaveLength(2);
});

it('accepts a service account without annotations', async () => {
  expect((await login(annotated(undefined))).reply.status).toBe(200);
});

it('refuses annotations that would replace metadata of the login', async () => {
  const { reply } = await login(annotated({ [`${PREFIX}service_account_name`]: 'admin' }));
  expect(reply).toMatchObject({ status: 400, errors: [expect.stringContaining('is reserved')] });
});

it('fails when the account cannot be read', async () => {
  expect((await login(annotated({}, 403))).reply.status).toBe(500);
});

it('refuses a service account whose name cannot be part of a path', async () => {
  const logins = await serveLogins({ dialect: 'vault' });
  await logins.configure({ use_annotations_as_alias_metadata: true });
  await logins.role({ bound_service_account_names: ['*'] });
  const reply = await logins.login(await logins.cluster.issue({ name: '\ud800' }));
  expect(reply).toMatchObject({ status: 403, errors: ['permission denied'] });
});

it('does not read the service account in a dialect without these annotations', async () => {
  const { reply, requestedPaths } = await login(annotated({}), 'openbao');
  expect([reply.status, requestedPaths.length]).toEqual([200, 1]);
});
