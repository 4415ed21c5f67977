import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';

function serve(count: number): Promise<TestClient> {
  const workspaces = Array.from({ length: count }, (_, index) => ({
    name: `w-${String(index).padStart(3, '0')}`,
  }));
  return serveForTest({ seed: seedWith({ workspaces }) });
}

/** The page number and size of a link. */
function target(link: string | null | undefined): unknown {
  if (typeof link !== 'string') return link;
  const { searchParams } = new URL(link);
  return [searchParams.get('page[number]'), searchParams.get('page[size]')];
}

it('links to the first, previous, next and last page, absolutely', async () => {
  const api = await serve(50);
  const { links } = (await api.get(`${LIST}?page[number]=2&page[size]=20`)).document;
  expect(links?.['self']).toMatch(new RegExp(`^${api.url}/api/v2${LIST}\\?`));
  expect(Object.fromEntries(Object.entries(links ?? {}).map(([name, link]) => [name, target(link)]))).toEqual(
    {
      self: ['2', '20'],
      first: ['1', '20'],
      prev: ['1', '20'],
      next: ['3', '20'],
      last: ['3', '20'],
    },
  );
});

it('has links that can be followed from the first page to the last, keeping the other parameters', async () => {
  const api = await serve(7);
  const names: unknown[] = [];
  let next: string | null | undefined = `${api.url}/api/v2${LIST}?page[size]=3&sort=-name&search[name]=w`;
  while (typeof next === 'string') {
    const page = await api.get(next.slice(`${api.url}/api/v2`.length));
    names.push(...page.names);
    next = page.document.links?.['next'];
  }
  expect(names).toEqual(['w-006', 'w-005', 'w-004', 'w-003', 'w-002', 'w-001', 'w-000']);
});

it('has null instead of links to pages that do not exist', async () => {
  const api = await serve(1);
  const { links, meta } = (await api.get(LIST)).document;
  expect([links?.['prev'], links?.['next']]).toEqual([null, null]);
  expect(meta?.pagination).toMatchObject({ 'prev-page': null, 'next-page': null, 'total-pages': 1 });
});

it('answers an empty page with the real totals after the last page', async () => {
  const api = await serve(5);
  const answer = await api.get(`${LIST}?page[number]=9&page[size]=2`);
  expect(answer.status).toBe(200);
  expect(answer.resources).toEqual([]);
  expect(answer.document.meta?.pagination).toEqual({
    'current-page': 9,
    'page-size': 2,
    'prev-page': 3,
    'next-page': null,
    'total-pages': 3,
    'total-count': 5,
  });
});

it('answers an empty page with its number also far after the last page', async () => {
  const api = await serve(5);
  const answer = await api.get(`${LIST}?page[number]=99999999999`);
  expect([answer.status, answer.resources]).toEqual([200, []]);
  expect(answer.document.meta?.pagination).toMatchObject({
    'current-page': 99_999_999_999,
    'total-count': 5,
  });
});

it.each(['page[number]', 'page[size]'])('answers 400 to a %s that is too large', async (name) => {
  const api = await serve(5);
  const answer = await api.get(`${LIST}?${name}=99999999999999999999`);
  expect(answer.status).toBe(400);
  expect(answer.errors[0]?.source).toEqual({ parameter: name });
});

it('never answers more than a hundred resources in a page', async () => {
  const api = await serve(120);
  const answer = await api.get(`${LIST}?page[size]=1000`);
  expect(answer.resources).toHaveLength(100);
  expect(answer.document.meta?.pagination).toMatchObject({ 'page-size': 100, 'total-pages': 2 });
});

it.each(['0', '-1', 'x', '', '1.5'])('reads the page number and size "%s" as the default', async (value) => {
  const api = await serve(21);
  const answer = await api.get(`${LIST}?page[number]=${value}&page[size]=${value}`);
  expect(answer.document.meta?.pagination).toMatchObject({ 'current-page': 1, 'page-size': 20 });
});
