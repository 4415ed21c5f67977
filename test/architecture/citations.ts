/**
 * How comments and documents cite the pages below `docs`, as docs/internals/README.md describes it.
 * Works on texts alone. The only file that knows the form of a citation.
 */

/** One place that a text points at. */
export interface Citation {
  /** as it stands in the text */
  readonly text: string;
  /** path of the page, or of the folder whose files are the places */
  readonly page: string;
  /** a number, or a heading in lower case; absent for the whole page */
  readonly place?: string;
}

/** What can be cited: the places of each page, by its path. */
export type Places = ReadonlyMap<string, ReadonlySet<string>>;

const architecturePage = 'docs/internals/architecture.md';
const decisionsFolder = 'docs/internals/decisions';

/** The text of comments, without code; a comment of several lines becomes one line. */
export function commentsIn(code: string): string {
  const lines = code.split('\n').map((line) => {
    const { whole, end } =
      /^\s*(?:\/\*\*?|\*\/?|\/\/)(?<whole>.*)$|\s\/\/(?<end>.*)$/.exec(line)?.groups ?? {};
    return whole?.replace(/\*\/\s*$/, '').trim() ?? (end === undefined ? '\n' : `\n${end.trim()}\n`);
  });
  return lines.join(' ').replaceAll(/ ?\n ?/g, '\n');
}

const numbers = String.raw`\d+(?:\.\d+)*`;
const list = `${numbers}(?:(?:-|, | and )${numbers})*`;

const forms: readonly { readonly form: RegExp; page(words: Words): string; places(words: Words): Place[] }[] =
  [
    {
      form: new RegExp(String.raw`\bwire/(?<page>[a-z-]+)(?!\.ts)(?: (?<list>${list}))?`, 'g'),
      page: ({ page = '' }) => `docs/internals/wire/${page}.md`,
      places: ({ list: all }) => (all === undefined ? [undefined] : numbersIn(all)),
    },
    {
      form: /\barchitecture: (?<heading>[a-z ]+)/g,
      page: () => architecturePage,
      places: ({ heading = '' }) => [heading.trim()],
    },
    {
      form: /\b[Dd]ecisions? (?<number>\d{4})\b/g,
      page: () => decisionsFolder,
      places: ({ number }) => [number],
    },
  ];

type Words = Readonly<Record<string, string | undefined>>;
type Place = string | undefined;

/** Every citation of a text without code, one for each place. */
export function citationsIn(prose: string): Citation[] {
  return forms.flatMap(({ form, page, places }) =>
    [...prose.matchAll(form)].flatMap(({ 0: text, groups = {} }) =>
      places(groups).map((place) => ({
        text,
        page: page(groups),
        ...(place === undefined ? {} : { place }),
      })),
    ),
  );
}

/** `2.2, 2.4-2.6` is 2.2, 2.4, 2.5, 2.6. */
function numbersIn(text: string): string[] {
  return text.split(/, | and /).flatMap((part) => {
    const [from = '', to = from] = part.split('-');
    const before = from.slice(0, from.lastIndexOf('.') + 1);
    const [first, last] = [from, to].map((number) => Number(number.split('.').at(-1)));
    if (first === undefined || last === undefined || last <= first)
      return [from, ...(to === from ? [] : [to])];
    return Array.from({ length: last - first + 1 }, (_, index) => `${before}${first + index}`);
  });
}

/** Forms of citations that are no longer used: drafts by their names, sections without a page, and rules by a number. */
const former =
  /\bRULES \d|\bDESIGN\b|\bfacts(?: on [a-z -]+)?,? (?:section )?\d|\bfacts\/|\bspecs\/|-wire\.md|\btoolchain\.md|\bspecs?, "|\b[Rr]ules? \d/g;

/** Citations of a form that is no longer used. */
export function formerCitationsIn(prose: string): string[] {
  return [...prose.matchAll(former)].map(([text]) => text);
}

/** @param pages texts of the documents by path */
export function placesOf(pages: ReadonlyMap<string, string>): Places {
  const places = new Map<string, Set<string>>();
  for (const [path, text] of pages) {
    places.set(
      path,
      new Set([...numberedIn(text), ...headingsIn(text).map((heading) => heading.toLowerCase())]),
    );
  }
  const records = [...pages.keys()].flatMap(
    (path) => /^docs\/internals\/decisions\/(\d{4})-/.exec(path)?.[1] ?? [],
  );
  return places.set(decisionsFolder, new Set(records));
}

/** Numbers that stand before a heading or in the first cell of a row: `### 2.3 Flat tags`, `| 1.5.3 | … |`. */
function numberedIn(text: string): string[] {
  const place = new RegExp(String.raw`^(?:#+ |\| )(${numbers})(?:[:.]? | \|)`, 'gm');
  return [...text.matchAll(place)].flatMap(([, number]) => number ?? []);
}

function headingsIn(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].flatMap(([, heading]) => heading ?? []);
}

/** Citations of pages and places that do not exist, each with what is missing. */
export function danglingIn(prose: string, places: Places): string[] {
  return citationsIn(prose).flatMap(({ text, page, place }) => {
    const known = places.get(page);
    if (known === undefined) return [`${text}: there is no ${page}`];
    return place === undefined || known.has(place) ? [] : [`${text}: ${page} has no ${place}`];
  });
}

/** Relative links of a document whose file or heading does not exist. @param exists for a path below the root */
export function brokenLinksIn(
  path: string,
  pages: ReadonlyMap<string, string>,
  { resolve, exists }: { resolve(from: string, to: string): string; exists(path: string): boolean },
): string[] {
  const links = [...(pages.get(path) ?? '').matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.flatMap(([, file = '', anchor]) => {
    const target = file === '' ? path : resolve(path, file);
    if (!exists(target)) return [`${path} links ${target}, which is not there`];
    if (anchor === undefined) return [];
    const anchors = headingsIn(pages.get(target) ?? '').map(anchorOf);
    return anchors.includes(anchor) ? [] : [`${path} links ${target}#${anchor}, a heading that is not there`];
  });
}

/** As code forges make them: `Owned names: roles` is `owned-names-roles`. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
