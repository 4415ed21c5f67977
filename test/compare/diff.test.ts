import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../src/model/field.ts';
import { isJsonObject, type Json } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/resource.ts';
import { canonicalSpec } from '../../src/compare/comparisons.ts';
import { type DiffInput, diff } from '../../src/compare/diff.ts';
import { parentSpec, liveParent, rewritten } from '../support/sample-kinds/arbitrary-resources.ts';
import { parentFields } from '../support/sample-kinds/sample-kind.ts';

function changesOf(about: Partial<DiffInput>): readonly FieldChange[] {
  return diffOf(about).fields;
}

function diffOf(about: Partial<DiffInput>) {
  return diff({
    fields: parentFields,
    desired: {},
    live: {},
    recorded: undefined,
    absent: 'unmanaged',
    ...about,
  });
}

/** Carries field changes out on plain data, like a service does. */
function carriedOut(live: Spec, changes: readonly FieldChange[]): Spec {
  const after = structuredClone(canonicalSpec(parentFields, live)) as Record<string, Json>;
  for (const { path, after: value } of changes) {
    const [name = '', member] = path;
    const current = after[name];
    const next =
      member === undefined ? value : withMember(isJsonObject(current) ? current : {}, member, value);
    if (next === undefined) delete after[name];
    else after[name] = next;
  }
  return after;
}

function withMember(object: Readonly<Record<string, Json>>, name: string, value: Json | undefined): Json {
  const others = Object.entries(object).filter(([key]) => key !== name);
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]]);
}

describe('any resource', () => {
  it('that equals its manifest has no difference', () => {
    fc.assert(
      fc.property(parentSpec, (spec) => {
        expect(changesOf({ desired: spec, live: spec })).toEqual([]);
      }),
    );
  });

  it('that is returned in other spellings has no difference', () => {
    const pairs = parentSpec.chain((spec) => fc.tuple(fc.constant(spec), rewritten(spec)));
    fc.assert(
      fc.property(pairs, ([spec, other]) => {
        expect(changesOf({ desired: spec, live: other })).toEqual([]);
        expect(changesOf({ desired: other, live: spec })).toEqual([]);
      }),
    );
  });

  it('has no difference after its changes are carried out', () => {
    fc.assert(
      fc.property(parentSpec, liveParent, (desired, live) => {
        const after = carriedOut(live, changesOf({ desired, live }));
        expect(changesOf({ desired, live: after })).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps values that the manifest does not declare', () => {
    fc.assert(
      fc.property(parentSpec, liveParent, (desired, live) => {
        for (const { path } of changesOf({ desired, live })) expect(Object.keys(desired)).toContain(path[0]);
      }),
    );
  });

  it('shows the same changes for any spelling and order of keys', () => {
    const triples = fc
      .tuple(parentSpec, liveParent)
      .chain(([desired, live]) =>
        fc.tuple(fc.constant(desired), fc.constant(live), rewritten(desired), rewritten(live)),
      );
    fc.assert(
      fc.property(triples, ([desired, live, otherDesired, otherLive]) => {
        expect(changesOf({ desired: otherDesired, live: otherLive })).toEqual(changesOf({ desired, live }));
      }),
    );
  });

  it('that does not exist yet is reported completely, without values before', () => {
    fc.assert(
      fc.property(parentSpec, (desired) => {
        const changes = changesOf({ desired, live: undefined, recorded: { about: 'old', colour: 'blue' } });
        const { hint: _, ...managed } = canonicalSpec(parentFields, desired);
        const values = changes.map(({ path, after }) => [path.join(), after]);
        expect(Object.fromEntries(values)).toEqual(managed);
        expect(changes.every((change) => !('before' in change) && change.unknown === undefined)).toBe(true);
      }),
    );
  });
});

describe('a field that is not declared', () => {
  it('is reset to its default if this stack had set it, and says so', () => {
    expect(changesOf({ live: { colour: 'blue' }, recorded: { colour: 'blue' } })).toEqual([
      { path: ['colour'], before: 'blue', after: 'red', shape: 'scalar', origin: 'no longer declared' },
    ]);
  });

  it('is not changed when it has its default already', () => {
    expect(changesOf({ live: { colour: 'red' }, recorded: { colour: 'blue' } })).toEqual([]);
  });

  it('is left as it is, with a note, if it has no default', () => {
    expect(diffOf({ live: { owner: 'ann' }, recorded: { owner: 'ann' } })).toEqual({
      fields: [],
      notes: ['owner is no longer declared and has no default: it keeps its value'],
    });
  });

  it('of a resource to be created is not mentioned', () => {
    const found = diffOf({ live: undefined, recorded: { colour: 'blue', owner: 'ann' } });
    expect(found).toEqual({ fields: [], notes: [] });
  });

  it('gets its default if every write replaces the whole resource', () => {
    const changes = changesOf({ absent: 'default', live: { colour: 'blue' }, desired: { owner: 'ann' } });
    const ofColour = changes.filter(({ path }) => path[0] === 'colour');
    expect(ofColour).toEqual([
      { path: ['colour'], before: 'blue', after: 'red', shape: 'scalar', origin: 'default' },
    ]);
  });

  it('is never reset when it is a secret', () => {
    const recorded = { credential: { set: true, version: 1 } };
    expect(changesOf({ recorded, absent: 'unmanaged' })).toEqual([]);
    expect(changesOf({ recorded, absent: 'default' }).map(({ path }) => path[0])).not.toContain('credential');
  });
});

describe('null, missing and empty values differ', () => {
  it('null asks for the default', () => {
    expect(changesOf({ desired: { colour: null }, live: { colour: 'blue' } })).toEqual([
      { path: ['colour'], before: 'blue', after: 'red', shape: 'scalar', origin: 'default' },
    ]);
  });

  it('an empty set removes all elements', () => {
    expect(changesOf({ desired: { readers: [] }, live: { readers: ['a'] } })).toEqual([
      { path: ['readers'], before: ['a'], after: [], shape: 'set' },
    ]);
  });

  it('an empty map removes all keys, one by one', () => {
    expect(changesOf({ desired: { labels: {} }, live: { labels: { b: '2', a: '1' } } })).toEqual([
      { path: ['labels', 'a'], before: '1', shape: 'scalar' },
      { path: ['labels', 'b'], before: '2', shape: 'scalar' },
    ]);
  });

  it('null for an object removes it', () => {
    expect(changesOf({ desired: { access: null }, live: { access: { note: 'x' } } })).toEqual([
      { path: ['access'], before: { note: 'x' }, after: null, shape: 'scalar', origin: 'default' },
    ]);
  });
});

describe('the keys of a map', () => {
  it('may be any property of JavaScript objects, such as constructor', () => {
    const found = changesOf({
      desired: { labels: { constructor: 'x' } },
      live: { labels: { toString: 'y' } },
    });
    expect(found).toEqual([
      { path: ['labels', 'constructor'], after: 'x', shape: 'scalar' },
      { path: ['labels', 'toString'], before: 'y', shape: 'scalar' },
    ]);
  });
});

describe('the members of an object', () => {
  const live = { access: { note: 'round', users: ['car'], key: 'k' } };

  it('that are missing are not managed', () => {
    expect(changesOf({ desired: { access: { users: ['car', 'ball'] } }, live })).toEqual([
      { path: ['access', 'users'], before: ['car'], after: ['ball', 'car'], shape: 'set' },
    ]);
  });

  it('that are null ask for their own default', () => {
    expect(changesOf({ desired: { access: { note: null } }, live })).toEqual([
      { path: ['access', 'note'], before: 'round', after: null, shape: 'scalar', origin: 'default' },
    ]);
  });

  it('that are no longer declared are reset, or left with a note', () => {
    const recorded = { access: { note: 'round', key: 'k', users: ['car'] } };
    expect(diffOf({ desired: { access: { users: ['car'] } }, live, recorded })).toEqual({
      fields: [
        {
          path: ['access', 'note'],
          before: 'round',
          after: null,
          shape: 'scalar',
          origin: 'no longer declared',
        },
      ],
      notes: ['access.key is no longer declared and has no default: it keeps its value'],
    });
  });

  it('are set as a whole if there was no object', () => {
    expect(changesOf({ desired: { access: { note: 'x' } }, live: { access: null } })).toEqual([
      { path: ['access'], before: null, after: { note: 'x' }, shape: 'scalar' },
    ]);
  });
});

describe('a value that the service does not report', () => {
  it('is compared with what we last applied', () => {
    expect(changesOf({ desired: { owner: 'ann' }, live: {}, recorded: { owner: 'ann' } })).toEqual([]);
    expect(changesOf({ desired: { owner: 'ann' }, live: {}, recorded: { owner: 'bob' } })).toEqual([
      { path: ['owner'], unknown: 'not returned by the service', after: 'ann', shape: 'scalar' },
    ]);
  });

  it('is a change if there is no record of it', () => {
    expect(changesOf({ desired: { owner: 'ann' }, live: {} })).toHaveLength(1);
  });

  it('of a secret changes only with its version and its source', () => {
    const recorded = { credential: { set: true, version: 1, env: 'CODE' } };
    expect(changesOf({ desired: { credential: { env: 'CODE', version: 1 } }, recorded })).toEqual([]);
    for (const [written, after] of [
      [
        { env: 'CODE', version: 2 },
        { set: true, version: 2, env: 'CODE' },
      ],
      [{ env: 'MOVED' }, { set: true, version: 1, env: 'MOVED' }],
      [{ file: 'CODE' }, { set: true, version: 1, file: 'CODE' }],
    ] as const)
      expect(changesOf({ desired: { credential: written }, recorded })).toEqual([
        { path: ['credential'], unknown: 'not returned by the service', after, shape: 'secret' },
      ]);
  });

  it('is always a change, with the reason why it is unknown', () => {
    const unknown = { readers: 'hidden while it rains' };
    expect(changesOf({ desired: { readers: ['a'] }, live: { readers: ['a'] }, unknown })).toEqual([
      { path: ['readers'], unknown: 'hidden while it rains', after: ['a'], shape: 'set' },
    ]);
  });
});

describe('a field that only a create sends', () => {
  it('is part of a create', () => {
    expect(changesOf({ desired: { madeBy: 'ann' }, live: undefined })).toEqual([
      { path: ['madeBy'], after: 'ann', shape: 'scalar' },
    ]);
  });

  it('is a note when it differs, and never a change', () => {
    expect(diffOf({ desired: { madeBy: 'ann' }, live: { madeBy: 'bob' } })).toEqual({
      fields: [],
      notes: ['madeBy can only be set at creation: live "bob", declared "ann"'],
    });
  });

  it('has no note when the service does not report it', () => {
    expect(diffOf({ desired: { madeBy: 'ann' }, live: {} })).toEqual({ fields: [], notes: [] });
  });
});

it('a field for trueup itself is never a difference', () => {
  expect(changesOf({ desired: { hint: 'x' }, live: { hint: 'y' } })).toEqual([]);
  expect(changesOf({ desired: { hint: 'x' }, live: undefined })).toEqual([]);
});
