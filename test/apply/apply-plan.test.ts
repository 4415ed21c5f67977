import { describe, expect, test } from 'vitest';
import type { Call } from '../../src/model/plan/call.ts';
import type { Kind } from '../../src/model/kind/kind.ts';
import { WireError } from '../../src/model/wire.ts';
import { house, registryOf } from '../support/toys/toy-kind.ts';
import { at, desired, live, record, type World } from '../support/toys/toy-plan.ts';
import { applyToys } from '../support/toys/toy-service.ts';
import { readAddress } from '../../src/model/resource/address.ts';

const home = at('House', 'home');
const inn = at('House', 'inn');
const yard = at('Garden', 'home');
const front = at('Door', 'front');
const lost = new WireError('the connection broke', { method: 'POST', url: 'https://toys.test', sent: true });

const blueHome = {
  desired: [desired(home, { colour: 'blue' })],
  live: [live(home, { spec: { colour: 'red' }, claim: 'mine' })],
} satisfies World;

describe('a plan that is carried out', () => {
  test('sends the calls that it shows, and no others', async () => {
    const done = await applyToys(blueHome);
    expect(done.requests.map(({ stop: _, ...request }) => request)).toEqual([
      { method: 'PATCH', path: '/houses/id-home', body: { colour: 'blue', friends: [] }, repeatable: true },
    ]);
    expect(done.summary).toEqual(['House/acme/home: applied']);
  });

  test('sends an id that it has just learned', async () => {
    const done = await applyToys({ desired: [desired(home, { friends: ['inn'] }), desired(inn)] });
    expect(done.sent).toEqual(['POST /houses', 'POST /houses']);
    expect(done.requests[1]?.body).toMatchObject({ name: 'home', friends: ['1'] });
  });

  test('ends with one outcome for each change, in the order of the plan', async () => {
    const done = await applyToys({
      desired: [desired(home), desired(inn), desired(yard, { trees: ['oak'] })],
    });
    expect(done.summary).toEqual([
      'House/acme/home: applied',
      'House/acme/inn: applied',
      'Garden/acme/home: applied',
    ]);
  });

  test('tells what it is about to do, and how each change ended', async () => {
    const { events } = await applyToys({ desired: [desired(home), desired(inn)] });
    expect(events[0]).toEqual({ type: 'begin', changes: 2, calls: 2 });
    const ends = events.filter((event) => event.type === 'end');
    expect(ends.map(({ finished, changes }) => `${finished}/${changes}`)).toEqual(['1/2', '2/2']);
  });

  test('is refused when it has problems: nobody should have come this far', async () => {
    const foreign = { ...blueHome, live: [live(home, { claim: 'yours' })] };
    await expect(applyToys(foreign)).rejects.toThrow('a plan with problems is not applied');
  });
});

describe('a change that is looked at again just before it is sent', () => {
  test('and that somebody has made already is unchanged', async () => {
    const done = await applyToys(blueHome, {
      now: [live(home, { spec: { colour: 'blue' }, claim: 'mine' })],
    });
    expect([done.sent, done.summary]).toEqual([[], ['House/acme/home: unchanged']]);
    expect(done.ledger.records.get(readAddress('House/acme/home'))?.fields).toEqual({ colour: 'blue' });
  });

  test('and that moved is stale, and says what', async () => {
    const done = await applyToys(blueHome, {
      now: [live(home, { spec: { colour: 'green' }, claim: 'mine' })],
    });
    expect(done.sent).toEqual([]);
    expect(done.outcomes).toMatchObject([{ kind: 'stale', detail: 'colour moved since the plan was made' }]);
    expect(done.ledger.records.has(readAddress('House/acme/home'))).toBe(false);
  });

  test('and that nobody can look at has failed, and the others go on', async () => {
    const world = { ...blueHome, desired: [...blueHome.desired, desired(inn)] };
    const done = await applyToys(world, { readFails: new Error('GET answered 403') });
    expect(done.summary).toEqual(['House/acme/home: failed', 'House/acme/inn: applied']);
    expect(done.outcomes[0]?.detail).toBe('GET answered 403');
  });
});

describe('a call that fails', () => {
  const friends: World = {
    desired: [desired(home, { friends: ['inn'] }), desired(inn), desired(at('House', 'zoo'))],
  };

  test('skips what hangs on it, says for what it waited, and no one else', async () => {
    const done = await applyToys(friends, {
      answer: ({ body }) => (body?.['name'] === 'inn' ? { status: 422, words: 'no room' } : undefined),
    });
    expect(done.summary.toSorted()).toEqual([
      'House/acme/home: skipped',
      'House/acme/inn: failed',
      'House/acme/zoo: applied',
    ]);
    const [failed, skipped] = ['inn', 'home'].map((name) =>
      done.outcomes.find(({ address }) => address.name === name),
    );
    expect(failed?.detail).toBe('POST https://toys.test/houses answered 422: no room');
    expect(skipped?.detail).toBe('waits for House/acme/inn#create, which did not happen');
  });

  test('takes the part that it was to carry with it', async () => {
    const done = await applyToys(
      { desired: [desired(home), desired(yard, { trees: ['oak'] })] },
      { answer: () => ({ status: 422 }) },
    );
    expect(done.summary).toEqual(['House/acme/home: failed', 'Garden/acme/home: failed']);
    expect(done.ledger.records.size).toBe(0);
  });

  test('of which nobody knows the end makes its change unknown', async () => {
    const done = await applyToys(blueHome, { answer: () => lost });
    expect(done.summary).toEqual(['House/acme/home: unknown']);
    expect(done.ledger.records.size).toBe(0);
  });
});

describe('a change with several calls', () => {
  /** Paints, then locks; the lock waits for all painting. */
  const painted: Kind = {
    ...house,
    calls: ({ address }) => {
      const call = (name: string, about: Partial<Call>): Call => ({
        id: `${address.name}#${name}`,
        target: address.target,
        method: 'PATCH',
        path: [name],
        order: 0,
        needs: [],
        success: [200],
        repeatable: true,
        ...about,
      });
      return { calls: [call('paint', {}), call('lock', { order: 9 })] };
    },
  };
  const world = { ...blueHome, kinds: registryOf(painted) };

  test('that stops half-way says what it has done', async () => {
    const done = await applyToys(world, {
      answer: ({ path }) => (path === '/lock' ? { status: 409 } : undefined),
    });
    expect(done.outcomes).toMatchObject([{ kind: 'failed', done: ['home#paint'] }]);
  });

  test('goes on with its second call when the first failed: only a need skips', async () => {
    const done = await applyToys(world, {
      answer: ({ path }) => (path === '/paint' ? { status: 409 } : undefined),
    });
    expect(done.sent).toEqual(['PATCH /paint', 'PATCH /lock']);
    expect(done.outcomes).toMatchObject([{ kind: 'failed', done: ['home#lock'] }]);
  });

  test('ends when the last of them has ended', async () => {
    const done = await applyToys(world);
    expect(done.events.filter(({ type }) => type === 'end')).toHaveLength(1);
    expect(done.summary).toEqual(['House/acme/home: applied']);
  });

  test('that was begun is not gone on with after an interruption, and says what it has done', async () => {
    const stop = new AbortController();
    const two = { ...world, desired: [...world.desired, desired(inn, { colour: 'blue' })] };
    const lives = [...world.live, live(inn, { spec: { colour: 'red' }, claim: 'mine' })];
    let asked = 0;
    const done = await applyToys(
      { ...two, live: lives },
      {
        stop: stop.signal,
        answer: () => {
          asked += 1;
          if (asked === 2) stop.abort();
          return undefined;
        },
      },
    );
    expect(done.sent).toEqual(['PATCH /paint', 'PATCH /paint']);
    expect(done.outcomes).toMatchObject([
      { kind: 'skipped', detail: 'not sent: the run was stopped', done: ['home#paint'] },
      { kind: 'skipped', detail: 'not sent: the run was stopped', done: ['inn#paint'] },
    ]);
  });
});

describe('an interruption', () => {
  test('before anything was sent skips everything, also what only the ledger has to learn', async () => {
    const world: World = {
      ...blueHome,
      live: [...blueHome.live, live(at('Fence', 'long'))],
      records: { 'Fence/acme/long': record() },
    };
    const done = await applyToys(world, { stop: AbortSignal.abort() });
    expect(done.sent).toEqual([]);
    expect(done.outcomes.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual([
      'skipped: not sent: the run was stopped',
      'skipped: not sent: the run was stopped',
    ]);
    expect(done.ledger.records.has(readAddress('Fence/acme/long'))).toBe(true);
  });

  test('in between lets what is in flight end, and skips the rest', async () => {
    const stop = new AbortController();
    const done = await applyToys(
      { desired: [desired(inn, {}), desired(home, { friends: ['inn'] })] },
      {
        stop: stop.signal,
        answer: () => {
          stop.abort();
          return undefined;
        },
      },
    );
    expect(done.summary).toEqual(['House/acme/inn: applied', 'House/acme/home: skipped']);
    expect([...done.ledger.records.keys()]).toEqual(['House/acme/inn']);
  });
});

describe('the ledger', () => {
  test('is written before anything is sent', async () => {
    const done = await applyToys({ desired: [desired(home)], ledger: false });
    expect(done.written[0]).toMatchObject({ after: 0, ledger: { known: true } });
  });

  test('that cannot be written keeps anything from being sent', async () => {
    const sent: string[] = [];
    const apply = applyToys(
      { desired: [desired(home)], ledger: false },
      {
        writeLedger: () => Promise.reject(new Error('the disk is full')),
        answer: ({ path }) => {
          sent.push(path);
          return undefined;
        },
      },
    );
    await expect(apply).rejects.toThrow('the disk is full');
    expect(sent).toEqual([]);
  });

  test('that fails in between fails the apply once, when all calls have ended', async () => {
    let writes = 0;
    const sent: string[] = [];
    const apply = applyToys(
      { desired: [desired(home), desired(inn)], ledger: false },
      {
        writeLedger: async (ledger) => {
          writes += 1;
          if (writes > 1) throw new Error('the disk is full');
          return { ...ledger, known: true, serial: ledger.serial + 1 };
        },
        answer: ({ path }) => {
          sent.push(path);
          return undefined;
        },
      },
    );
    await expect(apply).rejects.toThrow('the disk is full');
    expect(sent).toHaveLength(2);
  });

  test('knows what was created, with its id, its origin and what was declared', async () => {
    const done = await applyToys({
      desired: [desired(home, { colour: 'blue', hint: 'x' }, { protect: true })],
    });
    expect(done.ledger.records.get(readAddress('House/acme/home'))).toEqual({
      id: '1',
      origin: 'created',
      protect: true,
      fields: { colour: 'blue' },
    });
  });

  test('knows what was created although the rest of its change failed', async () => {
    const halfway: Kind = {
      ...house,
      calls: (change, context) => {
        const planned = house.calls(change, context);
        const [create] = planned.calls;
        if (create === undefined) return planned;
        const { createsId: _, ...plain } = create;
        const lock: Call = { ...plain, id: `${create.id}-lock`, path: ['lock'], order: 9, repeatable: true };
        return { calls: [create, lock] };
      },
    };
    const done = await applyToys(
      { kinds: registryOf(halfway), desired: [desired(home)] },
      { answer: ({ path }) => (path === '/lock' ? { status: 409 } : undefined) },
    );
    expect(done.summary).toEqual(['House/acme/home: failed']);
    expect(done.ledger.records.get(readAddress('House/acme/home'))).toMatchObject({
      id: '1',
      origin: 'created',
    });
  });

  test('hears of every declared resource that is as it should be, also without a single change', async () => {
    const done = await applyToys({
      desired: [desired(home, { colour: 'red' }), desired(front, { timer: '1h' })],
      live: [live(home, { spec: { colour: 'red' }, claim: 'mine' }), live(front, { spec: { timer: 3600 } })],
    });
    expect(done.sent).toEqual([]);
    expect([...done.ledger.records.keys()]).toEqual(['House/acme/home', 'Door/acme/front']);
    expect(done.ledger.records.get(readAddress('Door/acme/front'))).toMatchObject({
      origin: 'adopted',
      fields: { timer: 3600 },
      content: { timer: 3600, colour: 'red', rooms: [] },
    });
  });

  test('forgets what is gone, and remembers what it deleted until somebody has seen it gone', async () => {
    const done = await applyToys({
      live: [live(home, { claim: 'mine' })],
      records: { 'House/acme/home': record({ id: 'id-home' }), 'House/acme/inn': record({ id: 'id-inn' }) },
    });
    expect(done.sent).toEqual(['DELETE /houses/id-home']);
    expect([...done.ledger.records.keys()]).toEqual(['House/acme/home']);
  });

  test('remembers what could not be deleted', async () => {
    const done = await applyToys(
      { live: [live(home, { claim: 'mine' })], records: { 'House/acme/home': record({ id: 'id-home' }) } },
      { answer: () => ({ status: 409, words: 'somebody is in it' }) },
    );
    expect(done.summary).toEqual(['House/acme/home: failed']);
    expect(done.ledger.records.has(readAddress('House/acme/home'))).toBe(true);
  });

  test('learns of a release that needs no call', async () => {
    const done = await applyToys({
      live: [live(at('Fence', 'long'))],
      records: { 'Fence/acme/long': record() },
    });
    expect(done.summary).toEqual(['Fence/acme/long: applied']);
    expect(done.ledger.records.size).toBe(0);
  });

  test('gives the record of a renamed house its new name', async () => {
    const done = await applyToys(
      {
        desired: [desired(at('House', 'villa'), {}, { renamedFrom: 'home' })],
        live: [live(home, { claim: 'mine' })],
        records: { 'House/acme/home': record({ id: 'id-home', origin: 'created' }) },
      },
      { now: [live(at('House', 'villa'), { id: 'id-home', claim: 'mine', spec: { name: 'home' } })] },
    );
    expect(done.summary).toEqual(['House/acme/villa: applied']);
    expect(done.ledger.records.get(readAddress('House/acme/villa'))).toMatchObject({
      id: 'id-home',
      origin: 'created',
    });
  });

  test('keeps what a kind wants to remember', async () => {
    const marked: Kind = {
      ...house,
      ledgerMarks: ({ desired: wanted, idOf }) => ({
        friend: idOf({ ...home, name: String(wanted['owner']) }) ?? 'nobody',
      }),
    };
    const world = { kinds: registryOf(marked), desired: [desired(home, { owner: 'inn' }), desired(inn)] };
    const { ledger } = await applyToys(world);
    expect(ledger.records.get(readAddress('House/acme/home'))?.marks).toEqual({
      friend: expect.stringMatching(/^[12]$/),
    });
  });
});

describe('a create whose answer was lost', () => {
  test('is found by its name, recorded with its id, and never sent twice', async () => {
    const done = await applyToys(
      { desired: [desired(home)] },
      { answer: () => lost, now: [live(home, { id: '77', claim: 'mine' })] },
    );
    expect(done.sent).toEqual(['POST /houses']);
    expect(done.summary).toEqual(['House/acme/home: applied']);
    expect(done.ledger.records.get(readAddress('House/acme/home'))?.id).toBe('77');
  });
});

test('a thousand changes are applied within moments', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => desired(at('House', `house-${index}`)));
  const done = await applyToys({ desired: many });
  expect(done.sent).toHaveLength(1000);
  expect(done.ledger.records.size).toBe(1000);
});
