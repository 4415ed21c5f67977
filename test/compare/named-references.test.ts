/** Properties of names: which id a name resolves to, for any other resources of the service. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveNames, resolveSpec, withNames, withUniqueNames } from '../../src/compare/named-references.ts';
import type { FieldChange } from '../../src/model/field.ts';
import { nameList, type NamedReference, uniqueName } from '../../src/model/named-reference.ts';
import { digestOf } from '../../src/plan/digest.ts';

const references: readonly NamedReference[] = [
  { name: ['owner'], id: ['ownerId'], objectType: 'owner' },
  { name: ['source', 'host'], id: ['source', 'hostId'], objectType: 'host' },
];

/** Few letters, so that names and ids are repeated and similar. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A', ' ', '"'), minLength: 1, maxLength: 3 });
const objects = fc.uniqueArray(fc.record({ id: word, name: word }), {
  selector: ({ id }) => id,
  maxLength: 8,
});

/** Often with ids of existing resources. */
const spec = fc.record(
  {
    ownerId: fc.oneof(word, fc.constant(null)),
    source: fc.record({ hostId: word, path: word }, { requiredKeys: [] }),
    other: word,
  },
  { requiredKeys: [] },
);

describe('A name', () => {
  it('resolves to an id only if exactly one resource has it, in this spelling', () => {
    fc.assert(
      fc.property(objects, word, (all, name) => {
        const lists = new Map([['owner', nameList(all)]]);
        const found = resolveSpec({ owner: name }, { references, lists });
        const same = all.filter((one) => one.name === name);
        expect(found.spec).toEqual(same.length === 1 ? { ownerId: same[0]?.id } : {});
        expect(found.unknown).toHaveLength(same.length === 1 ? 0 : 1);
      }),
    );
  });

  it('does not resolve with a list that may be incomplete', () => {
    fc.assert(
      fc.property(objects, word, (all, name) => {
        const lists = new Map([['owner', nameList(all, 'it was not read to its end')]]);
        expect(resolveSpec({ owner: name }, { references, lists }).spec).toEqual({});
      }),
    );
  });

  it('that is unique resolves back to its id', () => {
    fc.assert(
      fc.property(objects, (all) => {
        const list = nameList(all);
        for (const { id } of all) {
          const name = uniqueName(list, id);
          if (name === undefined) continue;
          const { spec: resolved } = resolveSpec(
            { owner: name },
            { references, lists: new Map([['owner', list]]) },
          );
          expect(resolved).toEqual({ ownerId: id });
        }
      }),
    );
  });

  it('is written for an id so that it resolves to the same id', () => {
    fc.assert(
      fc.property(spec, objects, objects, (live, owners, hosts) => {
        const lists = new Map([
          ['owner', nameList(owners)],
          ['host', nameList(hosts)],
        ]);
        const written = withUniqueNames(live, { references, lists });
        const { spec: resolved, unknown } = resolveSpec(written, { references, lists });
        expect(resolved).toEqual(live);
        expect(unknown).toEqual([]);
      }),
    );
  });

  it('is shown beside an id, and does not change the digest', () => {
    fc.assert(
      fc.property(objects, word, word, (all, before, after) => {
        const fields: readonly FieldChange[] = [{ path: ['ownerId'], before, after, shape: 'scalar' }];
        const lists = new Map([['owner', nameList(all)]]);
        const [shown] = withNames(fields, { references, lists });
        const nameOf = (id: string) => all.find((one) => one.id === id)?.name;
        expect([shown?.before, shown?.after]).toEqual([before, after]);
        expect([shown?.names?.[0]?.before, shown?.names?.[0]?.after]).toEqual([
          nameOf(before),
          nameOf(after),
        ]);
        const digest = (some: readonly FieldChange[]) => {
          const address = { kind: 'Toy', target: 'acme', name: 'a' };
          return digestOf({
            stack: 's',
            targets: [],
            changes: [{ address, action: 'update', fields: some }],
            changedNames: [],
          });
        };
        expect(digest(shown === undefined ? [] : [shown])).toBe(digest(fields));
      }),
    );
  });
});

it('Of many unknown names, only the first are compared with all others', () => {
  const all = Array.from({ length: 60 }, (_, number) => ({ id: `id-${number}`, name: `team ${number}` }));
  const lists = new Map([['owner', nameList(all)]]);
  const place = { file: 'a.yaml', line: 1, column: 1, length: 1, text: '' };
  const fixes = all.flatMap(({ name }) => {
    const resource = {
      ...{ address: { kind: 'Toy', target: 'acme', name }, spec: { owner: `${name}x` }, metadata: { name } },
      ...{ place, placeOf: () => place, fromDefaults: [] },
    };
    return resolveNames(resource, { references, lists, recorded: () => [] }).problems.map(({ fix }) => fix);
  });
  expect(fixes).toHaveLength(60);
  expect(fixes.filter((fix) => fix?.startsWith('did you mean'))).toHaveLength(20);
});
