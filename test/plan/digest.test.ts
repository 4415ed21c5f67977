import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import type { FieldChange } from '../../src/model/field.ts';
import type { PlanTarget } from '../../src/model/plan.ts';
import { digestOf } from '../../src/plan/digest.ts';
import { parentSpec, liveParent, rewritten } from '../support/sample-kinds/arbitrary-resources.ts';
import { at, desired, live, planOf, record } from '../support/sample-kinds/sample-plan.ts';

const target: PlanTarget = {
  name: 'acme',
  service: 'workspaces',
  url: 'https://toys.test',
  place: 'acme',
  dialect: 'neutral',
};

const field: FieldChange = { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' };

const change: Change = {
  address: at('Parent', 'app'),
  action: 'update',
  reason: 'because',
  fields: [field],
  notes: [],
  calls: [],
  preconditions: {},
};

interface Meaning {
  readonly stack?: string;
  readonly targets?: readonly PlanTarget[];
  readonly changes?: readonly Change[];
}

function digest({ stack = 'mine', targets = [target], changes = [change] }: Meaning = {}): string {
  return digestOf({ stack, targets, changes, changedNames: [] });
}

it('a digest is 32 hexadecimal characters', () => {
  expect(digest()).toMatch(/^[0-9a-f]{32}$/);
});

describe('the digest of a plan stays the same', () => {
  /** Parents with a declared and a different live spec, in random order and spelling. */
  const parentLists = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,3}$/), parentSpec, liveParent), {
    minLength: 1,
    maxLength: 5,
    selector: ([name]) => name,
  });

  function digestOfParents(parents: readonly (readonly [string, object, object])[]): string {
    const { plan } = planOf({
      desired: parents.map(([name, spec]) => desired(at('Parent', name), { ...spec })),
      live: parents.map(([name, , spec]) =>
        live(at('Parent', name), { spec: { ...spec }, ownershipTag: 'mine' }),
      ),
      records: Object.fromEntries(parents.map(([name]) => [`Parent/acme/${name}`, record()])),
    });
    return plan.digest;
  }

  it('in any order of files, keys and sets, and in any spelling of values', () => {
    const twice = parentLists.chain((parents) =>
      fc
        .tuple(
          ...parents.map(([name, spec, found]) =>
            fc.tuple(fc.constant(name), rewritten(spec), rewritten(found)),
          ),
        )
        .chain((other) => fc.shuffledSubarray(other, { minLength: other.length }))
        .map((other) => [parents, other] as const),
    );
    fc.assert(
      fc.property(twice, ([parents, other]) => {
        expect(digestOfParents(other)).toBe(digestOfParents(parents));
      }),
    );
  });

  it('in any order of changes, fields and targets', () => {
    const other = { ...change, address: at('Parent', 'lib') };
    const second = { ...target, name: 'zone' };
    expect(digest({ changes: [other, change], targets: [second, target] })).toBe(
      digest({ changes: [change, other], targets: [target, second] }),
    );
    const more: FieldChange = { path: ['timeout'], after: 5, shape: 'duration' };
    expect(digest({ changes: [{ ...change, fields: [field, more] }] })).toBe(
      digest({ changes: [{ ...change, fields: [more, field] }] }),
    );
  });

  it.each<[string, Partial<Change>]>([
    ['the reason', { reason: 'for another reason' }],
    ['the list of notes', { notes: ['somebody should know'] }],
    ['the place', { place: { file: 'x.yaml', line: 9, column: 1, length: 1, text: '' } }],
    ['a precondition of the calls', { preconditions: { content: 1 } }],
    ['the origin of a value', { fields: [{ ...field, origin: 'default' }] }],
  ])('if only %s differs', (_, about) => {
    expect(digest({ changes: [{ ...change, ...about }] })).toBe(digest());
  });
});

describe('the digest changes', () => {
  it.each<[string, Meaning]>([
    ['the name of the stack', { stack: 'yours' }],
    ['the url of a target', { targets: [{ ...target, url: 'https://other.test' }] }],
    ['the organization or mount', { targets: [{ ...target, place: 'zone' }] }],
    ['the dialect', { targets: [{ ...target, dialect: 'hcp' }] }],
    ['one target more', { targets: [target, { ...target, name: 'zone' }] }],
    ['one change more', { changes: [change, { ...change, address: at('Parent', 'lib') }] }],
    ['no change', { changes: [] }],
    ['another resource', { changes: [{ ...change, address: at('Parent', 'lib') }] }],
    ['another action', { changes: [{ ...change, action: 'adopt' }] }],
    ['one field more', { changes: [{ ...change, fields: [field, { ...field, path: ['owner'] }] }] }],
    ['no field', { changes: [{ ...change, fields: [] }] }],
    ['another value before', { changes: [{ ...change, fields: [{ ...field, before: 'green' }] }] }],
    ['another value after', { changes: [{ ...change, fields: [{ ...field, after: 'green' }] }] }],
    ['an unknown value before', { changes: [{ ...change, fields: [unknownBefore()] }] }],
    ['another path', { changes: [{ ...change, fields: [{ ...field, path: ['colour', 'blue'] }] }] }],
    ['null instead of a missing value', { changes: [{ ...change, fields: [{ ...field, before: null }] }] }],
    ['a missing value instead of null', { changes: [{ ...change, fields: [withoutBefore()] }] }],
  ])('with %s', (_, meaning) => {
    expect(digest(meaning)).not.toBe(digest());
  });

  it('between null and a missing value, on either side', () => {
    const fields: FieldChange[] = [
      { path: ['a'], shape: 'scalar', before: null },
      { path: ['a'], shape: 'scalar', after: null },
      { path: ['a'], shape: 'scalar', before: null, after: null },
      { path: ['a'], shape: 'scalar', before: 'null', after: null },
    ];
    const digests = fields.map((one) => digest({ changes: [{ ...change, fields: [one] }] }));
    expect(new Set(digests).size).toBe(fields.length);
  });

  it('with any change of the planned value of a field', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [a, b] = [one, other].map((after) =>
          digest({
            changes: [{ ...change, fields: [{ ...field, after: JSON.parse(JSON.stringify(after)) }] }],
          }),
        );
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
        expect(a === b).toBe(isSame);
      }),
    );
  });

  it('when a safe delete becomes a forced one', () => {
    const digestOfRemoval = (remove: 'safe' | 'force') =>
      planOf({
        desired: [desired(at('Parent', 'app'), {}, { remove })],
        live: [live(at('Parent', 'app'), { ownershipTag: 'mine' })],
        records: { 'Parent/acme/app': record({ id: 'id-app' }) },
      }).plan.digest;
    expect(digestOfRemoval('force')).not.toBe(digestOfRemoval('safe'));
  });
});

function unknownBefore(): FieldChange {
  return { path: ['colour'], unknown: 'not told', after: 'blue', shape: 'scalar' };
}

function withoutBefore(): FieldChange {
  return { path: ['colour'], after: 'blue', shape: 'scalar' };
}

/** The same value with its keys in order, so that texts can be compared. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)])
    .concat([['', 'object']]);
}
