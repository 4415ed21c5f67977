/** States of the maximum size, and how much memory the service needs for one. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { type Serving, serveProcess } from '../support/cli/process.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { TestClient } from '../support/server/serve-for-test.ts';

const MIB = 1024 * 1024;
const WS = '/workspaces/ws-a';
const SEED = `users: [{ username: ann, token: ann }]
organizations:
  - name: acme
    teams: [{ name: owners, members: [ann] }]
    workspaces: [{ name: a, id: ws-a }]
`;

/** A state of this many bytes, in pieces. */
function* stateOf(serial: number, size: number): Generator<Buffer> {
  const begin = `{"version":4,"serial":${serial},"lineage":"l","outputs":{},"resources":[`;
  const end = ']}';
  const resource = (text: string) =>
    `${JSON.stringify({ mode: 'managed', type: 'thing', name: 't', instances: [{ attributes: { text } }] })},`;
  const [whole, last] = [resource('x'.repeat(4000)), resource('').slice(0, -1)];
  yield Buffer.from(begin);
  let left = size - begin.length - end.length;
  for (const piece = Buffer.from(whole.repeat(16)); left > piece.length + last.length; left -= piece.length)
    yield piece;
  yield Buffer.from(resource('y'.repeat(left - last.length)).slice(0, -1));
  yield Buffer.from(end);
}

function md5Of(pieces: Iterable<Buffer>): string {
  const hash = createHash('md5');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** A body with this state, in pieces whose lengths, except the last one, are multiples of three. */
function* bodyWith(attributes: object, state: Iterable<Buffer>): Generator<Buffer> {
  const [before, after] = JSON.stringify({
    data: { type: 'state-versions', attributes: { ...attributes, state: '?' } },
  }).split('?');
  yield Buffer.from(before ?? '');
  let rest = Buffer.alloc(0);
  for (const piece of state) {
    const all = Buffer.concat([rest, piece]);
    const whole = all.length - (all.length % 3);
    yield Buffer.from(all.subarray(0, whole).toString('base64'));
    rest = all.subarray(whole);
  }
  yield Buffer.from(rest.toString('base64') + (after ?? ''));
}

/** The maximum growth of a process's memory in bytes during some work. */
async function growth({ pid }: Serving, work: () => Promise<void>): Promise<number> {
  const read = (name: string): number => {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) * 1024;
  };
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = read('VmRSS');
  await work();
  return read('VmHWM') - before;
}

function send(url: string, method: string, pieces: Iterable<Buffer>, headers: Record<string, string> = {}) {
  const body = ReadableStream.from(pieces);
  return fetch(url, { method, body, headers, duplex: 'half' } as RequestInit);
}

it.skipIf(!existsSync('/proc/self/clear_refs'))(
  'a state of 256 MiB needs 32 MiB of memory through its link, and three times its size in a body',
  { timeout: 300_000 },
  async () => {
    const cwd = temporaryFolder({ 'seed.yaml': SEED });
    const serving = await serveProcess(['--data', 'states.db', '--seed', 'seed.yaml'], { cwd });
    const api = new TestClient(serving.url, 'ann');
    await api.post(`${WS}/actions/lock`);
    const announced = (serial: number, size: number) => ({
      serial,
      lineage: 'l',
      md5: md5Of(stateOf(serial, size)),
    });
    const throughLink = async (serial: number, size: number) => {
      const attributes = announced(serial, size);
      const version = await api.post(`${WS}/state-versions`, {
        data: { type: 'state-versions', attributes },
      });
      const url = String(version.resource.attributes['hosted-state-upload-url']);
      const sent = await send(url, 'PUT', stateOf(serial, size));
      expect([sent.status, await sent.text()]).toEqual([200, '']);
      return version.resource.id;
    };
    const readBack = async (id: string, size: number) => {
      const { attributes } = (await api.get(`/state-versions/${id}`)).resource;
      expect(attributes['size']).toBe(size);
      const answer = await fetch(String(attributes['hosted-state-download-url']));
      const hash = createHash('md5');
      for await (const piece of answer.body ?? []) hash.update(piece);
      expect(hash.digest('hex')).toBe(attributes['md5']);
    };

    // The first state allocates what each process needs once, before the measurement.
    await readBack(await throughLink(1, 20 * MIB), 20 * MIB);
    let id = '';
    const sending = await growth(serving, async () => {
      id = await throughLink(2, 256 * MIB);
    });
    const reading = await growth(serving, () => readBack(id, 256 * MIB));
    expect(sending).toBeLessThan(32 * MIB);
    expect(reading).toBeLessThan(96 * MIB);

    const body = { size: 0, status: 0 };
    const inside = await growth(serving, async () => {
      const pieces = bodyWith(announced(3, 256 * MIB), stateOf(3, 256 * MIB));
      const counted = (function* () {
        for (const piece of pieces) {
          body.size += piece.length;
          yield piece;
        }
      })();
      const headers = { authorization: 'Bearer ann', 'content-type': 'application/vnd.api+json' };
      const answer = await send(`${serving.url}/api/v2${WS}/state-versions`, 'POST', counted, headers);
      body.status = answer.status;
      id = ((await answer.json()) as { data: { id: string } }).data.id;
    });
    expect(body.status).toBe(201);
    expect(inside).toBeLessThan(3 * body.size);
    await readBack(id, 256 * MIB);

    const large = await api.post(`${WS}/state-versions`, {
      data: { type: 'state-versions', attributes: announced(4, MIB) },
    });
    const link = String(large.resource.attributes['hosted-state-upload-url']);
    const refused = await send(link, 'PUT', stateOf(4, 256 * MIB + 1));
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('268435456 bytes')]);
  },
);
