import { expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestAnswer,
  type TestClient,
} from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';

/** A service whose clock only `wait` moves: all requests before are in the same second. */
async function serveLimited(
  rateLimit: number,
): Promise<{ api: TestClient; wait: (milliseconds: number) => void }> {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const api = await serveForTest({ rateLimit, now: () => new Date(time) });
  return {
    api,
    wait: (milliseconds) => {
      time += milliseconds;
    },
  };
}

function limits({ headers }: TestAnswer): (string | null)[] {
  return ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers.get(name));
}

it('answers the remaining requests and seconds in every response', async () => {
  const { api, wait } = await serveLimited(10);
  expect(limits(await api.get(LIST))).toEqual(['10', '9', '1.000']);
  wait(250);
  expect(limits(await api.create({ name: 'a' }))).toEqual(['10', '8', '0.750']);
  expect(limits(await api.create({ name: 'a' }))).toEqual(['10', '7', '0.750']);
  expect(limits(await api.get('/nowhere'))).toEqual(['10', '6', '0.750']);
  expect(limits(await api.send('PUT', LIST))).toEqual(['10', '5', '0.750']);
  expect(limits(await api.post(LIST, 'not json'))).toEqual(['10', '4', '0.750']);
  expect(limits(await api.as('nobody').get(LIST))).toEqual(['10', '9', '0.750']);
});

it('answers 429 above the limit without executing the request, until the second is over', async () => {
  const { api, wait } = await serveLimited(2);
  await api.get(LIST);
  await api.get(LIST);
  const refused = await api.create({ name: 'a' });
  expect(refused.status).toBe(429);
  expect(limits(refused)).toEqual(['2', '0', '1.000']);
  expect(refused.headers.get('content-type')).toContain('application/vnd.api+json');
  expect(refused.errors).toEqual([{ status: '429', title: 'Too many requests', detail: expect.any(String) }]);
  wait(999);
  expect((await api.get(LIST)).status).toBe(429);
  wait(1);
  expect((await api.get(LIST)).names).toEqual([]);
});

it('counts all tokens of a user together, and other users apart', async () => {
  const seed = seedWith({});
  const elsewhere = [{ token: 'ann-elsewhere' }];
  const users = (seed.users ?? []).map((user) =>
    user.username === 'ann' ? { ...user, tokens: elsewhere } : user,
  );
  const now = () => new Date('2026-01-01T00:00:00Z');
  const api = await serveForTest({ rateLimit: 2, seed: { ...seed, users }, now });
  await api.get(LIST);
  await api.as('ann-elsewhere').get(LIST);
  expect((await api.get(LIST)).status).toBe(429);
  expect((await api.as('ann-elsewhere').get(LIST)).status).toBe(429);
  expect((await api.as('bob').get('/account/details')).status).toBe(200);
  expect((await api.as('managers').get(LIST)).status).toBe(200);
});

it('counts all requests without a valid token from one address together', async () => {
  const { api } = await serveLimited(2);
  expect((await api.as('nobody').get(LIST)).status).toBe(401);
  expect((await api.as(undefined).get(LIST)).status).toBe(401);
  const refused = await api.as('somebody').get(LIST);
  expect(refused.status).toBe(429);
  expect((await api.get(LIST)).status).toBe(200);
});

it('does not count requests outside the workspaces API', async () => {
  const { api } = await serveLimited(1);
  for (const path of ['/nowhere', '/v1/auth/cluster/config']) {
    for (let request = 0; request < 3; request += 1) {
      const answer = await fetch(`${api.url}${path}`);
      expect([404, 403]).toContain(answer.status);
      expect(answer.headers.has('x-ratelimit-limit')).toBe(false);
    }
  }
});

it('limits nothing, and sends no header, by default', async () => {
  const api = await serveForTest({ now: () => new Date('2026-01-01T00:00:00Z') });
  const answers = await Promise.all(Array.from({ length: 200 }, () => api.get('/account/details')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(answers[0]?.headers.has('x-ratelimit-limit')).toBe(false);
});
