/** Which removed and created resources are considered the same one under a new name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../../src/model/json.ts';
import { pairSimilar, withoutName, wordsOfNames } from '../../src/plan/similar-resources.ts';

const keys = (name: string, settings: { readonly [key: string]: string }, others: readonly string[] = []) =>
  withoutName(settings, name, wordsOfNames([name, ...others])).map((view) => canonicalText(view));

const comparable = (name: string, settings: { readonly [key: string]: string }) => ({
  name,
  levels: keys(name, settings).map((key) => [key]),
});

const pairsOf = (...sides: [ReturnType<typeof comparable>[], ReturnType<typeof comparable>[]]) =>
  pairSimilar(...sides).map(({ gone, made }) => `${gone.name} > ${made.name}`);

/** The key of a row: words in lower case. The fixed texts of templates below have upper case. */
const word = fc.stringMatching(/^[a-z]{3,8}$/);
const key = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('-'));

describe('Settings without the name of their resource', () => {
  it('are equal for two rows of one template with different keys', () => {
    const fixed = fc.constantFrom('', 'TEAM ', 'PATH/TO/', 'X.');
    const piece = fc.tuple(fixed, fc.constantFrom('key', 'env', 'name')).map(([text, is]) => ({ text, is }));
    const template = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(template, key, key, word, (texts, was, is, env) => {
        const filled = (row: string) => {
          const values: Record<string, string> = { key: row, env, name: `${row}-${env}` };
          return Object.fromEntries(
            Object.entries(texts).map(([field, pieces]) => [
              field,
              pieces.map((one) => `${one.text}${values[one.is]}`).join('/'),
            ]),
          );
        };
        const [one, other] = [was, is].map((row) => keys(`${row}-${env}`, filled(row)));
        expect(other?.some((text, view) => text === one?.[view])).toBe(true);
      }),
    );
  });

  it('stay different where more than the name differs', () => {
    fc.assert(
      fc.property(key, key, (was, is) => {
        const one = keys(was, { text: `FOR ${was}`, owner: 'ANN' });
        const other = keys(is, { text: `FOR ${is}`, owner: 'BOB' });
        expect(one.filter((text, view) => text === other[view])).toEqual([]);
      }),
    );
  });

  it('are equal for two rows where one value has the new key and another one keeps the former', () => {
    fc.assert(
      fc.property(key, key, (was, is) => {
        const one = keys(was, { path: `PATH/${was}`, text: `The ${was} SERVICE 2` }, [is]);
        const other = keys(is, { path: `PATH/${is}`, text: `The ${was} SERVICE 2` }, [was]);
        expect(other.at(-1)).toBe(one.at(-1));
      }),
    );
  });

  it('keep short words and digits that do not belong to the name', () => {
    const version = { version: '1.5.0', text: 'DATA of app-1' };
    expect(keys('app-1', version)[1]).toBe(keys('app-2', { version: '1.5.0', text: 'DATA of app-2' })[1]);
    expect(keys('a', { text: 'data of a' })[2]).toBe(keys('b', { text: 'data of b' })[2]);
  });
});

describe('Pairs of removed and created resources', () => {
  it('are those whose names have the same other parts', () => {
    const rows = (service: string, ...envs: string[]) =>
      envs.map((env) => comparable(`${service}-${env}`, { text: `${service} in ${env}` }));
    expect(
      pairsOf(rows('billing', 'dev', 'prod', 'stage'), rows('invoicing', 'prod', 'stage', 'dev')),
    ).toEqual([
      'billing-prod > invoicing-prod',
      'billing-stage > invoicing-stage',
      'billing-dev > invoicing-dev',
    ]);
  });

  it('use each removed resource once, if there are enough for all creates', () => {
    const some = fc.uniqueArray(key, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(some, some, (was, is) => {
        const made = (names: string[]) => names.map((name) => comparable(name, { text: name }));
        const pairs = pairSimilar(made(was), made(is));
        expect(pairs).toHaveLength(is.length);
        expect(new Set(pairs.map(({ gone }) => gone)).size).toBe(Math.min(was.length, is.length));
      }),
    );
  });

  it('are found with work that is proportional to the number of resources', () => {
    const workFor = (count: number) => {
      let work = 0;
      const crowd = (row: string) =>
        Array.from({ length: count }, (_, index) => {
          const { name, levels } = comparable(`${row}-${index}`, { text: `${row} ${index}` });
          return {
            name,
            get levels() {
              work += 1;
              return levels;
            },
          };
        });
      expect(pairSimilar(crowd('was'), crowd('is'))).toHaveLength(count);
      return work;
    };
    expect(workFor(1000)).toBeLessThanOrEqual(11 * workFor(100));
  });
});
