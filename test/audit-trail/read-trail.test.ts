// A trail is read page by page while it changes: no event is read twice or missed, and an incomplete read is reported.
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  readTrail,
  readFullTrail,
  type TrailEnd,
  type TrailQuery,
} from '../../src/audit-trail/read-trail.ts';
import { findDialect } from '../../src/api/dialects.ts';
import { openAuditTrail } from '../../src/api/open-target.ts';
import type { TrailChannel } from '../../src/model/audit-trail.ts';
import { workspacesTarget } from '../support/http/open-for-test.ts';
import { servedEvent, servedEvents, serveTrail, type TrailService } from '../support/audit/trail-service.ts';

function channelTo(service: { readonly url: string }): TrailChannel {
  const dialect = findDialect('workspaces', 'neutral') ?? expect.unreachable();
  const channel = openAuditTrail({
    target: workspacesTarget,
    url: service.url,
    dialect,
    userAgent: 'trueup/test',
    token: async () => 'audit-token',
    retryPolicy: { base: 5, longest: 40 },
  });
  onTestFinished(() => channel.close());
  return channel;
}

async function readAll(
  service: TrailService,
  query: TrailQuery,
): Promise<{ readonly pages: string[][]; readonly end: TrailEnd }> {
  const reading = readTrail(channelTo(service), query);
  const pages: string[][] = [];
  for (;;) {
    const { done, value } = await reading.next();
    if (done) return { pages, end: value };
    pages.push(value.map(({ id }) => id));
  }
}

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}`);

describe('a trail', () => {
  it('is read page by page, from a requested time on', async () => {
    const service = await serveTrail(servedEvents(5));
    const { pages, end } = await readAll(service, {
      since: Date.parse('2026-11-20T12:00:00.001Z'),
      pageSize: 3,
    });
    expect(pages).toEqual([['e2', 'e3', 'e4'], ['e5']]);
    expect(end.sawAll).toBe(true);
    expect(service.queries().slice(0, 2)).toEqual([
      'since=2026-11-20T12:00:00.001Z&page[number]=1&page[size]=3',
      'since=2026-11-20T12:00:00.001Z&page[number]=2&page[size]=3',
    ]);
    expect(service.lines[0]).toContain('page%5Bnumber%5D=1');
  });

  it('is read without duplicates if a page has an event twice', async () => {
    const [event] = servedEvents(1);
    const service = await serveTrail([event, event, event].filter((one) => one !== undefined));
    expect((await readFullTrail(channelTo(service))).map(({ id }) => id)).toEqual(['e1']);
  });

  it('is read with one request for a page of 1000 events if it is empty', async () => {
    const service = await serveTrail();
    expect(await readAll(service, {})).toEqual({ pages: [], end: { sawAll: true, pages: 1 } });
    expect(service.queries()).toEqual(['page[number]=1&page[size]=1000']);
  });

  it('is read up to a given number of pages, and then reported as incomplete', async () => {
    const service = await serveTrail(servedEvents(9));
    const { pages, end } = await readAll(service, { pageSize: 2, maxPages: 3 });
    expect(pages.flat()).toEqual(ids(1, 6));
    expect(end).toEqual({ sawAll: false, pages: 3 });
    expect(service.requests).toHaveLength(3);
  });

  it.each([
    ['oldest', false],
    ['newest', true],
  ])('is read without duplicates while events arrive, with the %s first', async (_, newestFirst) => {
    const service = await serveTrail(servedEvents(10), { newestFirst });
    service.override = (_request, count) => {
      if (count > 1) service.events.push(...servedEvents(1, 100 + count));
      return undefined;
    };
    const { pages, end } = await readAll(service, { pageSize: 3 });
    const received = pages.flat();
    expect(received).toEqual(expect.arrayContaining(ids(1, 10)));
    expect(new Set(received).size).toBe(received.length);
    expect(end.sawAll).toBe(true);
  });

  it('is read again if its oldest events expired meanwhile, and no event is missed', async () => {
    const service = await serveTrail(servedEvents(10));
    service.override = (_request, count) => {
      if (count === 2) {
        service.events.shift();
        service.events.push(...servedEvents(1, 11));
      }
      return undefined;
    };
    // e4 moves from the second page to the first, which was read by then.
    const { pages, end } = await readAll(service, { pageSize: 3 });
    expect(pages.flat().sort()).toEqual(ids(1, 11).sort());
    expect(end.sawAll).toBe(true);
  });

  it('is not reported as complete if it never stops changing', async () => {
    const service = await serveTrail(servedEvents(10));
    service.override = () => {
      service.events.shift();
      service.events.push(...servedEvents(1, 100 + service.requests.length));
      return undefined;
    };
    expect((await readAll(service, { pageSize: 3 })).end.sawAll).toBe(false);
    await expect(readFullTrail(channelTo(service), { pageSize: 3 })).rejects.toThrow(
      'kept changing while it was read',
    );
  });

  it('may have many events in one millisecond', async () => {
    const service = await serveTrail(ids(1, 7).map((id) => servedEvent(id)));
    expect((await readAll(service, { pageSize: 2 })).pages.flat()).toEqual(ids(1, 7));
  });
});

describe('a page of a trail', () => {
  const pagination = { current_page: 1, prev_page: null, next_page: null, total_pages: 1, total_count: 0 };
  const answering = async (body: unknown, status = 200) => {
    const service = await serveTrail();
    service.override = () => ({ status, body });
    return readFullTrail(channelTo(service));
  };

  it.each<[string, unknown, string]>([
    ['without events', { pagination }, 'the answer is not a page of an audit trail: GET http'],
    ['without a pagination', { data: [] }, 'the answer is not a page of an audit trail: GET http'],
    [
      'with another page number',
      { data: [], pagination: { ...pagination, current_page: 2 } },
      'page 2 instead of page 1',
    ],
    [
      'that is its own next page',
      { data: [servedEvent('e')], pagination: { ...pagination, next_page: 1 } },
      'has page 1 as its next page',
    ],
    [
      'without a next page before the last one',
      { data: [], pagination: { ...pagination, total_pages: 2 } },
      'no next page, but a total of 2 pages',
    ],
    [
      'that is empty before the last one',
      { data: [], pagination: { ...pagination, next_page: 2, total_pages: 2 } },
      'page 1 of the audit trail is empty',
    ],
    [
      'with a count that is not a number',
      { data: [], pagination: { ...pagination, total_count: '3' } },
      '"total_count" in the pagination of the audit trail is not a count',
    ],
    [
      'with a negative number of pages',
      { data: [], pagination: { ...pagination, total_pages: -1 } },
      '"total_pages" in the pagination of the audit trail is not a count',
    ],
    [
      'with an event that is not an object',
      { data: [servedEvent('e'), 7], pagination },
      'event 2 on page 1 of the audit trail is not an object',
    ],
  ])('%s is refused', async (_, body, words) => {
    await expect(answering(body)).rejects.toThrow(words);
  });

  it.each([401, 403, 404])(
    'that the service refuses with %i leads to an error that names the token to use',
    async (status) => {
      await expect(answering({ errors: [{ title: 'not found' }] }, status)).rejects.toThrow(
        /refuses this "auditToken": GET .* answered 40\d: not found; use a token for audit trails/,
      );
    },
  );

  it('that keeps failing is reported with the error of the service', async () => {
    await expect(answering({ errors: [{ title: 'out of order' }] }, 500)).rejects.toThrow('out of order');
  });

  it('is requested again after a response with the status 429', async () => {
    const service = await serveTrail(servedEvents(1));
    service.override = (_, count) =>
      count < 3 ? { status: 429, headers: { 'retry-after': '0' }, body: { errors: [] } } : undefined;
    expect(await readFullTrail(channelTo(service))).toHaveLength(1);
    expect(service.requests).toHaveLength(3);
  });
});
