// Lists in pages with a server that has real pages, and that can shift, repeat, be wrong and fail.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPages } from '../../src/api/read-pages.ts';
import type { Answer, Reader } from '../../src/model/http.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { listen, type Reply } from '../support/http/loopback.ts';
import { open } from '../support/http/open-for-test.ts';

const path = '/organizations/acme/workspaces?sort=name&filter[project]=prj-1';

function resources(count: number) {
  return Array.from({ length: count }, (_, n) => ({ type: 'workspaces', id: `ws-${n}` }));
}

/** Serves a list in pages like the specification; `served` may replace the response to one request. */
function pager(
  all: readonly object[],
  served: (page: number, request: number) => Reply | undefined = () => undefined,
) {
  return listen(({ path: asked }, count) => {
    const query = new URL(asked, 'http://x').searchParams;
    const [size, page] = [Number(query.get('page[size]')), Number(query.get('page[number]'))];
    return served(page, count) ?? { body: pageOf(all, size, page) };
  });
}

function pageOf(all: readonly object[], size: number, page: number) {
  return {
    data: all.slice((page - 1) * size, page * size),
    included: [{ type: 'tags', id: `t-${page}` }],
    meta: {
      pagination: {
        'current-page': page,
        'page-size': size,
        'total-pages': Math.max(1, Math.ceil(all.length / size)),
        'total-count': all.length,
      },
    },
  };
}

describe('a list without totals and without links', () => {
  const silent = (all: readonly object[], pages = true) =>
    listen(({ path: asked }) => {
      const query = new URL(asked, 'http://x').searchParams;
      const [size, page] = [Number(query.get('page[size]')), Number(query.get('page[number]'))];
      return { body: { data: pages ? all.slice((page - 1) * size, page * size) : all } };
    });

  it.each([
    [0, 1],
    [99, 1],
    [100, 2],
    [102, 2],
    [300, 4],
  ])('is read to its end: %s items in %s requests', async (count, requests) => {
    const server = await silent(resources(count));
    const read = await readPages(open({ url: server.url }).reader, path);
    expect([read.complete, read.items.length]).toEqual([true, count]);
    expect(server.requests).toHaveLength(requests);
  });

  it.each([100, 250])('of a service without pages is complete with %s items', async (count) => {
    const server = await silent(resources(count), false);
    const read = await readPages(open({ url: server.url }).reader, path);
    expect([read.complete, read.items.length]).toEqual([true, count]);
  });
});

describe('a list that announces too many pages', () => {
  it.each([
    [
      'more than its total needs',
      2_000_000_000,
      250,
      'has 2000000000 pages, but its total of 250 fits into 3',
    ],
    ['more than any list has', 20_000_000, 2_000_000_000, 'has 20000000 pages, more than 10000'],
  ])('(%s) is not read completely, and is incomplete', async (_, pages, total, says) => {
    const body = {
      ...pageOf(resources(250), 100, 1),
      meta: { pagination: { 'total-pages': pages, 'total-count': total } },
    };
    const server = await listen(() => ({ body }));
    const read = await readPages(open({ url: server.url }).reader, path);
    expect(read).toMatchObject({ complete: false, problem: expect.stringContaining(says) });
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });
});

describe('a list in pages', () => {
  it('is read completely, in order', async () => {
    const server = await pager(resources(250));
    const pages = await readPages(open({ url: server.url }).reader, path);
    expect(pages.items.map(({ id }) => id)).toEqual(resources(250).map(({ id }) => id));
    expect(pages).toMatchObject({ total: 250, complete: true });
    expect(pages).not.toHaveProperty('problem');
  });

  it('is reduced page by page, with the included resources of each page', async () => {
    const server = await pager(resources(250));
    const reduce = (items: readonly JsonObject[], included: readonly JsonObject[]) =>
      items.map(({ id = null }) => ({ id, beside: included.map((other) => other['id'] ?? null) }));
    const pages = await readPages(open({ url: server.url }).reader, path, { reduce });
    expect(pages.items.map(({ id }) => id)).toEqual(resources(250).map(({ id }) => id));
    expect(pages.items.at(0)).toMatchObject({ beside: ['t-1'] });
    expect(pages.items.at(249)).toMatchObject({ beside: ['t-3'] });
    expect(pages).toMatchObject({ total: 250, complete: true });
  });

  it('is requested with encoded brackets, after the existing query', async () => {
    const server = await pager(resources(1));
    const { reader } = open({ url: server.url });
    await readPages(reader, path, { size: 50 });
    await readPages(reader, '/ssh-keys');
    expect(server.lines).toEqual([
      'GET /api/v2/organizations/acme/workspaces?sort=name&filter%5Bproject%5D=prj-1&page%5Bsize%5D=50&page%5Bnumber%5D=1',
      'GET /api/v2/ssh-keys?page%5Bsize%5D=100&page%5Bnumber%5D=1',
    ]);
  });

  it('may be empty', async () => {
    const server = await pager([]);
    expect(await readPages(open({ url: server.url }).reader, path)).toMatchObject({
      items: [],
      total: 0,
      complete: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('takes one request for each page', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.integer({ min: 1, max: 10 }), async (count, size) => {
        const all = resources(count);
        let asked = 0;
        const reader = readerOf((page) => {
          asked += 1;
          return pageOf(all, size, page);
        });
        const pages = await readPages(reader, '/x', { size });
        expect(pages).toMatchObject({ items: all, complete: true });
        expect(asked).toBe(Math.max(1, Math.ceil(count / size)));
      }),
    );
  });

  it('may have smaller pages than requested', async () => {
    const all = resources(45);
    const reader = readerOf((page) => pageOf(all, 20, page));
    expect(await readPages(reader, '/x')).toMatchObject({ items: all, complete: true });
  });

  it('without pages is read as it is', async () => {
    const server = await listen(() => ({ body: { data: resources(3) } }));
    const pages = await readPages(open({ url: server.url }).reader, '/workspaces/ws-1/tag-bindings');
    expect(pages).toMatchObject({ items: resources(3), complete: true });
    expect(pages).not.toHaveProperty('total');
  });
});

describe('a list that shifts while it is read', () => {
  it('is read once more, and is then complete', async () => {
    const all = resources(150);
    const server = await pager(all, (page, request) =>
      page === 2 && request === 2 ? { body: pageOf(all.slice(1), 100, 2) } : undefined,
    );
    const pages = await readPages(open({ url: server.url }).reader, path);
    expect(pages).toMatchObject({ complete: true, total: 150 });
    expect(server.requests).toHaveLength(4);
  });

  it.each([
    ['ids twice', () => ({ data: resources(50) }), 'the list has 50 of its ids more than once'],
    ['too few', () => ({ data: [] }), 'the list has a total of 150, but 100 items'],
    [
      'another total',
      () => ({ meta: { pagination: { 'total-count': 151, 'total-pages': 2 } } }),
      'the total of the list changed during the read',
    ],
  ])('and still has %s is incomplete, and says so', async (_, changed, problem) => {
    const all = resources(150);
    const server = await pager(all, (page) =>
      page === 2 ? { body: { ...pageOf(all, 100, 2), ...changed() } } : undefined,
    );
    const pages = await readPages(open({ url: server.url }).reader, path);
    expect(pages).toMatchObject({ complete: false, problem });
    expect(server.requests).toHaveLength(4);
  });
});

describe('a list that cannot be read', () => {
  it('returns the response that was not a page', async () => {
    const server = await listen(() => ({
      status: 404,
      body: { errors: [{ status: '404', title: 'not found' }] },
    }));
    const pages = await readPages(open({ url: server.url }).reader, path);
    expect(pages).toMatchObject({ items: [], complete: false, problem: { status: 404, words: 'not found' } });
    expect(server.requests).toHaveLength(1);
  });

  it('returns the other pages when one is refused, and is incomplete', async () => {
    const server = await pager(resources(250), (page) =>
      page === 2 ? { status: 403, body: {} } : undefined,
    );
    const pages = await readPages(open({ url: server.url }).reader, path);
    expect(pages).toMatchObject({ complete: false, problem: { status: 403 } });
    expect(pages.items).toHaveLength(150);
  });

  it('is incomplete when there are more pages but no total', async () => {
    const reader = readerOf(() => ({ data: resources(2), links: { next: '/x?page=2' } }));
    expect(await readPages(reader, '/x')).toMatchObject({
      complete: false,
      problem: 'the list has more pages, but no total',
    });
  });
});

/** A reader without a server, for properties that need many lists. */
function readerOf(page: (number: number) => object): Reader {
  const get = async (asked: string): Promise<Answer> => {
    const number = Number(new URL(asked, 'http://x').searchParams.get('page[number]'));
    return {
      method: 'GET',
      url: asked,
      status: 200,
      body: JSON.parse(JSON.stringify(page(number))),
      words: '',
    };
  };
  return { get, list: get };
}
