// The catalogue of codes is complete and consistent. The compiler checks that every used code is in it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { errorsPage } from '../../scripts/reference/errors.ts';
import type { CodeEntry } from '../../src/model/code-entry.ts';
import { codeGroups, diagnosticCodes } from '../../src/model/diagnostic-codes.ts';
import { findingMeanings } from '../../src/run/finding-meanings.ts';
import { isBelow, readTree, sources } from '../architecture/source-tree.ts';

const catalogue: readonly (readonly [string, CodeEntry])[] = Object.entries(diagnosticCodes);
const tree = readTree(fileURLToPath(new URL('../..', import.meta.url)));
const code = sources(tree)
  .filter((path) => !/^src\/model\/[a-z]+-codes\.ts$/.test(path) && !isBelow(path, 'src/server'))
  .map((path) => tree.get(path) ?? '')
  .join('\n');

/** The codes whose entry has a property. */
function codesWhere(is: (entry: CodeEntry, name: string) => boolean): string[] {
  return catalogue.filter(([name, entry]) => is(entry, name)).map(([name]) => name);
}

describe('the catalogue of errors', () => {
  it('has no unused code', () => {
    expect(codesWhere((_, name) => !code.includes(`'${name}'`))).toEqual([]);
  });

  it('has each code in one group, in kebab-case', () => {
    const grouped = codeGroups.flatMap(({ codes }) => Object.keys(codes));
    expect(grouped.toSorted()).toEqual(Object.keys(diagnosticCodes).sort());
    expect(codesWhere((_, name) => !/^[a-z]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it('has titles of one line that begin with a capital or a name and end without a full stop', () => {
    expect(codesWhere(({ title }) => !/^(?:[A-Z]|trueup )[^\n]{8,90}[^.!?\s]$/.test(title))).toEqual([]);
    expect(new Set(catalogue.map(([, { title }]) => title)).size).toBeGreaterThan(catalogue.length - 5);
  });

  it('has a fix for each code, as an instruction without a full stop', () => {
    expect(codesWhere(({ fix }) => !/^[a-z][^\n]{8,140}[^.!?\s]$/.test(fix))).toEqual([]);
  });

  it('has for each code the class and the severity that it is reported with', () => {
    const reported = [
      ...code.matchAll(
        /code: '(?<name>[a-z-]+)',\s+severity: '(?<severity>\w+)'(?: as const)?,\s+class: '(?<as>\w+)'/g,
      ),
    ].map(({ groups = {} }) => groups);
    expect(reported.length).toBeGreaterThan(20);
    const entries = new Map(catalogue);
    const mismatched = reported.filter(({ name = '', severity, as = '' }) => {
      const entry = entries.get(name);
      const isSevere = severity === 'error';
      const classes: readonly string[] = [entry?.class ?? []].flat();
      return !classes.includes(as) || isSevere === (entry?.warning ?? false);
    });
    expect(mismatched).toEqual([]);
  });
});

describe('docs/reference/errors.md', () => {
  const page = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');

  it('is up to date: "npm run reference" would write nothing new', () => {
    expect(page === errorsPage()).toBe(true);
  });

  it('has a heading for every code and every finding, so that it can be linked to', () => {
    expect([...page.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading).sort()).toEqual(
      [...new Set([...Object.keys(diagnosticCodes), ...Object.keys(findingMeanings)])].sort(),
    );
  });
});
