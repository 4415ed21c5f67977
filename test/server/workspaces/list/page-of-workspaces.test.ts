import { describe, expect, it } from 'vitest';

import {
  identifiers,
  seedWith,
  serveForTest,
  type TestClient,
} from '../../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';

/** Names from a to z, created in the order o, p, …, z, a, …, n, so that no sort order is the order of their creation. */
const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + ((index + 14) % 26)));

async function serveLetters(): Promise<TestClient> {
  const workspaces = LETTERS.map((name) => ({
    name,
    id: `ws-${name}`,
    runs: [{ status: 'applied' as const }],
  }));
  return serveForTest({ seed: seedWith({ workspaces }) });
}

/** Follows the links of a list page by page, and calls `write` between two pages. */
async function follow(
  api: TestClient,
  path: string,
  write: (page: number) => Promise<unknown>,
): Promise<unknown[]> {
  const names: unknown[] = [];
  let next: string | null | undefined = `${api.url}/api/v2${path}`;
  for (let page = 1; typeof next === 'string'; page += 1) {
    const answer = await api.get(next.slice(`${api.url}/api/v2`.length));
    expect(answer.status).toBe(200);
    names.push(...answer.names);
    next = answer.document.links?.['next'];
    if (typeof next === 'string') await write(page);
  }
  return names;
}

/** Names at the beginning of each sort order are removed; all others are kept. */
const REMOVED = ['o', 'p', 'a', 'b', 'z', 'y', 'n', 'm'];
const KEPT = LETTERS.filter((name) => !REMOVED.includes(name));

describe('a client that follows the links of a list', () => {
  it.each([
    '',
    'sort=name',
    'sort=-name',
    'sort=current-run.created-at',
    'sort=-current-run.created-at',
    'sort=latest-change-at',
  ])(
    'sees each workspace exactly once that exists all the time, while others change, by "%s"',
    async (sort) => {
      const api = await serveLetters();
      const seen = await follow(api, `${LIST}?page[size]=4&${sort}`, async (page) => {
        for (const name of REMOVED.slice(2 * page - 2, 2 * page)) await api.delete(`/workspaces/ws-${name}`);
        for (const place of ['0', 'k', 'zz']) await api.create({ name: `${place}-new-${page}` });
      });
      const kept = seen.filter((name) => KEPT.includes(String(name)));
      expect([...kept].sort()).toEqual([...KEPT].sort());
    },
  );

  it('misses nothing when everything before its page is removed', async () => {
    const api = await serveLetters();
    const seen = await follow(api, `${LIST}?page[size]=10&sort=name`, async (page) => {
      for (const name of page === 1 ? 'abcdefghij' : '') await api.delete(`/workspaces/ws-${name}`);
    });
    expect(seen).toEqual([...LETTERS].sort());
  });

  it('sees each consumer of a workspace exactly once, while others change', async () => {
    const api = await serveLetters();
    const consumers = '/workspaces/ws-z/relationships/remote-state-consumers';
    const others = LETTERS.filter((name) => name !== 'z');
    await api.post(consumers, identifiers(others.map((name) => `ws-${name}`)));
    const seen = await follow(api, `${consumers}?page[size]=5`, async (page) => {
      await api.delete(consumers, identifiers([`ws-${'abcd'.charAt(page - 1)}`]));
    });
    expect(seen).toEqual([...others].sort());
  });
});

describe('a client that counts pages', () => {
  it('sees each workspace once without a sort order, while others are added', async () => {
    const api = await serveLetters();
    const seen: unknown[] = [];
    for (let page = 1; page <= 6; page += 1) {
      seen.push(...(await api.get(`${LIST}?page[size]=5&page[number]=${page}`)).names);
      await api.create({ name: `0-new-${page}` });
    }
    expect(seen.slice(0, 26)).toEqual(LETTERS);
    expect(seen.slice(26)).toEqual(['0-new-1', '0-new-2', '0-new-3', '0-new-4']);
  });

  it('sees no workspace twice when others are removed, but may miss as many', async () => {
    const api = await serveLetters();
    const first = (await api.get(`${LIST}?page[size]=5&page[number]=1`)).names;
    await api.delete(`/workspaces/ws-${first[0]}`);
    const second = (await api.get(`${LIST}?page[size]=5&page[number]=2`)).names;
    expect([...first, ...second]).toEqual([...LETTERS.slice(0, 5), ...LETTERS.slice(6, 11)]);
  });
});

describe('a page after another one', () => {
  it('has its number and the total, and no next page if it is the last one', async () => {
    const api = await serveLetters();
    const pages: unknown[] = [];
    let next: string | null | undefined = `${api.url}/api/v2${LIST}?page[size]=10&sort=name`;
    while (typeof next === 'string') {
      const { document } = await api.get(next.slice(`${api.url}/api/v2`.length));
      const { pagination } = document.meta ?? {};
      pages.push([
        pagination?.['current-page'],
        pagination?.['next-page'],
        pagination?.['total-pages'],
        pagination?.['total-count'],
      ]);
      expect(document.links?.['self']).toBe(
        next.includes('page%5Bnumber') ? next : document.links?.['first'],
      );
      next = document.links?.['next'];
    }
    expect(pages).toEqual([
      [1, 2, 3, 26],
      [2, 3, 3, 26],
      [3, null, 3, 26],
    ]);
  });

  it('has no number above the number of pages, even if earlier workspaces were removed', async () => {
    const api = await serveLetters();
    const first = await api.get(`${LIST}?page[size]=10&sort=name`);
    for (const name of 'abcdefghij') await api.delete(`/workspaces/ws-${name}`);
    const next = first.document.links?.['next'] ?? '';
    const second = await api.get(next.slice(`${api.url}/api/v2`.length));
    expect(second.document.meta?.pagination).toMatchObject({
      'current-page': 2,
      'next-page': 3,
      'total-pages': 3,
      'total-count': 16,
    });
  });

  it.each(['x', 'W10', 'bnVsbA', 'WzEsMl0'])('is refused for an invalid value such as %s', async (place) => {
    const api = await serveLetters();
    const answer = await api.get(`${LIST}?page[after]=${place}`);
    expect(answer.status).toBe(400);
    expect(answer.errors[0]?.source).toEqual({ parameter: 'page[after]' });
  });
});
