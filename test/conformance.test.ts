/**
 * The pages below docs/internals/conformance name the tests that show each row of a specification. This file checks that each named
 * test exists under its title, and that no served endpoint is missing from its page. `npm run conformance` checks that each test sends
 * or asserts what its row says, with the functions that are tested at the end of this file.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { kinds } from '../src/kinds/index.ts';
import { chooseDialects } from '../src/server/kernel/dialects.ts';
import { API_ENDPOINTS } from '../src/server/workspaces-endpoints.ts';
import { servedPaths } from '../src/server/cluster-auth-endpoints.ts';
import { namesIn, problemsOf } from './support/conformance/check-rows.ts';
import { RECORD_VARIABLE, readEvidence, type SentRequest } from './support/conformance/evidence.ts';
import {
  conformancePages,
  isPlaceholder,
  readPage,
  rowsOf,
  splitNamed,
  testsFolder,
  testsNamedIn,
  titlesIn,
  valuesOf,
} from './support/conformance/rows.ts';
import { corpusCases } from './support/corpus.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';
import { recordedLines } from './support/server/cluster-auth/replay/recorded-lines.ts';

/** @returns why a test that a row names does not exist, or undefined if it exists */
function whyMissing(named: string): string | undefined {
  const { file, title } = splitNamed(named);
  const path = join(testsFolder, file);
  if (!file.endsWith('.test.ts') || !existsSync(path)) return `there is no ${file}`;
  const source = readFileSync(path, 'utf8');
  const values = generatedValues[file] ?? [];
  return titlesIn(source).some((written) => isTitle(written.title, title, source, values))
    ? undefined
    : `${file} has no test "${title}"`;
}

/** Tests whose values are not in their source: the values that their titles can have. */
const generatedValues: Readonly<Record<string, readonly string[]>> = {
  'corpus.test.ts': [...kinds.keys()].flatMap((kind) => corpusCases(kind)),
  'server/cluster-auth/replay/replay.test.ts': Object.values(recordedLines())
    .flat()
    .flatMap(({ id, title }) => [id, title]),
};

/** A title also matches if the source or `values` has each value that the page puts into its placeholders. */
function isTitle(written: string, title: string, source: string, values: readonly string[] = []): boolean {
  const isKnown = (value: string) =>
    isPlaceholder(value) ||
    values.includes(value) ||
    ["'", '"', '`'].some((quote) => source.includes(quote + value + quote));
  return valuesOf(written, title)?.every(isKnown) ?? false;
}

describe.each(conformancePages())('docs/internals/conformance/%s', (page) => {
  it('numbers its rows in order', () => {
    const numbers = rowsOf(readPage(page)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(page === 'workspaces.md' ? 100 : 40);
  });

  it('names in each row something that can be sent or asserted', () => {
    const silent = rowsOf(readPage(page)).filter(({ what }) => namesIn(what).length === 0);
    expect(silent.map(({ number, what }) => `row ${number}: ${what}`)).toEqual([]);
  });

  it('names a test for each row, and each of them exists', () => {
    const wrong = rowsOf(readPage(page)).flatMap(({ number, shownBy }) => {
      if (shownBy.length === 0) return [`row ${number} names no test`];
      return shownBy.flatMap((named) => whyMissing(named) ?? []).map((why) => `row ${number}: ${why}`);
    });
    expect(wrong).toEqual([]);
  });
});

it('names existing tests for missing capabilities in docs/internals/wire/workspaces.md', () => {
  const named = testsNamedIn(readFileSync(join(testsFolder, '../docs/internals/wire/workspaces.md'), 'utf8'));
  expect(named.length).toBeGreaterThan(5);
  expect(named.flatMap((one) => whyMissing(one) ?? [])).toEqual([]);
});

it('has every endpoint of the workspaces API in docs/internals/conformance/workspaces.md', () => {
  const endpoints = API_ENDPOINTS.filter(
    ({ needs, needsOfDialect }) => needs !== 'auditTrails' && needsOfDialect === undefined,
  );
  expect(missingFrom('workspaces.md', endpoints)).toEqual([]);
});

it('has the endpoint and all rows of audit trails in docs/internals/conformance/audit-trails.md', () => {
  const endpoints = API_ENDPOINTS.filter(({ needs }) => needs === 'auditTrails');
  expect(endpoints.length).toBeGreaterThan(0);
  expect(missingFrom('audit-trails.md', endpoints)).toEqual([]);
  expect(rowsOf(readPage('audit-trails.md')).length).toBeGreaterThanOrEqual(205);
});

it.each(['neutral', 'vault', 'openbao'])(
  'has every path that the secrets service serves as %s in docs/internals/conformance/cluster-auth.md',
  (dialect) => {
    const paths = servedPaths(chooseDialects([dialect]).clusterAuth);
    expect(missingFrom('cluster-auth.md', paths)).toEqual([]);
  },
);

it('has a column for each dialect in docs/internals/conformance/cluster-auth.md', () => {
  expect(readPage('cluster-auth.md')).toContain('| row | what | neutral | vault | openbao | shown by |');
});

it('has every endpoint that only some dialects serve in docs/internals/conformance/hcp-terraform.md', () => {
  const endpoints = API_ENDPOINTS.filter(({ needsOfDialect }) => needsOfDialect !== undefined);
  expect(endpoints.length).toBeGreaterThan(0);
  expect(missingFrom('hcp-terraform.md', endpoints)).toEqual([]);
});

/** The endpoints without a row. Text in brackets only shows requests of tests, and does not count. */
function missingFrom(
  page: string,
  endpoints: readonly { readonly method: string; readonly path: string }[],
): string[] {
  const descriptions = rowsOf(readPage(page)).map(({ what }) => what.replaceAll(/ \([^)]*\)/g, ''));
  const named = endpoints.map(({ method, path }) => `\`${method} ${path}\``);
  return named.filter((endpoint) => !descriptions.some((what) => what.includes(endpoint)));
}

describe('a test that a row names', () => {
  it.each([
    'conformance.test.ts › a test that a row names',
    'conformance.test.ts › has places: one',
    'conformance.test.ts › has places: two',
    'corpus.test.ts › audience-null, there and back again',
  ])('exists: %s', (named) => {
    expect(whyMissing(named)).toBeUndefined();
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
    expect(whyMissing(named)).toEqual(expect.any(String));
  });

  it.each(['one', 'two'])('has places: %s', (value) => {
    expect(isTitle('has places: %s', `has places: ${value}`, "['one', 'two']")).toBe(true);
  });
});

describe('a row of a page', () => {
  const file = 'server/teams/teams.test.ts';
  const title = 'keeps the visibility of a team, which has no effect';
  const sent = (method: string, url: string, status: number): SentRequest => ({
    ...{ method, url: `/api/v2${url}`, status },
    content: 'x-request-id: 1\n{"sso-team-id":"s"}',
  });
  const requests = [sent('GET', '/teams/team-1?include=users', 200), sent('DELETE', '/teams/team-1', 404)];
  const evidence = [{ file, titles: [title], requests, asserted: ['{"users-count":1}'] }];
  const problems = (what: string, shownBy = [`${file} › ${title}`]) =>
    problemsOf({ number: 1, what, shownBy }, evidence);

  it.each([
    '`GET /teams/:team_id`',
    '`/teams/:team_id` and `include=users`',
    '`DELETE /teams/:team_id` of what is not there: 404',
    '`X-Request-Id`',
    'what was sent (`sso-team-id`), asserted (`users-count`) and written in the test (`visibility`)',
  ])('is shown by a test that sent or asserted it: %s', (what) => {
    expect(problems(what)).toEqual([]);
  });

  it.each([
    '`GET /teams`',
    '`PATCH /teams/:team_id`',
    '`GET /teams/:team_id/authentication-token`',
    '`DELETE /teams/:team_id`',
    '`include=organization`',
    '`sso-team`',
    '`keeps`, which stands in the title alone',
    'refused: 422',
    'nothing that could be sent',
  ])('is reported if its test did not: %s', (what) => {
    expect(problems(what)).not.toEqual([]);
  });

  it('is reported if one of its tests did not run, or shows nothing of it', () => {
    const idle = `${file} › includes the users of teams if a request has include=users`;
    expect(problems('`X-Request-Id`', [`${file} › ${title}`, idle])).toEqual([`did not run: ${idle}`]);
    const ran = [...evidence, { file, titles: [splitNamed(idle).title], requests: [], asserted: [] }];
    const row = { number: 1, what: '`X-Request-Id`', shownBy: [`${file} › ${title}`, idle] };
    expect(problemsOf(row, ran)).toEqual([`shows nothing of it: ${idle}`]);
  });
});

it('records during a test run which test sent a request', () => {
  const folder = temporaryFolder();
  const file = 'server/teams/teams.test.ts';
  const vitest = join(testsFolder, '../node_modules/vitest/vitest.mjs');
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  execFileSync(process.execPath, [vitest, 'run', '--project=wire', '--reporter=dot', `test/${file}`], {
    cwd: join(testsFolder, '..'),
    env: { ...Object.fromEntries(own), [RECORD_VARIABLE]: folder },
    stdio: 'pipe',
  });
  const evidence = readEvidence(folder);
  const problems = (what: string, title: string) =>
    problemsOf({ number: 1, what, shownBy: [`${file} › ${title}`] }, evidence);
  const [lists, creates] = [
    'lists the teams of an organization to its members',
    'creates a team whose rights apply immediately, and end when it is deleted',
  ];
  expect(problems('`GET /organizations/:organization_name/teams`', lists)).toEqual([]);
  expect(problems('`GET /organizations/:organization_name/teams`', creates)).not.toEqual([]);
  expect(problems('`POST /organizations/:organization_name/teams`: 201', creates)).toEqual([]);
  expect(problems('`POST /organizations/:organization_name/teams`: 201', lists)).not.toEqual([]);
});
