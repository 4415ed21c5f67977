// Whose token a check has, as its process tells the worker: the service of the embedded service gives out tokens and says whose they are.
import { describe, expect, it } from 'vitest';
import type { FleetProcess } from '../../src/run/host.ts';
import { reportingUser, reportUser, sharedRateOf } from '../../src/run/fleet-process.ts';
import { listen } from '../support/http/loopback.ts';
import { open, rolesTarget } from '../support/http/open-for-test.ts';
import { serveLogins } from '../support/server/cluster-auth/serve-logins.ts';

interface Told {
  readonly identity: string;
  readonly user: string | undefined;
}

function openWorker(isKnown = false) {
  const told: Told[] = [];
  const asked: string[] = [];
  const fleet: FleetProcess = {
    targets: undefined,
    apply: undefined,
    wantsUser: async () => !isKnown,
    setUser: (_, identity, user) => told.push({ identity, user }),
    sharedRate: (address, identity) => {
      asked.push(`${address} ${identity}`);
      return { take: async () => ({ count: 0, wait: 0, apart: 0 }), pause() {}, observe() {} };
    },
  };
  return { fleet, told, asked };
}

async function tellAbout(url: string, token: string, worker = openWorker()) {
  const target = { ...rolesTarget, url };
  const provider = async () => token;
  const { reader, requests } = open({ url, target, token: provider });
  await reportUser(target, provider, { reader, fleet: worker.fleet });
  return { ...worker, requests: requests() };
}

describe('The user of a token of the secrets service', () => {
  it('is its entity, the same for all tokens of one account', async () => {
    const logins = await serveLogins();
    const [one, other] = [await logins.token(), await logins.token()];
    const { entity_id: entity } = await logins.lookUp(one);
    expect(entity).toMatch(/./);
    const first = await tellAbout(logins.url, one);
    const second = await tellAbout(logins.url, other);
    expect([first.told[0]?.user, second.told[0]?.user]).toEqual([entity, entity]);
    expect(first.told[0]?.identity).not.toBe(second.told[0]?.identity);
    expect(first.requests).toBe(1);
  });

  it('is not asked for when the worker knows it', async () => {
    const logins = await serveLogins();
    const { told, requests } = await tellAbout(logins.url, await logins.token(), openWorker(true));
    expect([told, requests]).toEqual([[], 0]);
  });

  it('is unknown for a token that belongs to no user, such as a root token', async () => {
    const logins = await serveLogins();
    const { told } = await tellAbout(logins.url, 'root-token');
    expect(told).toEqual([{ identity: expect.any(String), user: undefined }]);
  });

  it('is unknown for a token that may not ask, and is asked again later where the service is sealed', async () => {
    const forbidden = await listen(() => ({ status: 403, body: { errors: ['permission denied'] } }));
    expect((await tellAbout(forbidden.url, 'some-token')).told).toEqual([
      { identity: expect.any(String), user: undefined },
    ]);
    const sealed = await listen(() => ({ status: 503, body: { errors: ['Vault is sealed'] } }));
    expect((await tellAbout(sealed.url, 'some-token')).told).toEqual([]);
  });
});

it('takes start times one by one for a target with a limit of its own, which begins its requests later', async () => {
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

  it('is the one that the answer names, which needs no request', async () => {
    const logins = await serveLogins();
    await logins.role({ bound_service_account_names: ['*'] });
    const api = await logIn(logins.url, await logins.cluster.issue());
    expect([api.requests(), api.told]).toEqual([0, []]);
    await api.reader.get('/auth/token/lookup-self');
    const { entity_id: entity } = await logins.lookUp(await logins.token());
    const [, identity] = api.asked[0]?.split(' ') ?? [];
    expect(api.told).toEqual([{ identity, user: entity }]);
  });

  it('is unknown where the answer names none', async () => {
    const service = await listen(({ path }) =>
      path.endsWith('/login')
        ? { body: { auth: { client_token: 'a-token', entity_id: '' } } }
        : { body: { data: {} } },
    );
    const { reader, told } = await logIn(service.url, 'a.b.c');
    await reader.get('/auth/cluster/role/app');
    expect(told).toEqual([{ identity: expect.any(String), user: undefined }]);
  });

  it('is another one for the same role in another namespace', async () => {
    const { url } = await listen(() => ({ body: {} }));
    const [one, other] = [await logIn(url, 'a.b.c'), await logIn(url, 'a.b.c', { namespace: 'team-a' })];
    expect(one.asked[0]).not.toBe(other.asked[0]);
  });
});
