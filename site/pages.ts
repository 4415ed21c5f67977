/**
 * Where a page of the repository is on the site, and the sidebar. The sidebar is what docs/README.md and docs/internals/README.md
 * list, so that there is no second list; `test/architecture/citations.test.ts` checks that they list every page.
 */
import { posix } from 'node:path';

/** Pages of the repository that are not part of the site, as patterns. */
export const excluded = [
  '**/node_modules/**',
  '**/.*/**',
  '{bench,coverage,dist,dist-binary,site,test,types}/**',
];

/** @param page its path in the repository @returns its path on the site: `docs/guides/ci.md` is `guides/ci.md` */
export function placeOf(page: string): string {
  if (page === 'docs/README.md') return 'documentation.md';
  const place = page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
  return place.includes('/') ? place : place.toLowerCase();
}

/** What a page links: another page, or a file that is no page and is copied to the site. Both by their place there. */
export interface Linked {
  readonly href: string;
  /** of a file that is no page: its path in the repository, and on the site */
  readonly file?: { readonly from: string; readonly to: string };
}

/** @param link a relative link of a page of the repository */
export function linkFrom(page: string, link: string): Linked {
  const [path = '', hash] = link.split('#');
  const anchor = hash === undefined ? '' : `#${hash}`;
  const from = posix.join(posix.dirname(page), path);
  if (from.endsWith('.md')) return { href: `/${placeOf(from)}${anchor}` };
  // Without an extension, a browser would not show it.
  const to = posix.extname(from) === '' ? `${from}.txt` : from;
  return { href: `/${to}${anchor}`, file: { from, to } };
}

export interface Entry {
  readonly text: string;
  readonly link: string;
}

export interface Group {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: readonly (Entry | Group)[];
}

type Read = (page: string) => string;

export function sidebarOf(read: Read): readonly (Entry | Group)[] {
  const index = read('docs/README.md');
  const section = (heading: string): Entry[] =>
    linksIn(
      'docs/README.md',
      new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(index)?.[1] ?? '',
    );
  const more = section('More').filter(({ link }) => link !== '/internals/index.md');
  return [
    { text: 'What trueup is', link: '/' },
    { text: 'Tutorial', link: '/tutorial.md' },
    { text: 'Guides', collapsed: false, items: section('Guides') },
    { text: 'Examples', collapsed: true, items: section('Examples') },
    { text: 'Reference', collapsed: false, items: section('Reference') },
    { text: 'Internals', collapsed: true, items: internals(read) },
    ...more,
    { text: 'All pages', link: '/documentation.md' },
  ];
}

/** Pages in folders of `docs/internals` are groups, named after their folder. */
function internals(read: Read): readonly (Entry | Group)[] {
  const page = 'docs/internals/README.md';
  const groups = Object.entries(
    Object.groupBy(linksIn(page, read(page)), ({ link }) => /^\/internals\/(\w+)\//.exec(link)?.[1] ?? ''),
  );
  return groups.flatMap(([folder, links = []]): readonly (Entry | Group)[] => {
    const items = links.map(({ link }) => ({ text: titleOf(read(`docs${link}`)), link }));
    if (folder === '') return [{ text: 'Overview', link: '/internals/index.md' }, ...items];
    return [{ text: `${folder.charAt(0).toUpperCase()}${folder.slice(1)}`, collapsed: true, items }];
  });
}

/** The links in the first cell of rows, and of list items. */
function linksIn(page: string, text: string): Entry[] {
  return [...text.matchAll(/^[|-] \[([^\]]+)\]\(([^)#]+\.md)\)/gm)].map(([, name = '', link = '']) => ({
    text: name.replace(/\.md$/, ''),
    link: linkFrom(page, link).href,
  }));
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';
}
