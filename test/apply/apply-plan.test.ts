import { describe, expect, it } from 'vitest';
import type { Call } from '../../src/model/call.ts';
import type { Kind } from '../../src/model/kind.ts';
import { WireError } from '../../src/model/http.ts';
import { parentKind, registryOf } from '../support/sample-kinds/sample-kind.ts';
import { at, desired, live, record, type World } from '../support/sample-kinds/sample-plan.ts';
import { applySamples } from '../support/sample-kinds/sample-service.ts';
import { readAddress } from '../../src/model/address.ts';

const app = at('Parent', 'app');
const lib = at('Parent', 'lib');
const child = at('Child', 'app');
const job = at('Role', 'job');
const lost = new WireError('the connection broke', { method: 'POST', url: 'https://toys.test', sent: true });

const blueApp = {
  desired: [desired(app, { colour: 'blue' })],
  live: [live(app, { spec: { colour: 'red' }, ownershipTag: 'mine' })],
} satisfies World;

describe('a plan that is carried out', () => {
  it('sends the calls that it shows, and no others', async () => {
    const done = await applySamples(blueApp);
    expect(done.requests.map(({ stop: _, permit: __, ...request }) => request)).toEqual([
      { method: 'PATCH', path: '/wholes/id-app', body: { colour: 'blue', consumers: [] }, repeatable: true },
    ]);
    expect(done.summary).toEqual(['Parent/acme/app: applied']);
  });

  it('sends the id of a resource that it has just created', async () => {
    const done = await applySamples({ desired: [desired(app, { consumers: ['lib'] }), desired(lib)] });
    expect(done.sent).toEqual(['POST /wholes', 'POST /wholes']);
    expect(done.requests[1]?.body).toMatchObject({ name: 'app', consumers: ['1'] });
  });

  it('ends with one outcome for each change, in the order of the plan', async () => {
    const done = await applySamples({
      desired: [desired(app), desired(lib), desired(child, { tags: ['prod'] })],
    });
    expect(done.summary).toEqual([
      'Parent/acme/app: applied',
      'Parent/acme/lib: applied',
      'Child/acme/app: applied',
    ]);
  });

  it('reports what it is going to do, and how each change ended', async () => {
    const { events } = await applySamples({ desired: [desired(app), desired(lib)] });
    expect(events[0]).toEqual({ type: 'begin', changes: 2, calls: 2 });
    const ends = events.filter((event) => event.type === 'end');
    expect(ends.map(({ finished, changes }) => `${finished}/${changes}`)).toEqual(['1/2', '2/2']);
  });

  it('throws when it has problems, because commands refuse such a plan', async () => {
    const foreign = { ...blueApp, live: [live(app, { ownershipTag: 'yours' })] };
    await expect(applySamples(foreign)).rejects.toThrow('a plan with problems is not applied');
  });
});

describe('a change that is read again just before it is sent', () => {
  it('is unchanged if it is live already', async () => {
    const done = await applySamples(blueApp, {
      now: [live(app, { spec: { colour: 'blue' }, ownershipTag: 'mine' })],
    });
    expect([done.sent, done.summary]).toEqual([[], ['Parent/acme/app: unchanged']]);
    expect(done.ledger.records.get(readAddress('Parent/acme/app'))?.fields).toEqual({ colour: 'blue' });
  });

  it('is stale if live changed, and says what changed', async () => {
    const done = await applySamples(blueApp, {
      now: [live(app, { spec: { colour: 'green' }, ownershipTag: 'mine' })],
    });
    expect(done.sent).toEqual([]);
    expect(done.outcomes).toMatchObject([
      { kind: 'stale', detail: 'colour changed since the plan was made' },
    ]);
    expect(done.ledger.records.has(readAddress('Parent/acme/app'))).toBe(false);
  });

  it('has failed if it cannot be read, and the others continue', async () => {
    const world = { ...blueApp, desired: [...blueApp.desired, desired(lib)] };
    const done = await applySamples(world, { readFails: new Error('GET answered 403') });
    expect(done.summary).toEqual(['Parent/acme/app: failed', 'Parent/acme/lib: applied']);
    expect(done.outcomes[0]?.detail).toBe('GET answered 403');
  });
});

describe('a call that fails', () => {
  const consumers: World = {
    desired: [desired(app, { consumers: ['lib'] }), desired(lib), desired(at('Parent', 'zone'))],
  };

  it('skips only changes that depend on it, and names that dependency', async () => {
    const done = await applySamples(consumers, {
      answer: ({ body }) => (body?.['name'] === 'lib' ? { status: 422, words: 'no room' } : undefined),
    });
    expect(done.summary.toSorted()).toEqual([
      'Parent/acme/app: skipped',
      'Parent/acme/lib: failed',
      'Parent/acme/zone: applied',
    ]);
    const [failed, skipped] = ['lib', 'app'].map((name) =>
      done.outcomes.find(({ address }) => address.name === name),
    );
    expect(failed?.detail).toBe('POST https://toys.test/wholes answered 422: no room');
    expect(skipped?.detail).toBe('depends on Parent/acme/lib#create, which did not succeed');
  });

  it('makes the child that it carries fail as well', async () => {
    const done = await applySamples(
      { desired: [desired(app), desired(child, { tags: ['prod'] })] },
      { answer: () => ({ status: 422 }) },
    );
    expect(done.summary).toEqual(['Parent/acme/app: failed', 'Child/acme/app: failed']);
    expect(done.ledger.records.size).toBe(0);
  });

  it('with an unknown result makes its change unknown', async () => {
    const done = await applySamples(blueApp, { answer: () => lost });
    expect(done.summary).toEqual(['Parent/acme/app: unknown']);
    expect(done.ledger.records.size).toBe(0);
  });
});

describe('a change with several calls', () => {
  /** Paints, then locks; the lock waits for all paint calls. */
  const painted: Kind = {
    ...parentKind,
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
  const world = { ...blueApp, kinds: registryOf(painted) };

  it('that stops half-way reports what was done', async () => {
    const done = await applySamples(world, {
      answer: ({ path }) => (path === '/lock' ? { status: 409 } : undefined),
    });
    expect(done.outcomes).toMatchObject([{ kind: 'failed', done: ['app#paint'] }]);
  });

  it('continues with its second call when the first failed: only a need skips', async () => {
    const done = await applySamples(world, {
      answer: ({ path }) => (path === '/paint' ? { status: 409 } : undefined),
    });
    expect(done.sent).toEqual(['PATCH /paint', 'PATCH /lock']);
    expect(done.outcomes).toMatchObject([{ kind: 'failed', done: ['app#lock'] }]);
  });

  it('ends when its last call has ended', async () => {
    const done = await applySamples(world);
    expect(done.events.filter(({ type }) => type === 'end')).toHaveLength(1);
    expect(done.summary).toEqual(['Parent/acme/app: applied']);
  });

  it('that was begun is not continued after an interruption, and reports what was done', async () => {
    const stop = new AbortController();
    const two = { ...world, desired: [...world.desired, desired(lib, { colour: 'blue' })] };
    const lives = [...world.live, live(lib, { spec: { colour: 'red' }, ownershipTag: 'mine' })];
    let asked = 0;
    const done = await applySamples(
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
      { kind: 'skipped', detail: 'not sent: the run was stopped', done: ['app#paint'] },
      { kind: 'skipped', detail: 'not sent: the run was stopped', done: ['lib#paint'] },
    ]);
  });
});

describe('an interruption', () => {
  it('before anything was sent skips everything, even changes that only update the ledger', async () => {
    const world: World = {
      ...blueApp,
      live: [...blueApp.live, live(at('Settings', 'config'))],
      records: { 'Settings/acme/config': record() },
    };
    const done = await applySamples(world, { stop: AbortSignal.abort() });
    expect(done.sent).toEqual([]);
    expect(done.outcomes.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual([
      'skipped: not sent: the run was stopped',
      'skipped: not sent: the run was stopped',
    ]);
    expect(done.ledger.records.has(readAddress('Settings/acme/config'))).toBe(true);
  });

  it('during an apply lets sent calls end, and skips the rest', async () => {
    const stop = new AbortController();
    const done = await applySamples(
      { desired: [desired(lib, {}), desired(app, { consumers: ['lib'] })] },
      {
        stop: stop.signal,
        answer: () => {
          stop.abort();
          return undefined;
        },
      },
    );
    expect(done.summary).toEqual(['Parent/acme/lib: applied', 'Parent/acme/app: skipped']);
    expect([...done.ledger.records.keys()]).toEqual(['Parent/acme/lib']);
  });
});

describe('the ledger', () => {
  it('is written before anything is sent', async () => {
    const done = await applySamples({ desired: [desired(app)], ledger: false });
    expect(done.written[0]).toMatchObject({ after: 0, ledger: { known: true } });
  });

  it('prevents all requests if it cannot be written', async () => {
    const sent: string[] = [];
    const apply = applySamples(
      { desired: [desired(app)], ledger: false },
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

  it('fails the apply once if a later write of it fails, after all calls have ended', async () => {
    let writes = 0;
    const sent: string[] = [];
    const apply = applySamples(
      { desired: [desired(app), desired(lib)], ledger: false },
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

  it('records a created resource with its id, its origin and its declared fields', async () => {
    const done = await applySamples({
      desired: [desired(app, { colour: 'blue', hint: 'x' }, { protect: true })],
    });
    expect(done.ledger.records.get(readAddress('Parent/acme/app'))).toEqual({
      id: '1',
      origin: 'created',
      protect: true,
      fields: { colour: 'blue' },
    });
  });

  it('records a created resource even if the rest of its change failed', async () => {
    const halfway: Kind = {
      ...parentKind,
      calls: (change, context) => {
        const planned = parentKind.calls(change, context);
        const [create] = planned.calls;
        if (create === undefined) return planned;
        const { createsId: _, ...plain } = create;
        const lock: Call = { ...plain, id: `${create.id}-lock`, path: ['lock'], order: 9, repeatable: true };
        return { calls: [create, lock] };
      },
    };
    const done = await applySamples(
      { kinds: registryOf(halfway), desired: [desired(app)] },
      { answer: ({ path }) => (path === '/lock' ? { status: 409 } : undefined) },
    );
    expect(done.summary).toEqual(['Parent/acme/app: failed']);
    expect(done.ledger.records.get(readAddress('Parent/acme/app'))).toMatchObject({
      id: '1',
      origin: 'created',
    });
  });

  it('records every declared resource that is as it should be, even without any change', async () => {
    const done = await applySamples({
      desired: [desired(app, { colour: 'red' }), desired(job, { timeout: '1h' })],
      live: [
        live(app, { spec: { colour: 'red' }, ownershipTag: 'mine' }),
        live(job, { spec: { timeout: 3600 } }),
      ],
    });
    expect(done.sent).toEqual([]);
    expect([...done.ledger.records.keys()]).toEqual(['Parent/acme/app', 'Role/acme/job']);
    expect(done.ledger.records.get(readAddress('Role/acme/job'))).toMatchObject({
      origin: 'adopted',
      fields: { timeout: 3600 },
      content: { timeout: 3600, colour: 'red', readers: [] },
    });
  });

  it('forgets missing resources, and keeps records of deleted ones until a read confirms that they are gone', async () => {
    const done = await applySamples({
      live: [live(app, { ownershipTag: 'mine' })],
      records: { 'Parent/acme/app': record({ id: 'id-app' }), 'Parent/acme/lib': record({ id: 'id-lib' }) },
    });
    expect(done.sent).toEqual(['DELETE /wholes/id-app']);
    expect([...done.ledger.records.keys()]).toEqual(['Parent/acme/app']);
  });

  it('keeps the record of a resource that could not be deleted', async () => {
    const done = await applySamples(
      {
        live: [live(app, { ownershipTag: 'mine' })],
        records: { 'Parent/acme/app': record({ id: 'id-app' }) },
      },
      { answer: () => ({ status: 409, words: 'somebody is in it' }) },
    );
    expect(done.summary).toEqual(['Parent/acme/app: failed']);
    expect(done.ledger.records.has(readAddress('Parent/acme/app'))).toBe(true);
  });

  it('forgets a release that needs no call', async () => {
    const done = await applySamples({
      live: [live(at('Settings', 'config'))],
      records: { 'Settings/acme/config': record() },
    });
    expect(done.summary).toEqual(['Settings/acme/config: applied']);
    expect(done.ledger.records.size).toBe(0);
  });

  it('gives the record of a renamed parent its new name', async () => {
    const done = await applySamples(
      {
        desired: [desired(at('Parent', 'web'), {}, { renamedFrom: 'app' })],
        live: [live(app, { ownershipTag: 'mine' })],
        records: { 'Parent/acme/app': record({ id: 'id-app', origin: 'created' }) },
      },
      { now: [live(at('Parent', 'web'), { id: 'id-app', ownershipTag: 'mine', spec: { name: 'app' } })] },
    );
    expect(done.summary).toEqual(['Parent/acme/web: applied']);
    expect(done.ledger.records.get(readAddress('Parent/acme/web'))).toMatchObject({
      id: 'id-app',
      origin: 'created',
    });
  });

  it('keeps the marks of a kind', async () => {
    const marked: Kind = {
      ...parentKind,
      ledgerMarks: ({ desired: wanted, idOf }) => ({
        friend: idOf({ ...app, name: String(wanted['owner']) }) ?? 'nobody',
      }),
    };
    const world = { kinds: registryOf(marked), desired: [desired(app, { owner: 'lib' }), desired(lib)] };
    const { ledger } = await applySamples(world);
    expect(ledger.records.get(readAddress('Parent/acme/app'))?.marks).toEqual({
      friend: expect.stringMatching(/^[12]$/),
    });
  });
});

describe('a create whose response was lost', () => {
  it('is found by its name, recorded with its id, and never sent twice', async () => {
    const done = await applySamples(
      { desired: [desired(app)] },
      { answer: () => lost, now: [live(app, { id: '77', ownershipTag: 'mine' })] },
    );
    expect(done.sent).toEqual(['POST /wholes']);
    expect(done.summary).toEqual(['Parent/acme/app: applied']);
    expect(done.ledger.records.get(readAddress('Parent/acme/app'))?.id).toBe('77');
  });
});

it('a thousand changes are applied quickly', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => desired(at('Parent', `whole-${index}`)));
  const done = await applySamples({ desired: many });
  expect(done.sent).toHaveLength(1000);
  expect(done.ledger.records.size).toBe(1000);
});
