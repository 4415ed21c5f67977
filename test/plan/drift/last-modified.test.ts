// Who last modified a drifted resource: by id, since our last apply, without our own writes, and what a short trail cannot show.
import { expect, it } from 'vitest';
import type { TrailEvent } from '../../../src/model/audit-trail.ts';
import type { DriftedResource } from '../../../src/model/drift.ts';
import { formatAddress } from '../../../src/model/address.ts';
import { type HistoryChange, type HistoryEntry, LedgerError } from '../../../src/model/ledger.ts';
import { lastModifiedBy, runsOfStack, type TrailReading } from '../../../src/plan/attribute-drift.ts';
import { app, at } from '../../support/sample-kinds/sample-plan.ts';

const applied = Date.parse('2026-11-20T12:00:00Z');
const minutes = (count: number) => applied + count * 60_000;
const text = (time: number) => new Date(time).toISOString();

function drifted(about: Partial<DriftedResource> = {}): DriftedResource {
  return { address: app, is: 'changed', id: 'ws-app', fields: [], notes: [], ...about };
}

function event(name: string, time: number, about: { resource?: string; request?: string } = {}): TrailEvent {
  const { resource = 'ws-app', request } = about;
  return {
    id: `${name}-${time}`,
    version: '0',
    type: 'Resource',
    timestamp: text(time),
    at: time,
    actor: { id: `user-${name}`, name, kind: 'Client' },
    organizationId: 'org-1',
    ...(request === undefined ? {} : { requestId: request }),
    resource: { id: resource, type: 'workspace', action: 'update' },
    raw: {},
  };
}

function apply(about: Partial<HistoryEntry> = {}, change: Partial<HistoryChange> = {}): HistoryEntry {
  return {
    version: 1,
    id: 'one',
    stack: 'mine',
    run: { id: 'r', who: 'ci', where: 'here' },
    began: text(applied),
    ended: text(minutes(2)),
    digest: '',
    changes: [
      {
        address: formatAddress(app),
        action: 'update',
        reason: '',
        outcome: 'applied',
        fields: [],
        ...change,
      },
    ],
    ...about,
  };
}

function trail(events: readonly TrailEvent[], about: Partial<TrailReading> = {}): TrailReading {
  return { events, from: minutes(-60), why: 'the service keeps its trail for 14 days', ...about };
}

type History = Parameters<typeof runsOfStack>[1];

/** What the trail shows about one drifted resource. */
function lastModifiedIn(reading: TrailReading, history: History, one = drifted()) {
  return lastModifiedBy(reading, runsOfStack(app.target, history))(one);
}

function names(events: readonly TrailEvent[], history: History, one = drifted()): string[] {
  return lastModifiedIn(trail(events), history, one).modifications.map(
    ({ actor, maybeOurs }) => `${actor.name}${maybeOurs ? ' (maybe ours)' : ''}`,
  );
}

it('Those who modified a resource are listed newest first, without those who modified another one', () => {
  const events = [
    event('ann', minutes(5)),
    event('eve', minutes(6), { resource: 'ws-b' }),
    event('bob', minutes(7)),
  ];
  expect(names(events, [apply({}, { requests: ['r-1'] })])).toEqual(['bob', 'ann']);
});

it('Our own requests are left out, and so is everything before the last of them', () => {
  const events = [
    event('ann', minutes(0) + 1),
    event('ci', minutes(1), { request: 'r-1' }),
    event('bob', minutes(3), { request: 'r-2' }),
  ];
  expect(names(events, [apply({}, { requests: ['r-1'] })])).toEqual(['bob']);
});

it('Our write to a child with the same id does not hide who modified its parent before', () => {
  const events = [
    event('ci', minutes(1), { request: 'r-1' }),
    event('bob', minutes(5)),
    event('ci', minutes(21), { request: 'r-tags' }),
  ];
  const tags = { address: formatAddress(at('Child', 'app')), requests: ['r-tags'] };
  const later = apply({ began: text(minutes(20)), ended: text(minutes(22)) }, tags);
  const history = [later, apply({}, { requests: ['r-1'] })];
  expect(names(events, history)).toEqual(['bob']);
});

it('Without request ids in the history, events during our apply are maybe ours', () => {
  const events = [event('ci', minutes(1)), event('bob', minutes(30))];
  expect(names(events, [apply()])).toEqual(['bob', 'ci (maybe ours)']);
});

it('An actor that did not send our requests is not ours, at any time', () => {
  const events = [event('ci', minutes(0), { request: 'r-1', resource: 'ws-b' }), event('bob', minutes(1))];
  const other = { ...apply().changes[0], address: formatAddress(at('Parent', 'b')), requests: ['r-1'] };
  const history = [apply({ changes: [...apply().changes, other as HistoryChange] })];
  expect(names(events, history)).toEqual(['bob']);
});

it('A killed apply may have written until the latest end of a run', () => {
  const { ended: _, ...killed } = apply();
  const { outcome: __, ...change } = killed.changes[0] as HistoryChange;
  expect(
    names([event('ci', minutes(20)), event('bob', minutes(90))], [{ ...killed, changes: [change] }]),
  ).toEqual(['bob', 'ci (maybe ours)']);
});

it('A killed apply may have written until the latest end of a run if the next one was on a machine with another clock', () => {
  const { ended: _, ...killed } = apply();
  const { outcome: __, ...change } = killed.changes[0] as HistoryChange;
  const next = apply({ began: text(minutes(-20)), ended: text(minutes(-19)), changes: [] });
  expect(
    names([event('ci', minutes(20)), event('bob', minutes(90))], [next, { ...killed, changes: [change] }]),
  ).toEqual(['bob', 'ci (maybe ours)']);
});

it('A killed apply had ended when the next one began', () => {
  const { ended: _, ...killed } = apply();
  const { outcome: __, ...change } = killed.changes[0] as HistoryChange;
  const next = apply({ began: text(minutes(20)), ended: text(minutes(21)) }, { requests: ['r-2'] });
  const events = [event('ci', minutes(10)), event('bob', minutes(30))];
  const base = apply({ began: text(minutes(-30)), ended: text(minutes(-29)) }, { requests: ['r-1'] });
  expect(names(events, [next, { ...killed, changes: [change] }, base])).toEqual(['bob']);
  const other = {
    ...next,
    changes: [{ ...change, address: formatAddress(at('Parent', 'b')), outcome: 'applied' }],
  };
  const otherEvent = event('ci', minutes(20), { resource: 'ws-b', request: 'r-2' });
  expect(
    names([...events, otherEvent], [other as HistoryEntry, { ...killed, changes: [change] }, base]),
  ).toEqual(['bob', 'ci (maybe ours)']);
});

it('A deleted resource is found by its recorded id, a recreated one by its new id, too', () => {
  const events = [event('ann', minutes(5)), event('bob', minutes(6), { resource: 'ws-new' })];
  const history = [apply({}, { requests: ['r-1'] })];
  expect(names(events, history, drifted({ is: 'gone' }))).toEqual(['ann']);
  expect(names(events, history, drifted({ is: 'recreated', newId: 'ws-new' }))).toEqual(['bob', 'ann']);
});

it('A later apply that confirmed the whole stack shortens the period', () => {
  const later = apply({ began: text(minutes(50)), ended: text(minutes(51)), changes: [], proved: true });
  const events = [event('ann', minutes(20)), event('bob', minutes(55))];
  const first = apply({}, { requests: ['r-1'] });
  expect(names(events, [later, first])).toEqual(['bob']);
  const { proved: _, ...unproved } = later;
  expect(names(events, [unproved, first])).toEqual(['bob', 'ann']);
});

it('A change that was not carried out does not count as an apply of the resource', () => {
  const stale = apply({ began: text(minutes(50)) }, { outcome: 'stale' });
  const events = [event('ann', minutes(20))];
  expect(names(events, [stale, apply({}, { requests: ['r-1'] })])).toEqual(['ann']);
});

it('Modifications before the trail begins are unknown, and later ones are listed', () => {
  const events = [event('ann', minutes(200))];
  const late = trail(events, { from: minutes(100) });
  const { modifications, unknown } = lastModifiedIn(late, [apply()]);
  expect(modifications.map(({ actor }) => actor.name)).toEqual(['ann']);
  expect(unknown).toMatch(/last applied before that: the service keeps its trail for 14 days/);
  expect(lastModifiedIn(trail(events), [apply()]).unknown).toBeUndefined();
});

it('Without an apply of the resource in the history, earlier modifications are unknown', () => {
  expect(lastModifiedIn(trail([]), []).unknown).toMatch(/history of this stack does not show/);
});

it('A trail with no event of ours or of the resource does not mean that nothing was modified', () => {
  const history = [apply({}, { requests: ['r-1'] })];
  const unknownIn = (events: TrailEvent[]) => lastModifiedIn(trail(events), history).unknown;
  expect(unknownIn([event('eve', minutes(5), { resource: 'ws-b' })])).toMatch(/another organization/);
  expect(unknownIn([event('ci', minutes(1), { resource: 'ws-b', request: 'r-1' })])).toBeUndefined();
});

it('A write of ours with an attempt without a request id is maybe ours', () => {
  const otherEvent = event('eve', minutes(4), { resource: 'ws-b', request: 'r-9' });
  const events = [event('ci', minutes(1)), otherEvent, event('ci', minutes(30))];
  const named = apply({}, { requests: ['r-1'] });
  expect(names(events, [named])).toEqual(['ci', 'ci']);
  expect(names(events, [apply({}, { requests: ['r-1'], unnamed: true })])).toEqual(['ci', 'ci (maybe ours)']);
});

it('Without request ids in the trail, events during our apply are maybe ours', () => {
  const events = [event('ci', minutes(1)), event('bob', minutes(30))];
  expect(names(events, [apply({}, { requests: ['r-1'] })])).toEqual(['bob', 'ci (maybe ours)']);
});

it('A write of ours to a child, without a request id, is maybe ours', () => {
  const child = formatAddress(at('Child', 'app'));
  const events = [event('bob', minutes(10)), event('ci', minutes(21))];
  const tags = apply({ began: text(minutes(20)), ended: text(minutes(22)) }, { address: child });
  expect(names(events, [tags, apply({}, { requests: ['r-1'] })])).toEqual(['ci (maybe ours)', 'bob']);
});

it.each([
  ['was killed', {}],
  ['stopped between two calls', { outcome: 'failed', done: ['PATCH'], requests: ['r-2'] }],
  ['never got a response', { outcome: 'unknown' }],
] as const)('An apply that %s does not hide who modified it before', (_, about) => {
  const { outcome: __, ...change } = apply().changes[0] as HistoryChange;
  const later = apply({ began: text(minutes(50)), changes: [{ ...change, ...about }] });
  const events = [event('ann', minutes(20)), event('ci', minutes(51), { request: 'r-2' })];
  expect(names(events, [later, apply({}, { requests: ['r-1'] })])).toContain('ann');
});

it('An apply whose entry cannot be read may have been ours, and may have been the last one', () => {
  const events = [
    event('ci', minutes(1), { request: 'r-1' }),
    event('bob', minutes(10)),
    event('ci', minutes(50), { request: 'r-2' }),
  ];
  const history = [new LedgerError('damaged'), apply({}, { requests: ['r-1'] })];
  expect(names(events, history)).toEqual(['ci (maybe ours)', 'bob']);
  const proved = apply({ changes: [], proved: true, began: text(minutes(20)) });
  expect(lastModifiedIn(trail([]), [new LedgerError('damaged'), proved]).unknown).toMatch(/does not show/);
});

it('An incomplete read of the trail is reported', () => {
  expect(lastModifiedIn(trail([], { cut: 'too long' }), [apply()]).unknown).toBe('too long');
});
