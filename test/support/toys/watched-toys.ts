/** Toys whose changes are told as risks, what their plans trip, and crowds of them. */
import { formatAddress } from '../../../src/model/resource/address.ts';
import type { Guard } from '../../../src/model/plan/guard.ts';
import type { Kind } from '../../../src/model/kind/kind.ts';
import type { LedgerRecord } from '../../../src/model/stack/ledger.ts';
import type { Spec } from '../../../src/model/resource/resource.ts';
import type { Risk } from '../../../src/model/plan/risk.ts';
import type { Guards } from '../../../src/model/stack/target.ts';
import { door, fence, garden, house, registryOf } from './toy-kind.ts';
import { at, desired, live, planOf, record, type World } from './toy-plan.ts';

/** Houses that were painted with glass can be looked into; two of one owner look alike, the more so with one colour. */
const watchedHouse: Kind = {
  ...house,
  risk: (before, after) => {
    const [was, is] = [before?.['colour'] === 'glass', after?.['colour'] === 'glass'];
    if (was === is || after === undefined) return [];
    return [
      is ? opens('colour', 'everyone can look in', 'global-sharing') : closes('colour', 'nobody looks in'),
    ];
  },
  similarity: ({ owner, colour }) => (typeof owner === 'string' ? [owner, String(colour)] : undefined),
};

/** Whoever stands in `rooms` may come in. */
export const watchedDoor: Kind = {
  ...door,
  risk: (before, after) => {
    if (after === undefined) return [closes('rooms', `${roomsOf(before)} stay out`)];
    if (before === undefined) return [opens('rooms', `${roomsOf(after)} may come in`, 'new-role')];
    const gained = roomsOf(after).filter((room) => !roomsOf(before).includes(room));
    const lost = roomsOf(before).filter((room) => !roomsOf(after).includes(room));
    return [
      ...gained.map((room) =>
        room === '*' ? opens('rooms', 'all may come in', 'wildcard') : opens('rooms', `${room} may come in`),
      ),
      ...lost.map((room) => closes('rooms', `${room} stays out`)),
    ];
  },
  similarity: (spec) => (roomsOf(spec).length === 0 ? undefined : [roomsOf(spec).join()]),
};

export function opens(path: string, says: string, guard?: Risk['guard']): Risk {
  return { path: [path], effect: 'widens', says, ...(guard === undefined ? {} : { guard }) };
}

export function closes(path: string, says: string): Risk {
  return { path: [path], effect: 'narrows', says };
}

function roomsOf(spec: Spec | undefined): string[] {
  const rooms = spec?.['rooms'];
  return Array.isArray(rooms) ? rooms.map(String) : [];
}

export const watchedToys = registryOf(watchedHouse, watchedDoor, fence, garden);

export function guardsOf(world: World): readonly Guard[] {
  return planOf({ kinds: watchedToys, ...world }).plan.guards;
}

/** The guards that fire, each with its numbers: `deletes blocks 4 of 12 (3)`. */
export function fired(world: World): string[] {
  return guardsOf(world).map(({ id, effect, counted, of, limit }) =>
    [id, effect, counted, ...(of === undefined ? [] : [`of ${of} (${limit})`])].join(' '),
  );
}

export interface Crowd {
  readonly kept?: number;
  readonly deleted?: number;
  readonly released?: number;
  readonly updated?: number;
  readonly adopted?: number;
  readonly created?: number;
  readonly target?: string;
  readonly guards?: Guards;
}

/** That many houses of each fate. */
export function crowd(of: Crowd): World {
  const { target = 'acme' } = of;
  const some = (fate: string, count = 0) =>
    Array.from({ length: count }, (_, index) => at('House', `${fate}-${index}`, target));
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
      ...ours.map((address) => live(address, { claim: 'mine', bornOf: 'mine', spec: { colour: 'red' } })),
      ...some('adopted', of.adopted).map((address) => live(address)),
    ],
    records: Object.fromEntries(records),
    ...(of.guards === undefined ? {} : { stack: { guards: of.guards } }),
  };
}
