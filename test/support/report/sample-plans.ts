/** Complete plans about sample kinds: one with everything that a report can show, and long ones. */
import { IdReference, SecretReference } from '../../../src/model/call.ts';
import type { Action, Change } from '../../../src/model/change.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { formatAddress } from '../../../src/model/address.ts';
import { call, change, place, plan } from './small-plan.ts';

export const sample = (name: string) => ({ kind: 'Toy', target: 'acme', name });
const child = (name: string) => ({ kind: 'Child', target: 'attic', name });

/** Deletes behind a guard, access that is gained and lost, every form of difference, and changes that depend on each other. */
export const fullPlan: Plan = plan({
  targets: [
    { name: 'acme', service: 'workspaces', url: 'https://toys.test', place: 'acme', dialect: 'neutral' },
    { name: 'attic', service: 'cluster-auth', url: 'https://attic.test', place: 'toys', dialect: 'neutral' },
  ],
  changes: [
    change({
      action: 'create',
      reason: 'declared, not live',
      address: sample('kite'),
      fields: [
        { path: ['colour'], after: 'red', shape: 'scalar' },
        { path: ['key'], after: 'one\ntwo', shape: 'text' },
        { path: ['pause'], after: 5400, shape: 'duration', origin: 'default' },
        { path: ['token'], after: { set: true, version: 2, env: 'TOY_TOKEN' }, shape: 'secret' },
      ],
      calls: [
        call({
          id: 'Toy/acme/kite#create',
          method: 'POST',
          path: ['toys'],
          body: { name: 'kite', token: new SecretReference({ env: 'TOY_TOKEN' }) },
          createsId: { address: formatAddress(sample('kite')), pointer: '/data/id' },
        }),
      ],
    }),
    change({
      address: child('tail'),
      fields: [{ path: ['of'], before: 'ball', after: 'kite', shape: 'scalar' }],
      calls: [
        call({
          id: 'Child/attic/tail#update',
          target: 'attic',
          path: ['parts', 'part-1'],
          body: { of: new IdReference(formatAddress(sample('kite'))) },
        }),
      ],
    }),
    change({
      address: sample('ball'),
      fields: [
        { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
        { path: ['friends'], before: ['ann', 'bob'], after: ['ann', 'eve'], shape: 'set' },
        { path: ['text'], before: 'one\ntwo\nthree', after: 'one\n2\nthree', shape: 'text' },
      ],
      risks: [
        { path: ['friends'], effect: 'widens', message: '"eve" may play with it' },
        { path: ['friends'], effect: 'narrows', message: '"bob" may play with it no more' },
      ],
      notes: ['the colour fades'],
      lastModified: {
        modifications: [
          {
            at: '2026-11-22T10:00:00Z',
            actor: { id: 'user-1', name: 'ann', kind: 'Client' },
            resource: { type: 'toy', action: 'update' },
            event: 'event-1',
          },
        ],
      },
    }),
    removal(sample('old'), 'toy-7'),
  ],
  notices: [{ address: sample('stray'), message: 'is claimed by nobody', fix: 'declare it' }],
  guards: [
    {
      id: 'deletes',
      effect: 'blocks',
      counted: 1,
      message: '1 Toy in "acme" would be deleted',
      concerns: [{ address: sample('old'), messages: [] }],
    },
    {
      id: 'rename',
      effect: 'blocks',
      counted: 1,
      message: '1 create looks like a rename',
      concerns: [{ address: sample('kite'), messages: ['looks like "old"'] }],
    },
    { id: 'widening', effect: 'warns', counted: 1, message: '1 Toy gains access', concerns: [] },
  ],
});

function removal(address: Change['address'], id: string): Change {
  const { place: _, ...removed } = change({ action: 'delete', reason: 'no longer declared', address, id });
  return removed;
}

const actions: readonly Action[] = ['create', 'update', 'update', 'delete'];

/** `count` resources of two sample kinds in three targets; every second one depends on the one before it. */
export function manySamples(count: number): Plan {
  const idOf = (index: number) => `call-${index}`;
  return plan({
    changes: Array.from({ length: count }, (_, index) =>
      change({
        action: actions[index % actions.length] ?? 'update',
        address: {
          kind: index % 5 === 0 ? 'Child' : 'Toy',
          target: `box-${index % 3}`,
          name: `toy-${index}`,
        },
        fields: [{ path: ['colour'], before: 'red', after: `blue ${index}`, shape: 'scalar' }],
        place: place({ file: `toys-${index % 50}.yaml`, line: 1 + index }),
        calls: [
          call({
            id: idOf(index),
            path: ['toys', `toy-${index}`],
            needs: index % 2 === 1 ? [idOf(index - 1)] : [],
            body: { colour: `blue ${index}` },
          }),
        ],
      }),
    ),
  });
}
