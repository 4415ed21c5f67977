/**
 * The pages below docs/conformance name the test that shows each row of a specification. Here it is held that they tell the
 * truth: each test exists, under the title that is written, and nothing that is served is missing from its page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { chooseDialects } from '../src/server/kernel/dialects.ts';
import { API_ENDPOINTS } from '../src/server/workspaces-endpoints.ts';
import { servedPaths } from '../src/server/cluster-auth-endpoints.ts';
import { recordedLines } from './support/server/cluster-auth/replay/recorded-lines.ts';
import type { Endpoint } from '../src/server/kernel/endpoint.ts';

const pages = fileURLToPath(new URL('../docs/conformance', import.meta.url));
const tests = fileURLToPath(new URL('.', import.meta.url));

interface Row {
  readonly number: number;
  /** Each as it is written: a path below `test`, and a title. */
  readonly shownBy: readonly string[];
}

/** The rows of all tables of a page that begin with a number. */
function rowsOf(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const number = /^\| (\d+) \|/.exec(line)?.[1];
    return number === undefined ? [] : [{ number: Number(number), shownBy: testsNamedIn(line) }];
  });
}

function testsNamedIn(text: string): string[] {
  return [...text.matchAll(/``(.+?)``(?!`)/g)].flatMap(([, named]) => named ?? []);
}

/** What is the matter with a test that a row names; undefined when it exists. */
function whyNot(named: string): string | undefined {
  const [file = '', title = ''] = named.split(' › ');
  const path = join(tests, file);
  if (!file.endsWith('.test.ts') || !existsSync(path)) return `there is no ${file}`;
  const source = readFileSync(path, 'utf8');
  const values = drawn[file] ?? [];
  return titlesIn(source).some((written) => isTitle(written, title, source, values))
    ? undefined
    : `${file} has no test "${title}"`;
}

/** What stands as the title of a test, or of several, in a source. */
function titlesIn(source: string): string[] {
  const calls = source.matchAll(
    /(?:\b(?:it|test|describe)|\))\(\s*(?<quote>['"`])(?<title>.*?)(?<!\\)\k<quote>/gs,
  );
  return [...calls].map(({ groups }) => (groups?.['title'] ?? '').replaceAll(/\\(.)/g, '$1'));
}

/** Tests whose values stand in no source: what may stand in the places of their titles. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  'corpus.test.ts': readdirSync(join(tests, 'corpus'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(tests, 'corpus', name))),
  'server/cluster-auth/replay/replay.test.ts': Object.values(recordedLines())
    .flat()
    .flatMap(({ id, title }) => [id, title]),
};

/**
 * Also when a title has places for values, and the source has each of the values that the page puts there, or the test draws
 * them from elsewhere.
 */
function isTitle(written: string, title: string, source: string, values: readonly string[] = []): boolean {
  if (written === title) return true;
  const parts = written.split(/%[a-z]|\$\w+/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  if (parts.length === 1) return false;
  const found = new RegExp(`^${parts.join('(.+?)')}$`, 's').exec(title)?.slice(1);
  const isKnown = (value: string) =>
    values.includes(value) || ["'", '"', '`'].some((quote) => source.includes(quote + value + quote));
  return found?.every(isKnown) ?? false;
}

function read(page: string): string {
  return readFileSync(join(pages, page), 'utf8');
}

describe.each(readdirSync(pages).filter((name) => name.endsWith('.md')))('docs/conformance/%s', (page) => {
  it('numbers its rows one after the other', () => {
    const numbers = rowsOf(read(page)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(page === 'workspaces.md' ? 100 : 40);
  });

  it('names a test for each row, and each of them exists', () => {
    const wrong = rowsOf(read(page)).flatMap(({ number, shownBy }) => {
      if (shownBy.length === 0) return [`row ${number} names no test`];
      return shownBy.flatMap((named) => whyNot(named) ?? []).map((why) => `row ${number}: ${why}`);
    });
    expect(wrong).toEqual([]);
  });
});

it('names tests that exist for what a service may lack, in docs/wire/workspaces.md', () => {
  const named = testsNamedIn(readFileSync(join(pages, '../wire/workspaces.md'), 'utf8'));
  expect(named.length).toBeGreaterThan(5);
  expect(named.flatMap((one) => whyNot(one) ?? [])).toEqual([]);
});

it('has every endpoint of the workspaces API in docs/conformance/workspaces.md', () => {
  const endpoints = API_ENDPOINTS.filter(
    ({ needs, needsOfDialect }) => needs !== 'auditTrails' && needsOfDialect === undefined,
  );
  expect(missingFrom('workspaces.md', endpoints)).toEqual([]);
});

it('has the endpoint of audit trails, and every row of their specification, in docs/conformance/audit-trails.md', () => {
  const endpoints = API_ENDPOINTS.filter(({ needs }) => needs === 'auditTrails');
  expect(endpoints.length).toBeGreaterThan(0);
  expect(missingFrom('audit-trails.md', endpoints)).toEqual([]);
  expect(rowsOf(read('audit-trails.md')).length).toBeGreaterThanOrEqual(205);
});

it.each(['neutral', 'vault', 'openbao'])(
  'has every path that the secrets service serves as %s in docs/conformance/cluster-auth.md',
  (dialect) => {
    const text = read('cluster-auth.md');
    const paths = servedPaths(chooseDialects([dialect]).clusterAuth);
    const missing = paths.filter(({ method, path }) => !text.includes(`\`${method} ${path}\``));
    expect(missing).toEqual([]);
  },
);

it('has a column for each dialect in docs/conformance/cluster-auth.md', () => {
  expect(read('cluster-auth.md')).toContain('| row | what | neutral | vault | openbao | shown by |');
});

it('has every endpoint that not every dialect serves in docs/conformance/hcp-terraform.md', () => {
  const endpoints = API_ENDPOINTS.filter(({ needsOfDialect }) => needsOfDialect !== undefined);
  expect(endpoints.length).toBeGreaterThan(0);
  expect(missingFrom('hcp-terraform.md', endpoints)).toEqual([]);
});

function missingFrom(page: string, endpoints: readonly Endpoint[]): string[] {
  const text = read(page);
  const named = endpoints.map(({ method, path }) => `\`${method} ${path}\``);
  return named.filter((endpoint) => !text.includes(endpoint));
}

describe('a test that a row names', () => {
  it.each([
    'conformance.test.ts › a test that a row names',
    'conformance.test.ts › has places: one',
    'conformance.test.ts › has places: two',
    'corpus.test.ts › audience-null, there and back again',
  ])('exists: %s', (named) => {
    expect(whyNot(named)).toBeUndefined();
  });

  it.each([
    'conformance.test.ts › no such title',
    'conformance.test.ts › a test that a row',
    'conformance.test.ts › has places: three',
    'nowhere.test.ts › a test that a row names',
    'support/server/send-raw.ts › a test that a row names',
    'a test that a row names',
    'corpus.test.ts › audience-nil, there and back again',
    'server/cluster-auth/replay/replay.test.ts › login-980 is answered the same: https with the right CA',
  ])('does not exist: %s', (named) => {
    expect(whyNot(named)).toEqual(expect.any(String));
  });

  it.each(['one', 'two'])('has places: %s', (value) => {
    expect(isTitle('has places: %s', `has places: ${value}`, "['one', 'two']")).toBe(true);
  });
});
