import { describe, expect, it } from 'vitest';

import { serveForTest, type TestResource } from '../../../support/server/serve-for-test.ts';

const NOON = '2026-03-01T12:00:00.000Z';
const at = { now: () => new Date('2026-03-01T12:00:42.123Z') };
const IN_SANDBOX = { project: { data: { type: 'projects', id: 'prj-sandbox' } } };

function destruction({ attributes }: TestResource): unknown[] {
  return [
    attributes['auto-destroy-at'],
    attributes['auto-destroy-activity-duration'],
    attributes['inherits-project-auto-destroy'],
  ];
}

it('stores an explicit time in whole minutes', async () => {
  const api = await serveForTest(at);
  const { resource } = await api.create({ name: 'a', 'auto-destroy-at': '2026-05-01T13:37:42+02:00' });
  expect(destruction(resource)).toEqual(['2026-05-01T11:37:00.000Z', null, null]);
});

it('computes the time from a duration without activity', async () => {
  const api = await serveForTest(at);
  const { resource } = await api.create({ name: 'a', 'auto-destroy-activity-duration': '14d' });
  expect(destruction(resource)).toEqual(['2026-03-15T12:00:00.000Z', '14d', null]);
  const hours = await api.update(resource.id, { 'auto-destroy-activity-duration': '3h' });
  expect(destruction(hours.resource)).toEqual(['2026-03-01T15:00:00.000Z', '3h', null]);
});

it('uses an explicit time instead of the computed one, until it is cleared', async () => {
  const api = await serveForTest(at);
  const id = await api.created({ name: 'a', 'auto-destroy-activity-duration': '1d' });
  const explicit = await api.update(id, { 'auto-destroy-at': NOON });
  expect(destruction(explicit.resource)).toEqual([NOON, '1d', null]);
  const cleared = await api.update(id, { 'auto-destroy-at': null });
  expect(destruction(cleared.resource)).toEqual(['2026-03-02T12:00:00.000Z', '1d', null]);
});

it('keeps time and duration in an update without them, and clears each with null', async () => {
  const api = await serveForTest(at);
  const id = await api.created({
    name: 'a',
    'auto-destroy-at': NOON,
    'auto-destroy-activity-duration': '1d',
  });
  expect(destruction((await api.update(id, { description: 'x' })).resource)).toEqual([NOON, '1d', null]);
  const cleared = await api.update(id, { 'auto-destroy-at': null, 'auto-destroy-activity-duration': null });
  expect(destruction(cleared.resource)).toEqual([null, null, null]);
});

it.each(['0d', '14', 'd', '10000h', '-1d', '1.5d', '14 d', '2w', ''])(
  'refuses the duration "%s"',
  async (duration) => {
    const api = await serveForTest();
    const answer = await api.create({ name: 'a', 'auto-destroy-activity-duration': duration });
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/attributes/auto-destroy-activity-duration']);
  },
);

it.each(['1h', '9999d'])('accepts the duration "%s"', async (duration) => {
  const api = await serveForTest();
  expect((await api.create({ name: 'a', 'auto-destroy-activity-duration': duration })).status).toBe(201);
});

it.each(['tomorrow', '2026-02-30T00:00:00Z', '2027-02-29', '2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z'])(
  'refuses the invalid time "%s"',
  async (time) => {
    const api = await serveForTest();
    const answer = await api.create({ name: 'a', 'auto-destroy-at': time });
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/attributes/auto-destroy-at']);
  },
);

it('inherits the duration of its project', async () => {
  const api = await serveForTest(at);
  const { resource } = await api.create({ name: 'a' }, IN_SANDBOX);
  expect(destruction(resource)).toEqual(['2026-03-08T12:00:00.000Z', '7d', true]);
});

it('accepts another duration than the project`s, and inherits again with null', async () => {
  const api = await serveForTest(at);
  const created = await api.create({ name: 'a', 'auto-destroy-activity-duration': '14d' }, IN_SANDBOX);
  expect(destruction(created.resource)).toEqual(['2026-03-15T12:00:00.000Z', '14d', false]);
  const { id } = created.resource;
  const own = await api.update(id, { 'auto-destroy-activity-duration': '2d' });
  expect(destruction(own.resource)).toEqual(['2026-03-03T12:00:00.000Z', '2d', false]);
  const none = await api.update(id, { 'auto-destroy-activity-duration': null });
  expect(destruction(none.resource)).toEqual(['2026-03-08T12:00:00.000Z', '7d', true]);
});

it('follows inherits-project-auto-destroy of the request', async () => {
  const api = await serveForTest(at);
  const id = await api.created({ name: 'a' }, IN_SANDBOX);
  const refused = await api.update(id, {
    'auto-destroy-activity-duration': '2d',
    'inherits-project-auto-destroy': true,
  });
  expect(refused.pointers).toEqual(['/data/attributes/auto-destroy-activity-duration']);
  const own = await api.update(id, {
    'auto-destroy-activity-duration': '2d',
    'inherits-project-auto-destroy': false,
  });
  expect(destruction(own.resource)).toEqual(['2026-03-03T12:00:00.000Z', '2d', false]);
  const again = await api.update(id, { 'inherits-project-auto-destroy': true });
  expect(destruction(again.resource)).toEqual(['2026-03-08T12:00:00.000Z', '7d', true]);
});

describe('in the dialect hcp-terraform', () => {
  const serve = () => serveForTest({ ...at, dialects: ['hcp-terraform'] });

  it('a workspace accepts another duration than its project`s, and inherits again with null', async () => {
    const api = await serve();
    const own = await api.create({ name: 'a', 'auto-destroy-activity-duration': '2d' }, IN_SANDBOX);
    expect(destruction(own.resource)).toEqual(['2026-03-03T12:00:00.000Z', '2d', false]);
    const { id } = own.resource;
    const longer = await api.update(id, { 'auto-destroy-activity-duration': '14d' });
    expect(destruction(longer.resource)).toEqual(['2026-03-15T12:00:00.000Z', '14d', false]);
    const again = await api.update(id, { 'auto-destroy-activity-duration': null });
    expect(destruction(again.resource)).toEqual(['2026-03-08T12:00:00.000Z', '7d', true]);
  });

  it('a workspace with its own date inherits only on request', async () => {
    const api = await serve();
    const made = await api.create({ name: 'a', 'auto-destroy-at': NOON }, IN_SANDBOX);
    expect(destruction(made.resource)).toEqual([NOON, null, false]);
    const inheriting = await api.create({ name: 'b' }, IN_SANDBOX);
    const { id } = inheriting.resource;
    expect(destruction((await api.update(id, { 'auto-destroy-at': NOON })).resource)).toEqual([
      NOON,
      null,
      false,
    ]);
    const again = await api.update(id, { 'inherits-project-auto-destroy': true });
    expect(destruction(again.resource)).toEqual(['2026-03-08T12:00:00.000Z', '7d', true]);
  });

  it('a date alone clears the duration of the workspace, and both together are kept', async () => {
    const api = await serve();
    const id = await api.created({ name: 'a', 'auto-destroy-activity-duration': '1d' });
    const dated = await api.update(id, { 'auto-destroy-at': NOON });
    expect(destruction(dated.resource)).toEqual([NOON, null, null]);
    expect(destruction((await api.update(id, { 'auto-destroy-at': null })).resource)).toEqual([
      null,
      null,
      null,
    ]);
    const both = { 'auto-destroy-at': NOON, 'auto-destroy-activity-duration': '3h' };
    expect(destruction((await api.update(id, both)).resource)).toEqual([NOON, '3h', null]);
  });

  it('a date replaces a duration, and a duration replaces a date, as Terraform sends them', async () => {
    const api = await serve();
    const duration = { 'auto-destroy-at': null, 'auto-destroy-activity-duration': '2d' };
    const date = { 'auto-destroy-at': NOON, 'auto-destroy-activity-duration': null };
    const id = await api.created({ name: 'a', ...duration }, IN_SANDBOX);
    expect(destruction((await api.update(id, date)).resource)).toEqual([NOON, null, false]);
    expect(destruction((await api.update(id, duration)).resource)).toEqual([
      '2026-03-03T12:00:00.000Z',
      '2d',
      false,
    ]);
  });
});
