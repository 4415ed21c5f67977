// The site of the documentation: every page has a place, and the sidebar is made from the pages that list others.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type Entry, type Group, linkFrom, placeOf, sidebarOf } from '../site/pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync('docs/**/*.md', { cwd: root });

function linksOf(entries: readonly (Entry | Group)[]): string[] {
  return entries.flatMap((entry) => ('items' in entry ? linksOf(entry.items) : [entry.link]));
}

const sidebar = sidebarOf((page) => readFileSync(join(root, page), 'utf8'));

it('the sidebar has every page of the documentation once, including pages that list others', () => {
  const links = linksOf(sidebar).map((link) => link.slice(1));
  expect(links.filter((link, index) => links.indexOf(link) !== index)).toEqual([]);
  expect(links).toEqual(expect.arrayContaining(pages.map(placeOf)));
});

it('the sidebar has the groups of the lists, and the titles of the pages in them', () => {
  const groups = sidebar.flatMap((entry) => ('items' in entry ? [entry] : []));
  expect(groups.map(({ text }) => text)).toEqual(['Guides', 'Examples', 'Reference', 'Internals']);
  expect(groups[0]?.items).toContainEqual({ text: 'Recovering', link: '/guides/recovering.md' });
  expect(groups[3]?.items).toContainEqual({ text: 'Architecture', link: '/internals/architecture.md' });
});

it('no two pages have the same place', () => {
  const all = [...pages, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'src/server/README.md'];
  expect(new Set(all.map(placeOf)).size).toBe(all.length);
});

it.each([
  ['README.md', 'docs/tutorial.md', { href: '/tutorial.md' }],
  ['docs/README.md', '../CONTRIBUTING.md', { href: '/contributing.md' }],
  ['docs/guides/ci.md', '../../README.md#install', { href: '/index.md#install' }],
  ['docs/reference/files.md', '../../src/server/README.md', { href: '/src/server/index.md' }],
  [
    'docs/reference/files.md',
    '../../schemas/plan.schema.json',
    {
      href: '/schemas/plan.schema.json',
      file: { from: 'schemas/plan.schema.json', to: 'schemas/plan.schema.json' },
    },
  ],
  ['README.md', 'LICENSE', { href: '/LICENSE.txt', file: { from: 'LICENSE', to: 'LICENSE.txt' } }],
])('a link of %s to %s leads to its place on the site', (page, link, linked) => {
  expect(linkFrom(page, link)).toEqual(linked);
});
