// An organization with ten thousand workspaces is listed completely, with all tags, searches and filters.
import { expect, it } from 'vitest';
import { seedWith, serveForTest } from '../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces?sort=name&page[size]=100';

it('ten thousand workspaces are listed with their tags, in a hundred pages', async () => {
  const workspaces = Array.from({ length: 10_000 }, (_, index) => ({
    name: `w-${index}`,
    tags: ['bulk'],
    'tag-bindings': { env: 'prod' },
  }));
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const pages = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      api.get(`${LIST}&include=effective_tag_bindings&page[number]=${index + 1}`),
    ),
  );
  expect(new Set(pages.flatMap((page) => page.resources.map(({ id }) => id))).size).toBe(10_000);
  const filtered = await api.get(
    `${LIST}&search[tags]=bulk&search[exclude-tags]=none&filter[tagged][0][key]=env`,
  );
  expect(filtered.names).toHaveLength(100);
}, 600_000);
