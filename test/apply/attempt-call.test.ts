import { describe, expect, it } from 'vitest';
import { type AttemptResult, attemptCall } from '../../src/apply/attempt-call.ts';
import { ResourceReads } from '../../src/apply/check-before-write.ts';
import type { SendContext } from '../../src/apply/send-call.ts';
import { PageReads, ParentReads } from '../../src/apply/shared-reads.ts';
import type { Json } from '../../src/model/json.ts';
import type { Call } from '../../src/model/call.ts';
import { readAddress } from '../../src/model/address.ts';
import type { LiveResource, Spec } from '../../src/model/resource.ts';
import { type Answer, WireError, type WireRequest } from '../../src/model/http.ts';
import { registryOf, parentKind } from '../support/sample-kinds/sample-kind.ts';
import { at, desired, live, planOf } from '../support/sample-kinds/sample-plan.ts';

const app = at('Parent', 'app');

const create: Call = {
  id: 'Parent/acme/app#create',
  target: 'acme',
  method: 'POST',
  path: ['wholes'],
  order: 0,
  needs: [],
  success: [201],
  repeatable: false,
  createsId: { address: readAddress('Parent/acme/app'), pointer: '/data/id' },
};
const { createsId: _, ...plain } = create;
const update: Call = {
  ...plain,
  id: 'Parent/acme/app#update',
  method: 'PATCH',
  success: [200],
  repeatable: true,
};

function answer(status: number, body: Json = null, words = ''): Answer {
  return { method: 'POST', url: 'https://toys.test/wholes', status, body, words };
}

const created = answer(201, { data: { id: 'id-1' } });
const lost = new WireError('the connection broke', { method: 'POST', url: 'https://toys.test', sent: true });
const unsent = new WireError('connection refused', { method: 'POST', url: 'https://toys.test', sent: false });
const ours = live(app, { ownershipTag: 'mine', id: 'id-9' });

/** The same answer, after which another attempt may be made. */
function allowed(given: Answer): Answer {
  return { ...given, again: { history: { faults: 0, throttled: 1, spent: 0 }, wait: async () => {} } };
}

interface Service {
  /** the response to each request in turn; the last one repeatedly */
  readonly answers: readonly (Answer | Error)[];
  /** the result of each lookup in turn */
  readonly found?: readonly (LiveResource | undefined | Error)[];
  readonly declaredMark?: Spec;
}

/** Sends a call to a service that answers by this script. */
async function send(
  call: Call,
  { answers, found = [undefined], declaredMark = {} }: Service,
): Promise<AttemptResult & { log: string[] }> {
  const log: string[] = [];
  const context: SendContext = {
    planning: { isOwnedByAnother: () => false, addressNow: () => undefined },
    kind: { ...parentKind, readOne: async () => next('look', found) },
    session: {
      target: { name: 'acme', service: 'workspaces', url: '', dialect: 'neutral' },
      dialect: {
        name: '',
        service: 'workspaces',
        spokenBy: '',
        rename: {},
        tokenHeader: '',
        capabilities: new Set(),
      },
      stack: 'mine',
      reader: { get: async () => answer(404), list: async () => answer(404) },
      lacks: new Set(),
      once: (__, read) => read(),
    },
    writer: {
      send: async (request) => {
        await request.permit?.();
        const given = next('send', answers);
        const { again } = given;
        return again === undefined
          ? given
          : { ...given, again: { ...again, wait: async () => void log.push('wait') } };
      },
    },
    declaredMark,
    now: () => 0,
    pause: async (milliseconds) => {
      log.push(`pause ${milliseconds}`);
    },
  };
  function next<T>(what: string, script: readonly (T | Error)[]): T {
    const turn = log.filter((entry) => entry === what).length;
    log.push(what);
    const step = script[Math.min(turn, script.length - 1)];
    if (step instanceof Error) throw step;
    return step as T;
  }
  const request: WireRequest = { method: call.method, path: '/wholes', repeatable: call.repeatable };
  const planning = planOf({ desired: [desired(app)], kinds: registryOf(parentKind) });
  const [change] = planning.plan.changes;
  if (change === undefined) throw new Error('nothing is planned');
  const shared = { parents: new ParentReads(), pages: new PageReads() };
  const openSession = () => context.session;
  const created = { ids: new Map(), createdAt: new Map() };
  const tools = { ...context, planning, ...shared, openSession, ...created };
  const lastRead = new ResourceReads(change, tools);
  const sent = await attemptCall(call, { change, lastRead, send: context, resolve: async () => request });
  return { ...sent, log };
}

describe('a call that got a response', () => {
  it('with success is done', async () => {
    expect(await send(update, { answers: [answer(200)] })).toMatchObject({ is: 'ok', log: ['look', 'send'] });
  });

  it('with success has the id of what it created', async () => {
    expect(await send(create, { answers: [created] })).toMatchObject({ is: 'ok', id: 'id-1', log: ['send'] });
  });

  it('with a refusal has failed, with the message of the service', async () => {
    const refused = answer(422, null, 'the name is silly');
    expect(await send(create, { answers: [refused] })).toEqual({
      is: 'failed',
      why: 'POST https://toys.test/wholes answered 422: the name is silly',
      refusal: 422,
      log: ['send'],
    });
  });

  it('with a status that means success for another call has failed', async () => {
    expect(await send(update, { answers: [answer(201)] })).toMatchObject({ is: 'failed' });
  });
});

describe('a call whose response was lost', () => {
  it('is unknown when no further attempt is allowed', async () => {
    expect(await send(update, { answers: [lost] })).toEqual({
      is: 'unknown',
      why: 'the connection broke',
      log: ['look', 'send'],
    });
  });

  it('is unknown if it creates nothing', async () => {
    const { createsId: __, ...nameless } = create;
    expect(await send(nameless, { answers: [lost] })).toMatchObject({ is: 'unknown', log: ['look', 'send'] });
  });

  it('has failed if it was not sent', async () => {
    expect(await send(create, { answers: [unsent] })).toMatchObject({
      is: 'failed',
      why: 'connection refused',
      log: ['send'],
    });
  });

  it('is unknown, too, after an unexpected exception', async () => {
    expect(await send(update, { answers: [new TypeError('x is undefined')] })).toMatchObject({
      is: 'unknown',
    });
  });
});

describe('a create whose response was lost is looked up by name before it is sent again', () => {
  it('and is done if it exists, even if only an ownership tag proves that it is ours', async () => {
    expect(await send(create, { answers: [lost], found: [ours] })).toEqual({
      is: 'ok',
      id: 'id-9',
      origin: 'adopted',
      log: ['send', 'pause 250', 'look'],
    });
  });

  it('and is done if it exists with only our creator mark', async () => {
    const born = live(app, { creatorStack: 'mine', id: 'id-9' });
    expect(await send(create, { answers: [lost], found: [born] })).toMatchObject({
      is: 'ok',
      id: 'id-9',
      origin: 'created',
    });
  });

  it('and is recognized by the declared value in place of the creator mark', async () => {
    const found = (madeBy: string) => [live(app, { ownershipTag: 'mine', id: 'id-9', spec: { madeBy } })];
    const declaredMark = { madeBy: 'bob' };
    expect(await send(create, { answers: [lost], found: found('bob'), declaredMark })).toMatchObject({
      origin: 'created',
    });
    expect(await send(create, { answers: [lost], found: found('eve'), declaredMark })).toMatchObject({
      origin: 'adopted',
    });
  });

  it('and is sent again if it does not exist', async () => {
    expect(await send(create, { answers: [lost, created], found: [undefined] })).toMatchObject({
      is: 'ok',
      id: 'id-1',
      log: ['send', 'pause 250', 'look', 'send'],
    });
  });

  it.each([408, 500, 502, 503, 504])(
    'also after the status %i, because the service may have created it',
    async (status) => {
      const outcome = await send(create, { answers: [answer(status), created], found: [undefined] });
      expect(outcome.log).toEqual(['send', 'pause 250', 'look', 'send']);
    },
  );

  it('and takes "the name is taken" for the result of its own first attempt', async () => {
    const taken = answer(422, null, 'the name is taken');
    expect(await send(create, { answers: [lost, taken], found: [undefined, ours] })).toMatchObject({
      is: 'ok',
      id: 'id-9',
      log: ['send', 'pause 250', 'look', 'send', 'pause 500', 'look'],
    });
  });

  it('also after a 429, because the name may be taken by now, even by its own create', async () => {
    const born = live(app, { ownershipTag: 'mine', creatorStack: 'mine', id: 'id-9' });
    const asked = allowed(answer(429, null, 'too many'));
    expect(await send(create, { answers: [asked], found: [born] })).toMatchObject({
      is: 'ok',
      id: 'id-9',
      origin: 'created',
      log: ['send', 'wait', 'look'],
    });
    expect(await send(create, { answers: [asked], found: [live(app)] })).toMatchObject({
      is: 'failed',
      why: 'POST https://toys.test/wholes answered 429: too many; looked up by name afterwards: "Parent/acme/app" exists, and does not belong to this stack',
    });
    expect(await send(create, { answers: [asked, created], found: [undefined] })).toMatchObject({
      is: 'ok',
      log: ['send', 'wait', 'look', 'send'],
    });
    expect(await send(create, { answers: [asked], found: [new Error('not now')] })).toMatchObject({
      is: 'failed',
      why: 'POST https://toys.test/wholes answered 429: too many; looked up by name afterwards: not now',
    });
  });

  it('and has failed if the second attempt is refused and nothing exists', async () => {
    const refused = answer(422, null, 'the name is silly');
    const outcome = await send(create, { answers: [lost, refused], found: [undefined] });
    expect(outcome).toMatchObject({
      is: 'failed',
      why: 'POST https://toys.test/wholes answered 422: the name is silly; looked up by name afterwards: it does not exist',
    });
  });

  it.each<[string, LiveResource]>([
    ['of another stack', live(app, { ownershipTag: 'yours' })],
    ['without an owner', live(app)],
    ['with an inherited ownership tag', live(app, { ownershipTag: 'mine', inherited: true })],
  ])('and has failed if the existing resource is %s', async (__, found) => {
    expect(await send(create, { answers: [lost], found: [found] })).toMatchObject({
      is: 'failed',
      why: '"Parent/acme/app" exists, and does not belong to this stack',
    });
  });

  it('and is unknown if it cannot be read', async () => {
    for (const blind of [lost, new Error('answered 403')]) {
      expect(await send(create, { answers: [lost], found: [blind] })).toMatchObject({
        is: 'unknown',
        why: `its response was lost, and the lookup by name failed: ${blind.message}`,
      });
    }
  });

  it('and is given up after four attempts, with a longer wait each time', async () => {
    const outcome = await send(create, { answers: [lost], found: [undefined] });
    expect(outcome.is).toBe('failed');
    expect(outcome.log.filter((entry) => entry === 'send')).toHaveLength(4);
    expect(outcome.log.filter((entry) => entry.startsWith('pause'))).toEqual([
      'pause 250',
      'pause 500',
      'pause 1000',
      'pause 2000',
    ]);
    expect(outcome.log.at(-1)).toBe('look');
  });

  it('and so is one whose response has no id', async () => {
    const outcome = await send(create, { answers: [answer(201, { data: {} })], found: [ours] });
    expect(outcome).toMatchObject({ is: 'ok', id: 'id-9', log: ['send', 'pause 250', 'look'] });
  });
});
