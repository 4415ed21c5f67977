// A cluster that misbehaves when it reviews a JWT: every login gets the documented refusal in time, and no other information.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../support/rig/temporary-folder.ts';
import {
  withLifetime,
  type Misbehaviour,
  projectedClaims,
  sendJson,
  sign,
  UID,
  acceptingReview,
} from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { fixtures } from '../../../support/server/cluster-auth/replay/vectors.ts';
import { DIALECTS, type Logins, serveLogins } from '../../../support/server/cluster-auth/serve-logins.ts';
import { sha1Certificate } from '../../../support/server/cluster-auth/sha1-signer.ts';

const REFUSED = { status: 403, body: { errors: ['permission denied'] } };
const REVIEWER = 'reviewer-secret';

/** Confirms the JWT in a review that `change` has modified. */
function almost(change: (status: Record<string, unknown>) => void): Misbehaviour {
  return (response, { body }) => {
    const review = acceptingReview({}, body.spec.audiences) as { status: Record<string, unknown> };
    change(review.status);
    sendJson(response, 201, review);
  };
}

const user = (username: unknown, uid: unknown = UID) =>
  almost((status) => {
    status['user'] = { username, uid };
  });

const HUGE = 'x'.repeat(64 * 1024);

const misbehaviours: Readonly<Record<string, Misbehaviour>> = {
  'closes the connection': (response) => response.destroy(),
  'never answers': () => {},
  'stops in the middle': (response) => {
    response.writeHead(201, { 'content-length': 500 }).write('{"status": {');
  },
  'never ends': (response) => {
    const more = () => response.write(HUGE, () => setImmediate(more));
    response.writeHead(201);
    more();
  },
  'confirms it in a huge answer': (response, { body }) => {
    const review = acceptingReview({}, body.spec.audiences) as Record<string, unknown>;
    sendJson(response, 201, { padding: HUGE.repeat(20), ...review });
  },
  'sends no JSON': (response) => response.writeHead(201).end('<html>'),
  'sends nothing': (response) => response.writeHead(201).end(),
  'sends a list': (response) => sendJson(response, 201, []),
  'sends null': (response) => sendJson(response, 201, null),
  'confirms it with an error status': (response, { body }) =>
    sendJson(response, 500, acceptingReview({}, body.spec.audiences)),
  'sends a redirect': (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
  'confirms it and reports an error': almost((status) => {
    status['error'] = 'expired';
  }),
  'confirms it with the text "true"': almost((status) => {
    status['authenticated'] = 'true';
  }),
  'grants another audience': almost((status) => {
    status['audiences'] = ['other'];
  }),
  'grants no audience': almost((status) => {
    delete status['audiences'];
  }),
  'grants an audience as a text': almost((status) => {
    status['audiences'] = 'service';
  }),
  'names another account': user('system:serviceaccount:payments:admin'),
  'names another namespace': user('system:serviceaccount:kube-system:api'),
  'names another UID': user('system:serviceaccount:payments:api', 'other'),
  'names a UID that is a number': user('system:serviceaccount:payments:api', 7),
  'names no service account': user('system:node:payments:api'),
  'names a person': user('ann'),
  'names an account with an additional part': user('system:serviceaccount:payments:api:x'),
  'names no user': almost((status) => {
    delete status['user'];
  }),
  'echoes the reviewer`s JWT': (response, { bearer }) => sendJson(response, 401, { message: bearer }),
};

async function served(): Promise<Logins> {
  const logins = await serveLogins({ clusterTimeoutMs: 1500 });
  await logins.configure({ token_reviewer_jwt: REVIEWER });
  return logins;
}

describe('a login is refused when the cluster', () => {
  it.each(Object.entries(misbehaviours))('%s', async (_case, misbehaviour) => {
    const logins = await served();
    const jwt = await logins.cluster.issue();
    logins.cluster.misbehaviour = misbehaviour;
    expect(await logins.login(jwt)).toMatchObject(REFUSED);
    logins.cluster.misbehaviour = undefined;
    expect((await logins.login(jwt)).status).toBe(200);
  });

  it('cannot be reached', async () => {
    const logins = await served();
    await logins.configure({ cluster_host: 'http://127.0.0.1:1' });
    expect(await logins.login(await logins.cluster.issue())).toMatchObject(REFUSED);
  });

  it('has a scheme other than http and https, or is a host without TLS', async () => {
    const logins = await served();
    for (const host of [logins.cluster.url.replace('http://', ''), 'file:///etc', 'nonsense']) {
      await logins.configure({ cluster_host: host });
      expect(await logins.login(await logins.cluster.issue())).toMatchObject(REFUSED);
    }
  });

  it.each([
    ['a leading blank', ' http://127.0.0.1:PORT'],
    ['a trailing blank', 'http://127.0.0.1:PORT '],
    ['a trailing newline', 'http://127.0.0.1:PORT\n'],
    ['a tab in the scheme', 'ht\ttp://127.0.0.1:PORT'],
    ['no slash', 'http:127.0.0.1:PORT'],
    ['one slash', 'http:/127.0.0.1:PORT'],
    ['three slashes', 'http:///127.0.0.1:PORT'],
    ['backslashes', 'http:\\\\127.0.0.1:PORT'],
    ['a backslash after the host', 'http://127.0.0.1:PORT\\'],
    ['an escape in the host', 'http://127.0.0%2e1:PORT'],
    ['a short address', 'http://127.1:PORT'],
    ['an address as one number', 'http://2130706433:PORT'],
    ['an incomplete escape in the path', 'http://127.0.0.1:PORT/%f'],
  ])('has an invalid URL with %s', async (_case, host) => {
    const logins = await served();
    const { port } = new URL(logins.cluster.url);
    await logins.configure({ cluster_host: host.replace('PORT', port) });
    expect(await logins.login(await logins.cluster.issue())).toMatchObject(REFUSED);
    expect(logins.cluster.questions).toEqual([]);
  });

  it('has a certificate of another authority', async () => {
    const logins = await served();
    await logins.configure({ tls: true, cluster_ca_cert: sha1Certificate });
    expect(await logins.login(await logins.cluster.issue())).toMatchObject(REFUSED);
    expect(logins.cluster.questions).toEqual([]);
  });

  it('did not issue the JWT', async () => {
    const logins = await served();
    expect(await logins.login(await sign(withLifetime(projectedClaims())))).toMatchObject(REFUSED);
  });
});

it.each([
  ['a scheme in capitals', 'HTTP://127.0.0.1:PORT'],
  ['a name', 'http://LocalHost:PORT'],
  ['a trailing slash', 'http://127.0.0.1:PORT/'],
  ['a user', 'http://some:body@127.0.0.1:PORT'],
])('the cluster is reached by a URL with %s', async (_case, host) => {
  const logins = await served();
  const { port } = new URL(logins.cluster.url);
  await logins.configure({ cluster_host: host.replace('PORT', port) });
  expect(await logins.login(await logins.cluster.issue())).toMatchObject({ status: 200 });
});

it.each([
  ['neutral', 'cluster_host', 200],
  ['vault', 'kubernetes_host', 403],
  ['openbao', 'kubernetes_host', 403],
] as const)(
  'only one dialect accepts a host without a scheme: %s, in its %s, answers %i',
  async (dialect, key, status) => {
    const logins = await serveLogins({ dialect });
    const { host } = new URL(logins.cluster.tlsUrl);
    await logins.configure({ tls: true, [key]: host });
    expect((await logins.login(await logins.cluster.issue())).status).toBe(status);
    expect(logins.cluster.questions).toHaveLength(status === 200 ? 1 : 0);
  },
);

it('the path of the cluster URL is sent as it was written', async () => {
  const logins = await served();
  await logins.configure({ cluster_host: `${logins.cluster.url}/a//b/../c d/` });
  await logins.login(await logins.cluster.issue());
  expect(logins.cluster.questions).toMatchObject([
    { path: '/a//b/../c%20d/apis/authentication.k8s.io/v1/tokenreviews' },
  ]);
});

describe('the token of a review', () => {
  it('is the reviewer JWT of the config, or else the JWT of the login', async () => {
    const logins = await serveLogins();
    const jwt = await logins.cluster.issue();
    await logins.login(jwt);
    await logins.configure({ token_reviewer_jwt: REVIEWER });
    await logins.login(jwt);
    expect(logins.cluster.questions.map(({ bearer }) => bearer)).toEqual([jwt, REVIEWER]);
  });

  it.each(DIALECTS)(
    'is that of the service`s pod if the config of %s has no reviewer JWT and allows it',
    async (dialect) => {
      const { certificate } = fixtures().certs.ca;
      const inPod = temporaryFolder({ 'ca.crt': certificate, token: 'token-of-the-pod\n' });
      const logins = await serveLogins({ dialect, inPod });
      const ca = dialect === 'neutral' ? 'cluster_ca_cert' : 'kubernetes_ca_cert';
      const jwt = await logins.cluster.issue();
      await logins.configure({ tls: true, [ca]: '' });
      expect((await logins.login(jwt)).status).toBe(200);
      await logins.configure({ tls: true, token_reviewer_jwt: REVIEWER });
      expect((await logins.login(jwt)).status).toBe(200);
      await logins.configure({ tls: true, disable_local_ca_jwt: true });
      expect((await logins.login(jwt)).status).toBe(200);
      const bearers = logins.cluster.questions.map(({ bearer }) => bearer);
      expect(bearers).toEqual(['token-of-the-pod', REVIEWER, jwt]);
    },
  );
});

it('sends no review to a cluster with another certificate, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const logins = await serveLogins();
  await logins.configure({ tls: true, cluster_ca_cert: fixtures().certs.otherCa.certificate });
  expect(await logins.login(await logins.cluster.issue())).toMatchObject(REFUSED);
  expect(logins.cluster.questions).toEqual([]);
});
