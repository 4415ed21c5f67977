// The user of a check's token, as its process reports it to the worker: the embedded service issues tokens and names their users.
import { describe, expect, it } from 'vitest';
import type { FleetProcess } from '../../src/run/host.ts';
import { reportingUser, reportUser, sharedRateOf } from '../../src/run/fleet-process.ts';
import { listen } from '../support/http/loopback.ts';
import { open, rolesTarget } from '../support/http/open-for-test.ts';
import { serveLogins } from '../support/server/cluster-auth/serve-logins.ts';

interface UserReport {
  readonly identity: string;
  readonly user: string | undefined;
}

function openWorker(isKnown = false) {
  const reports: UserReport[] = [];
  const asked: string[] = [];
  const fleet: FleetProcess = {
    targets: undefined,
    apply: undefined,
    wantsUser: async () => !isKnown,
    setUser: (_, identity, user) => reports.push({ identity, user }),
    sharedRate: (address, identity) => {
      asked.push(`${address} ${identity}`);
      return { take: async () => ({ count: 0, wait: 0, apart: 0 }), pause() {}, observe() {} };
    },
  };
  return { fleet, reports, asked };
}

async function reportFor(url: string, token: string, worker = openWorker()) {
  const target = { ...rolesTarget, url };
  const provider = async () => token;
  const { reader, requests } = open({ url, target, token: provider });
  await reportUser(target, provider, { reader, fleet: worker.fleet });
  return { ...worker, requests: requests() };
}

describe('The user of a token of the secrets service', () => {
  it('is its entity, which is the same for all tokens of one account', async () => {
    const logins = await serveLogins();
    const [one, other] = [await logins.token(), await logins.token()];
    const { entity_id: entity } = await logins.lookUp(one);
    expect(entity).toMatch(/./);
    const first = await reportFor(logins.url, one);
    const second = await reportFor(logins.url, other);
    expect([first.reports[0]?.user, second.reports[0]?.user]).toEqual([entity, entity]);
    expect(first.reports[0]?.identity).not.toBe(second.reports[0]?.identity);
    expect(first.requests).toBe(1);
  });

  it('is not read if the worker knows it', async () => {
    const logins = await serveLogins();
    const { reports, requests } = await reportFor(logins.url, await logins.token(), openWorker(true));
    expect([reports, requests]).toEqual([[], 0]);
  });

  it('is unknown for a token without a user, such as a root token', async () => {
    const logins = await serveLogins();
    const { reports } = await reportFor(logins.url, 'root-token');
    expect(reports).toEqual([{ identity: expect.any(String), user: undefined }]);
  });

  it('is unknown for a token that may not read it, and is read later if the service is sealed', async () => {
    const forbidden = await listen(() => ({ status: 403, body: { errors: ['permission denied'] } }));
    expect((await reportFor(forbidden.url, 'some-token')).reports).toEqual([
      { identity: expect.any(String), user: undefined },
    ]);
    const sealed = await listen(() => ({ status: 503, body: { errors: ['Vault is sealed'] } }));
    expect((await reportFor(sealed.url, 'some-token')).reports).toEqual([]);
  });
});

it('takes start times one by one for a target with its own limit', async () => {
  const taken: number[] = [];
  const { fleet } = openWorker();
  const counting: FleetProcess = {
    ...fleet,
    sharedRate: (address, identity) => ({
      ...fleet.sharedRate(address, identity),
      take: async (count) => {
        taken.push(count);
        return { count, wait: 0, apart: 0 };
      },
    }),
  };
  const token = async () => 'a-token';
  for (const requestsPerSecond of [2, undefined]) {
    const { requestsPerSecond: _, ...target } = rolesTarget;
    const limit = requestsPerSecond === undefined ? {} : { requestsPerSecond };
    await (await sharedRateOf({ ...target, ...limit }, token, { fleet: counting }))?.take(30, 0);
  }
  expect(taken).toEqual([1, 30]);
});

describe('The user of a login', () => {
  const logIn = async (url: string, jwt: string, more: object = {}) => {
    const login = { mount: 'cluster', role: 'app', jwt: { file: 'ci.jwt' } };
    const target = { ...rolesTarget, url, token: { login }, ...more };
    const worker = openWorker();
    const own = { login: { mount: 'cluster', role: 'app', jwt: async () => jwt } };
    const token = reportingUser(target, own, worker);
    await sharedRateOf(target, token, worker);
    const { reader, requests } = open({ url, target, token });
    await reportUser(target, token, { reader, fleet: worker.fleet });
    return { ...worker, reader, requests };
  };

  it('is read from the answer of the login, without a request', async () => {
    const logins = await serveLogins();
    await logins.role({ bound_service_account_names: ['*'] });
    const api = await logIn(logins.url, await logins.cluster.issue());
    expect([api.requests(), api.reports]).toEqual([0, []]);
    await api.reader.get('/auth/token/lookup-self');
    const { entity_id: entity } = await logins.lookUp(await logins.token());
    const [, identity] = api.asked[0]?.split(' ') ?? [];
    expect(api.reports).toEqual([{ identity, user: entity }]);
  });

  it('is unknown if the answer names none', async () => {
    const service = await listen(({ path }) =>
      path.endsWith('/login')
        ? { body: { auth: { client_token: 'a-token', entity_id: '' } } }
        : { body: { data: {} } },
    );
    const { reader, reports } = await logIn(service.url, 'a.b.c');
    await reader.get('/auth/cluster/role/app');
    expect(reports).toEqual([{ identity: expect.any(String), user: undefined }]);
  });

  it('differs for the same role in another namespace', async () => {
    const { url } = await listen(() => ({ body: {} }));
    const [one, other] = [await logIn(url, 'a.b.c'), await logIn(url, 'a.b.c', { namespace: 'team-a' })];
    expect(one.asked[0]).not.toBe(other.asked[0]);
  });
});
