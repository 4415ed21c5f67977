/** Sample kinds with risks and similarity, the guards of their plans, and worlds with many resources. */
import { formatAddress } from '../../../src/model/address.ts';
import type { Guard, Risk } from '../../../src/model/guard.ts';
import type { Kind } from '../../../src/model/kind.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import type { Spec } from '../../../src/model/resource.ts';
import type { Guards } from '../../../src/model/stack.ts';
import { roleKind, settingsKind, childKind, parentKind, registryOf } from './sample-kind.ts';
import { at, desired, live, planOf, record, type World } from './sample-plan.ts';

/** The colour `glass` shares it with everyone; two of one owner are similar, and more so with the same colour. */
const watchedParent: Kind = {
  ...parentKind,
  risk: (before, after) => {
    const [was, is] = [before?.['colour'] === 'glass', after?.['colour'] === 'glass'];
    if (was === is || after === undefined) return [];
    return [
      is ? opens('colour', 'everyone can look in', 'global-sharing') : closes('colour', 'nobody looks in'),
    ];
  },
  similarity: ({ owner, colour }) => (typeof owner === 'string' ? [owner, String(colour)] : undefined),
};

/** `readers` have access. */
export const watchedRole: Kind = {
  ...roleKind,
  risk: (before, after) => {
    if (after === undefined) return [closes('readers', `${readersOf(before)} read no more`)];
    if (before === undefined) return [opens('readers', `${readersOf(after)} may read`, 'new-role')];
    const gained = readersOf(after).filter((reader) => !readersOf(before).includes(reader));
    const lost = readersOf(before).filter((reader) => !readersOf(after).includes(reader));
    return [
      ...gained.map((reader) =>
        reader === '*'
          ? opens('readers', 'all may read', 'wildcard')
          : opens('readers', `${reader} may read`),
      ),
      ...lost.map((reader) => closes('readers', `${reader} reads no more`)),
    ];
  },
  similarity: (spec) => (readersOf(spec).length === 0 ? undefined : [readersOf(spec).join()]),
};

export function opens(path: string, message: string, guard?: Risk['guard']): Risk {
  return { path: [path], effect: 'widens', message, ...(guard === undefined ? {} : { guard }) };
}

export function closes(path: string, message: string): Risk {
  return { path: [path], effect: 'narrows', message };
}

function readersOf(spec: Spec | undefined): string[] {
  const readers = spec?.['readers'];
  return Array.isArray(readers) ? readers.map(String) : [];
}

export const watchedResources = registryOf(watchedParent, watchedRole, settingsKind, childKind);

export function guardsOf(world: World): readonly Guard[] {
  return planOf({ kinds: watchedResources, ...world }).plan.guards;
}

/** The guards of a plan with their numbers, such as `deletes blocks 4 of 12 (3)`. */
export function firedGuards(world: World): string[] {
  return guardsOf(world).map(({ id, effect, counted, of, limit }) =>
    [id, effect, counted, ...(of === undefined ? [] : [`of ${of} (${limit})`])].join(' '),
  );
}

export interface ParentCounts {
  readonly kept?: number;
  readonly deleted?: number;
  readonly released?: number;
  readonly updated?: number;
  readonly adopted?: number;
  readonly created?: number;
  readonly target?: string;
  readonly guards?: Guards;
}

/** A world with these numbers of parents for each action. */
export function manyParents(of: ParentCounts): World {
  const { target = 'acme' } = of;
  const some = (action: string, count = 0) =>
    Array.from({ length: count }, (_, index) => at('Parent', `${action}-${index}`, target));
  const ours = [
    ...some('kept', of.kept),
    ...some('deleted', of.deleted),
    ...some('released', of.released),
    ...some('updated', of.updated),
  ];
  const records: [string, LedgerRecord][] = ours.map((address) => [
    formatAddress(address),
    record({
      id: `id-${address.name}`,
      origin: address.name.startsWith('released') ? 'adopted' : 'created',
    }),
  ]);
  return {
    desired: [
      ...some('kept', of.kept).map((address) => desired(address, {})),
      ...some('updated', of.updated).map((address) => desired(address, { colour: 'blue' })),
      ...some('adopted', of.adopted).map((address) => desired(address, {}, { adopt: true })),
      ...some('created', of.created).map((address) => desired(address, {})),
    ],
    live: [
      ...ours.map((address) =>
        live(address, { ownershipTag: 'mine', creatorStack: 'mine', spec: { colour: 'red' } }),
      ),
      ...some('adopted', of.adopted).map((address) => live(address)),
    ],
    records: Object.fromEntries(records),
    ...(of.guards === undefined ? {} : { stack: { guards: of.guards } }),
  };
}
