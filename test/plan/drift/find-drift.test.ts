// Drift and pending changes, from ledger, live values and manifests.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalSpec } from '../../../src/compare/comparisons.ts';
import { sameJson } from '../../../src/model/json.ts';
import type { Drift } from '../../../src/model/drift.ts';
import { formatAddress } from '../../../src/model/address.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { buildPlan } from '../../../src/plan/build-plan.ts';
import { findDrift } from '../../../src/plan/find-drift.ts';
import { liveParent, parentSpec } from '../../support/sample-kinds/arbitrary-resources.ts';
import { parentFields } from '../../support/sample-kinds/sample-kind.ts';
import {
  app,
  at,
  desired,
  inputOf,
  live,
  record,
  type World,
} from '../../support/sample-kinds/sample-plan.ts';

const here = formatAddress(app);
const ours = { ownershipTag: 'mine' };

function driftOf(world: World): Drift {
  return findDrift(inputOf(world));
}

/** What happened to each resource, in short: `Parent/acme/app: gone`. */
function actions({ drifted }: Drift): string[] {
  return drifted.map(({ address, is }) => `${formatAddress(address)}: ${is}`);
}

const applied = { [here]: record({ id: 'id-app', fields: { colour: 'red' } }) };

/** Top-level fields of a record whose live value has another meaning. */
function driftedFields(recorded: Spec, other: Spec): string[] {
  const [one, two] = [recorded, other].map((spec) => canonicalSpec(parentFields, spec));
  return Object.keys(one ?? {}).filter((name) => !holds(one?.[name] ?? null, two?.[name] ?? null));
}

/** Compares only the recorded members of an object. */
function holds(recorded: Spec[string], found: Spec[string]): boolean {
  const isAccess = (value: Spec[string]): value is Record<string, Spec[string]> =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    ('key' in value || 'users' in value || 'note' in value);
  if (!isAccess(recorded) || !isAccess(found)) return sameJson(recorded, found);
  return Object.entries(recorded).every(([key, value]) => sameJson(value, found[key] ?? null));
}

it('Only live values make drift, and only manifests make pending changes', () => {
  fc.assert(
    fc.property(
      parentSpec,
      liveParent,
      parentSpec,
      ({ labels: _, hint: __, ...applied }, found, declared) => {
        const fields = canonicalSpec(parentFields, applied);
        const world = (manifest: Spec, spec: Spec): World => ({
          desired: [desired(app, manifest)],
          live: [live(app, { ...ours, spec })],
          records: { [here]: record({ id: 'id-app', fields }) },
        });
        const drift = driftOf(world(declared, found));
        const names = [
          ...new Set(drift.drifted.flatMap((one) => one.fields.map(({ path: [name] }) => name))),
        ];
        expect(names.sort()).toEqual(driftedFields(fields, found).sort());
        expect(drift.unchanged).toBe(names.length === 0 ? 1 : 0);
        // The other side does not influence either.
        expect(driftOf(world(applied, found)).drifted.map(unmarked)).toEqual(drift.drifted.map(unmarked));
        expect(driftOf(world(applied, found)).pending).toEqual([]);
        // The mark is on both sides or on none.
        const marks = (some: Drift['drifted'] | Drift['pending']) =>
          some.some((one) => one.fields.some(({ both }) => both));
        expect(marks(drift.drifted)).toBe(marks(drift.pending));
      },
    ),
  );
});

function unmarked({ fields, ...rest }: Drift['drifted'][number]) {
  return { ...rest, fields: fields.map(({ both: _, ...field }) => field) };
}

it('With the manifests that were applied, drift is what a plan would revert', () => {
  fc.assert(
    fc.property(parentSpec, liveParent, (declared, found) => {
      const input = inputOf({
        desired: [desired(app, declared)],
        live: [live(app, { ...ours, spec: found })],
        records: { [here]: record({ id: 'id-app', fields: recorded(declared) }) },
      });
      const { plan } = buildPlan(input);
      const back = plan.changes
        .flatMap(({ fields }) => fields)
        .filter(({ unknown }) => unknown === undefined);
      const drifted = findDrift(input).drifted.flatMap(({ fields }) => fields);
      expect(drifted.map(({ path, before, after }) => [path, before, after])).toEqual(
        back.map(({ path, before, after }) => [path, after, before]),
      );
    }),
  );
});

/** As an apply records it: without instructions to trueup itself. */
function recorded(declared: Spec): Spec {
  const { hint: _, ...fields } = canonicalSpec(parentFields, declared);
  return fields;
}

it('A deleted resource, a new one with its name, and a renamed one are distinguished', () => {
  const world: World = { desired: [desired(app, { colour: 'red' })], records: applied };
  expect(actions(driftOf(world))).toEqual([`${here}: gone`]);
  const another = live(app, { ...ours, id: 'id-new', spec: { colour: 'red' } });
  expect(driftOf({ ...world, live: [another] }).drifted).toMatchObject([
    { is: 'recreated', id: 'id-app', newId: 'id-new' },
  ]);
  const renamed = live(at('Parent', 'web'), { ...ours, id: 'id-app', spec: { colour: 'red' } });
  expect(driftOf({ ...world, live: [renamed] }).drifted).toMatchObject([
    { is: 'changed', fields: [{ path: ['name'], before: 'app', after: 'web' }] },
  ]);
  expect(driftOf({ ...world, live: [renamed, another] }).drifted).toMatchObject([
    { is: 'recreated', notes: ['the applied resource is now called "web"'] },
  ]);
});

it('A child is not reported if its parent is gone, and by itself if the parent exists', () => {
  const child = at('Child', 'app');
  const records = { ...applied, [formatAddress(child)]: record({ id: 'id-app', fields: { tags: ['a'] } }) };
  const declared = [desired(app, { colour: 'red' }), desired(child, { tags: ['a'] })];
  expect(actions(driftOf({ desired: declared, records }))).toEqual([`${here}: gone`]);
  const both = [live(app, { ...ours, spec: { colour: 'red' } }), live(child, { spec: { tags: ['b'] } })];
  expect(actions(driftOf({ desired: declared, records, live: both }))).toEqual(['Child/acme/app: changed']);
});

it('A removed ownership tag is drift, too', () => {
  const bare = live(app, { spec: { colour: 'red' } });
  expect(driftOf({ desired: [desired(app)], records: applied, live: [bare] }).drifted).toMatchObject([
    { fields: [{ path: ['claim'], before: 'mine' }] },
  ]);
});

it('After an incomplete read, missing resources are not gone, and drift is not ruled out', () => {
  const drift = driftOf({ desired: [desired(app)], records: applied, incomplete: ['page 2 was refused'] });
  expect(drift).toMatchObject({
    drifted: [],
    complete: false,
    undetermined: [{ message: 'page 2 was refused' }],
  });
});

it('Without a record, drift of our resource is unknown, and that is reported', () => {
  const world: World = { desired: [desired(app)], live: [live(app, ours)], ledger: false };
  expect(driftOf(world)).toMatchObject({ complete: false, unrecorded: [{ address: app }] });
  // A resource that is not ours yet cannot have drifted.
  const foreign: World = { desired: [desired(app)], live: [live(app)] };
  expect(driftOf(foreign)).toMatchObject({ complete: true, unrecorded: [{ address: app }] });
});

it('What the manifests add, drop and remove is pending', () => {
  const dropped = at('Parent', 'old');
  const removed = at('Parent', 'out');
  const drift = driftOf({
    desired: [desired(app), desired(removed, {}, { remove: 'safe' })],
    live: [live(dropped, ours), live(removed, ours)],
    records: {
      [formatAddress(dropped)]: record({ id: 'id-old' }),
      [formatAddress(removed)]: record({ id: 'id-out' }),
    },
  });
  expect(drift.pending.map(({ address, is }) => `${address.name}: ${is}`)).toEqual([
    ...['app: new', 'out: removed', 'old: dropped'],
  ]);
  expect(drift.drifted).toEqual([]);
});

it('The drift of a selection is reported only for selected resources', () => {
  const other = formatAddress(at('Parent', 'other'));
  const records = { ...applied, [other]: record({ id: 'id-other' }) };
  const drift = driftOf({ desired: [desired(app)], records, isSelection: true });
  expect(actions(drift)).toEqual([`${here}: gone`]);
  expect(drift.pending.map(({ is }) => is)).toEqual(['changed']);
});
