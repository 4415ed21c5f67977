import { DatabaseSync } from 'node:sqlite';

import { describe, expect, it } from 'vitest';

import { type AdminBench, serveWithAdmin } from '../../support/server/admin-client.ts';
import { temporaryDataFile } from '../../support/server/data-file.ts';
import { serveForTest } from '../../support/server/serve-for-test.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const noon = () => new Date(NOON);

async function clock(answer: ReturnType<AdminBench['admin']>): Promise<unknown> {
  return JSON.parse((await answer).text);
}

describe('the clock of the service', () => {
  it('shows the true time until it is moved', async () => {
    const { admin } = await serveWithAdmin({ now: noon });
    expect(await clock(admin('GET', '/clock'))).toEqual({ now: NOON, 'offset-seconds': 0 });
  });

  it('is moved to a time, by seconds, and back', async () => {
    const { admin } = await serveWithAdmin({ now: noon });
    const moved = { now: '2026-03-01T00:00:00+01:00' };
    expect(await clock(admin('POST', '/clock', moved))).toMatchObject({ now: '2026-02-28T23:00:00.000Z' });
    expect(await clock(admin('POST', '/clock', { 'advance-seconds': -3600 }))).toMatchObject({
      now: '2026-02-28T22:00:00.000Z',
    });
    expect(await clock(admin('DELETE', '/clock'))).toEqual({ now: NOON, 'offset-seconds': 0 });
  });

  it('decides which time is stored', async () => {
    const { api, admin } = await serveWithAdmin({ now: noon });
    await admin('POST', '/clock', { 'advance-seconds': 86_400 });
    const { attributes } = (await api.create({ name: 'a' })).resource;
    expect(attributes['created-at']).toBe('2026-01-02T12:00:00.000Z');
  });

  it('shows in the date of every answer', async () => {
    const { api, admin } = await serveWithAdmin({ now: noon });
    await admin('POST', '/clock', { 'advance-seconds': 86_400 });
    for (const path of ['/organizations/acme/workspaces', '/workspaces/ws-none', '/nothing/of/this'])
      expect((await api.get(path)).headers.get('date')).toBe('Fri, 02 Jan 2026 12:00:00 GMT');
  });

  it('continues from the time to which it was moved', async () => {
    let seconds = 0;
    const { admin } = await serveWithAdmin({ now: () => new Date(noon().getTime() + seconds * 1000) });
    await admin('POST', '/clock', { now: '2030-01-01T00:00:00Z' });
    seconds = 90;
    expect(await clock(admin('GET', '/clock'))).toMatchObject({ now: '2030-01-01T00:01:30.000Z' });
  });

  it('shows the true time again in another process', async () => {
    const data = temporaryDataFile();
    const { api, admin } = await serveWithAdmin({ data, now: noon });
    await admin('POST', '/clock', { 'advance-seconds': 86_400 });
    await api.create({ name: 'a' });
    const other = await serveForTest({ data, seed: {}, now: noon });
    const { attributes } = (await other.create({ name: 'b' })).resource;
    expect(attributes['created-at']).toBe(NOON);
  });

  it('makes a token expire, and makes it valid again when it is moved back', async () => {
    const data = temporaryDataFile();
    const { api, admin } = await serveWithAdmin({ data, now: noon });
    const database = new DatabaseSync(data);
    database.exec("UPDATE api_tokens SET expires_at = '2026-01-01T13:00:00.000Z'");
    database.close();
    const statuses: number[] = [];
    for (const seconds of [3599, 1, -1, 1]) {
      await admin('POST', '/clock', { 'advance-seconds': seconds });
      statuses.push((await api.get('/organizations/acme')).status);
    }
    expect(statuses).toEqual([200, 401, 200, 401]);
  });

  it.each([
    [{}, ''],
    [{ now: '2026-01-01T00:00:00Z', 'advance-seconds': 1 }, ''],
    [{ now: 'tomorrow' }, '/now'],
    [{ now: '2026-01-01' }, '/now'],
    [{ now: 5 }, '/now'],
    [{ now: '2026-02-30T00:00:00Z' }, '/now'],
    [{ 'advance-seconds': '60' }, '/advance-seconds'],
    [{ 'advance-seconds': null }, '/advance-seconds'],
    [{ 'advance-seconds': 1e15 }, '/advance-seconds'],
    [{ 'advance-seconds': -1e300 }, '/advance-seconds'],
  ])('is not moved by %j', async (body, pointer) => {
    const { admin } = await serveWithAdmin({ now: noon });
    const answer = await admin('POST', '/clock', body);
    expect(answer.status).toBe(422);
    expect(answer.pointers[0]?.replace(/^\/$/, '')).toBe(pointer);
    expect(await clock(admin('GET', '/clock'))).toEqual({ now: NOON, 'offset-seconds': 0 });
  });
});
