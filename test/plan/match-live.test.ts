/** Properties of names and ids: a declared name resolves to the id that the plan uses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idsOfDeclared } from '../../src/compare/declared-objects.ts';
import { formatAddress } from '../../src/model/address.ts';
import { nameList } from '../../src/model/named-reference.ts';
import { byAddress, matchLive, matchRecords } from '../../src/plan/match-live.ts';
import { recordAbout } from '../../src/compare/match-ids.ts';
import { isDeclaration } from '../../src/model/resource.ts';
import { at, desired, inputOf, ledgerOf, live, record } from '../support/sample-kinds/sample-plan.ts';

/** Few of each, so that names are reused, records are about other resources, and ids collide. */
const names = ['a', 'b', 'c', 'd', 'e'];
const ids = ['1', '2', '3'];
const idsByName = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...ids), {
  size: 'max',
  maxKeys: 5,
});

const world = fc
  .record({
    existing: fc
      .shuffledSubarray(names, { minLength: ids.length, maxLength: ids.length })
      .map((some) => ids.flatMap((id, index) => some.slice(index, index + 1).map((name) => ({ name, id })))),
    recorded: idsByName,
    movedAway: idsByName,
    declared: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        renamedFrom: fc.option(fc.constantFrom(...names), { nil: undefined }),
        isMoving: fc.boolean(),
      }),
      { selector: (one) => one.name, minLength: 1, maxLength: 4, size: 'max' },
    ),
  })
  .map(({ existing, recorded, movedAway, declared }) => {
    const textOf = (of: string) => formatAddress(at('Parent', of));
    const documents = declared.map(({ name: of, renamedFrom, isMoving }) =>
      desired(
        at('Parent', of),
        {},
        {
          ...(renamedFrom === undefined ? {} : { renamedFrom }),
          ...(isMoving ? { movedTo: { stack: 'yours' } } : {}),
        },
      ),
    );
    const ledger = {
      ...ledgerOf(
        Object.fromEntries(
          Object.entries(recorded).map(([of, known]) => [textOf(of), record({ id: known })]),
        ),
      ),
      movedAway: new Map(
        Object.entries(movedAway).map(([of, known]) => [
          textOf(of),
          { to: { stack: 'yours' }, id: known, at: '2026-01-01T00:00:00Z' },
        ]),
      ),
    };
    const { kinds } = inputOf({});
    const kind = (of: string) => {
      const found = kinds.get(of);
      if (found === undefined) throw new Error(of);
      return found;
    };
    const matched = matchLive(
      existing.map((one) => live(at('Parent', one.name), { id: one.id })),
      { desired: byAddress(documents), ledger, kind },
    );
    return { documents, ledger, matched, list: nameList(existing) };
  });

describe('The id of a declared resource', () => {
  it('is the one that the plan finds, also with renamed resources and reused names', () => {
    fc.assert(
      fc.property(world, ({ documents, ledger, matched, list }) => {
        const { records, movedAway } = ledger;
        const ids = idsOfDeclared(list, { declared: documents, records, movedAway });
        const declared = documents.filter(isDeclaration).map(({ address }) => formatAddress(address));
        expect(ids).toEqual(new Map(declared.map((text) => [text, matched.get(text)?.id])));
      }),
    );
  });

  it('is given to only one resource', () => {
    fc.assert(
      fc.property(world, ({ documents, ledger: { records }, list }) => {
        const found = [...idsOfDeclared(list, { declared: documents, records }).values()];
        const given = found.filter((one) => one !== undefined);
        expect(new Set(given).size).toBe(given.length);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('The record of one resource', () => {
  it('is the one that the plan uses for it', () => {
    fc.assert(
      fc.property(world, ({ ledger, matched }) => {
        const recordOf = matchRecords(ledger, matched);
        for (const [text, { address, id: known = '' }] of matched) {
          const found = recordOf(text);
          expect(recordAbout(ledger.records, { address, id: known })).toBe(
            found && ledger.records.get(found),
          );
        }
      }),
    );
  });
});
