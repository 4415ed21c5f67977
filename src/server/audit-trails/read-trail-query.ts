/**
 * What a request for an audit trail asks for: since when, and which page.
 * Invariant: what cannot be read is refused and never taken for something else: who follows a trail would miss events.
 * Source: wire/audit-trails 1.1.
 */
import { type ApiError, badRequest } from '../json-api/errors.ts';
import type { Page } from '../json-api/pagination.ts';
import { type Query, queryText } from '../json-api/query.ts';
import { readTimestamp } from '../timestamp.ts';

/** Of a page that is asked for without a size, and the most that one has. */
const PAGE_SIZE = 1000;

/** The first row of this page is still a number that SQLite and JavaScript count exactly. */
const LARGEST_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / PAGE_SIZE);

interface TrailQuery {
  /** Exclusive, in milliseconds since 1970. */
  readonly since: number | undefined;
  readonly page: Page;
}

/** @throws ApiError 400 */
export function readTrailQuery(query: Query): TrailQuery {
  return {
    since: readSince(query),
    page: {
      number: wholeNumber(query, 'page[number]') ?? 1,
      size: Math.min(wholeNumber(query, 'page[size]') ?? PAGE_SIZE, PAGE_SIZE),
    },
  };
}

/** A time as RFC 3339 has it: any offset, any fraction of a second. */
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i;

function readSince(query: Query): number | undefined {
  const text = queryText(query, 'since');
  if (text === undefined || text === '') return undefined;
  // A plus that was not encoded arrives as a space.
  const [, day = '', time = '', fraction = '', zone = ''] =
    TIME.exec(text.replace(/ (?=\d\d:\d\d$)/, '+')) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const at = readTimestamp(`${day}T${time}.${milliseconds}${zone.toUpperCase()}`);
  if (at === undefined)
    throw badRequest(`since is no time: write it as RFC 3339 has it, such as 2030-01-31T12:00:00.000Z`, {
      parameter: 'since',
    });
  return at;
}

function wholeNumber(query: Query, name: string): number | undefined {
  const text = queryText(query, name);
  if (text === undefined || text === '') return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1) throw refused(name, 'must be a whole number from 1 on');
  if (value > LARGEST_NUMBER) throw refused(name, `may be at most ${LARGEST_NUMBER}`);
  return value;
}

function refused(parameter: string, why: string): ApiError {
  return badRequest(`${parameter} ${why}`, { parameter });
}
