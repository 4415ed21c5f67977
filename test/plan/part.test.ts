/** A plan of a part is the plan of the whole stack, restricted to the part and to what it needs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressText, formatAddress } from '../../src/model/address.ts';
import type { ChosenPart } from '../../src/model/part.ts';
import type { DesiredResource } from '../../src/model/resource.ts';
import { buildPlan, type PlanResult } from '../../src/plan/build-plan.ts';
import { childKind, registryOf, samples } from '../support/sample-kinds/sample-kind.ts';
import {
  at,
  desired as declaredAt,
  inputOf,
  live,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

/** Each in its own file, because problems of one place are joined. */
function desired(...args: Parameters<typeof declaredAt>): DesiredResource {
  const resource = declaredAt(...args);
  const place = { ...resource.place, file: formatAddress(args[0]) };
  return { ...resource, place, placeOf: () => place };
}

const names = ['a', 'b', 'c', 'd'];

/** Children of the sample refer to the parents in their tags. */
const kinds = registryOf(...[...samples.values()].filter(({ name }) => name !== 'Child'), {
  ...childKind,
  references: ({ address, spec }) => [
    { to: at('Parent', address.name), path: [] },
    ...(Array.isArray(spec['tags']) ? spec['tags'] : []).map((name) => ({
      to: at('Parent', String(name)),
      path: ['tags'],
    })),
  ],
});

const colours = fc.constantFrom('red', 'blue');

/** What is declared, live and recorded for one name. */
const fate = fc.record({
  declared: fc.constantFrom('yes', 'no', 'remove', 'adopt'),
  live: fc.constantFrom('ours', 'foreign', 'none'),
  isRecorded: fc.boolean(),
  colour: colours,
  liveColour: colours,
  tags: fc.option(fc.subarray(names), { nil: undefined }),
});

const worlds = fc.record({ a: fate, b: fate, c: fate, d: fate }).map((fates): World => {
  const all = Object.entries(fates);
  const documents = all.flatMap(([name, { declared, colour, tags }]): DesiredResource[] => {
    const parent = at('Parent', name);
    const child = tags === undefined ? [] : [desired(at('Child', name), { tags })];
    if (declared === 'remove') return [desired(parent, {}, { remove: 'safe' })];
    if (declared === 'no') return [];
    return [desired(parent, { colour }, declared === 'adopt' ? { adopt: true } : {}), ...child];
  });
  return {
    kinds,
    desired: documents,
    live: all.flatMap(([name, { live: is, liveColour }]) =>
      is === 'none'
        ? []
        : [
            live(at('Parent', name), {
              spec: { colour: liveColour },
              ...(is === 'ours' ? { ownershipTag: 'mine', creatorStack: 'mine' } : {}),
            }),
          ],
    ),
    records: Object.fromEntries(
      all.flatMap(([name, { isRecorded }]) =>
        isRecorded ? [[`Parent/acme/${name}`, record({ id: `id-${name}` })]] : [],
      ),
    ),
  };
});

/** A world, and some of the resources that it declares. */
const parts = worlds.chain((world) =>
  fc.record({ world: fc.constant(world), some: fc.subarray([...(world.desired ?? [])]) }),
);

const textOf = ({ address }: Pick<DesiredResource, 'address'>) => formatAddress(address);

function planOfPart(
  world: World,
  selected: ReadonlySet<AddressText>,
  more: Partial<ChosenPart> = {},
): PlanResult {
  const part = {
    selectors: ['x'],
    selected,
    excluded: new Set<AddressText>(),
    targets: new Set(['acme']),
    ...more,
  };
  return buildPlan({ ...inputOf(world), part });
}

/** The meaning of a change, without the note about resources that come along. */
const meanings = ({ plan: { changes } }: PlanResult) =>
  new Map(
    changes.map(({ address, action, reason, fields, id }) => [
      formatAddress(address),
      { action, reason, fields, id },
    ]),
  );

describe('A plan of a part', () => {
  it('has the changes of the whole plan that are selected or come along, and no other', () => {
    fc.assert(
      fc.property(parts, ({ world, some }) => {
        const selected = new Set(some.map(textOf));
        const [whole, part] = [buildPlan(inputOf(world)), planOfPart(world, selected)];
        const along = new Set(part.plan.part?.along.map(({ address }) => address));
        const expected = [...meanings(whole)].filter(([text]) => selected.has(text) || along.has(text));
        expect(meanings(part)).toEqual(new Map(expected));
        expect(part.plan.selection).toEqual([...selected].sort());
        expect(part.plan.coverage).toEqual(whole.plan.coverage);
        const problems = new Set(whole.plan.problems.map(({ message }) => message));
        for (const { message } of part.plan.problems) expect(problems).toContain(message);
        for (const text of [...part.records.keys()]) expect(selected.has(text) || along.has(text)).toBe(true);
      }),
    );
  });

  it('brings along only resources that others in it need, and none that are selected', () => {
    fc.assert(
      fc.property(parts, ({ world, some }) => {
        const selected = new Set(some.map(textOf));
        const { plan, live: liveAt } = planOfPart(world, selected);
        const along = plan.part?.along ?? [];
        const inPlan = new Set([...selected, ...along.map(({ address }) => address)]);
        const declared = new Map((world.desired ?? []).map((one) => [textOf(one), one]));
        for (const { address, neededBy } of along) {
          expect(selected.has(address)).toBe(false);
          expect(neededBy.length).toBeGreaterThan(0);
          for (const text of neededBy) {
            expect(inPlan.has(text)).toBe(true);
            const { name } = declared.get(text)?.address ?? {};
            const isParent = address === formatAddress(at('Parent', name ?? ''));
            const isMissing = liveAt(declared.get(address)?.address ?? at('', '')) === undefined;
            expect(isParent || isMissing).toBe(true);
          }
        }
      }),
    );
  });

  it('of all declared resources equals the whole plan without undeclared ones, with another digest', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const all = new Set((world.desired ?? []).map(textOf));
        const [whole, part] = [buildPlan(inputOf(world)), planOfPart(world, all)];
        const declared = [...meanings(whole)].filter(([text]) => all.has(text));
        expect(meanings(part)).toEqual(new Map(declared));
        expect(part.plan.part?.along).toEqual([]);
        expect(part.plan.digest).not.toBe(whole.plan.digest);
        const undeclared = meanings(whole).size - declared.length;
        expect(part.plan.part?.leftOut).toBeGreaterThanOrEqual(undeclared);
      }),
    );
  });

  it('removes, releases and forgets only what a selected document asks to remove', () => {
    fc.assert(
      fc.property(parts, ({ world, some }) => {
        const selected = new Set(some.map(textOf));
        const { plan, forget } = planOfPart(world, selected);
        const requested = new Set(some.filter(({ metadata }) => metadata.remove !== undefined).map(textOf));
        for (const { action, address } of plan.changes)
          if (action === 'delete' || action === 'release')
            expect(requested.has(formatAddress(address))).toBe(true);
        for (const text of forget) expect(selected.has(text)).toBe(true);
      }),
    );
  });

  it('has another digest for another part and for other selectors', () => {
    // Only the first one changes.
    const world: World = {
      desired: names.map((name) => desired(at('Parent', name), {})),
      live: names.slice(1).map((name) => live(at('Parent', name), { ownershipTag: 'mine' })),
      records: Object.fromEntries(names.map((name) => [`Parent/acme/${name}`, record({ id: `id-${name}` })])),
    };
    const digestOf = (some: readonly string[], selectors = ['x']) =>
      planOfPart(world, new Set(some.map((name) => formatAddress(at('Parent', name)))), { selectors }).plan
        .digest;
    const digests = [
      digestOf(['a']),
      digestOf(['b']),
      digestOf(['a', 'b']),
      digestOf(['a'], ['y']),
      digestOf(['a'], ['x', 'y']),
      buildPlan(inputOf(world)).plan.digest,
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('reports a resource that it needs but that is excluded', () => {
    const world: World = {
      kinds,
      desired: [
        desired(at('Parent', 'a'), {}),
        desired(at('Child', 'a'), { tags: ['b'] }),
        desired(at('Parent', 'b'), {}),
      ],
    };
    const child = formatAddress(at('Child', 'a'));
    const parent = formatAddress(at('Parent', 'a'));
    const excluded = new Set([formatAddress(at('Parent', 'b'))]);
    const { plan } = planOfPart(world, new Set([child, parent]), { excluded });
    expect(plan.problems).toMatchObject([{ code: 'selection-needs-excluded', class: 'invalid' }]);
  });
});
