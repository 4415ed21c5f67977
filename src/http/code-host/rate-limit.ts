/**
 * Refusals that only ask to wait. Code hosts answer 429, and also 403, which else means that the token may not do something; headers
 * and words tell them apart.
 * Source: wire/code-hosts 4
 */
import { type Exchange, headerOf, type RawAnswer } from '../transport/exchange.ts';

/** The wait in seconds that is asked for where no header says how long; doubled each time. */
const defaultWait = 60;

/**
 * The same exchange, as the rules of retries understand it: a refusal for the rate is 429, and says when to come back.
 * @param earlier how often this request was refused for the rate before
 */
export function withRateLimit(exchange: Exchange, earlier: number): Exchange {
  if (exchange.kind !== 'answered' || !isRateLimit(exchange)) return exchange;
  const { 'x-ratelimit-reset': reset, ...headers } = exchange.headers;
  const isSpent = headerOf(exchange, 'x-ratelimit-remaining') === '0';
  const isTold = headers['retry-after'] !== undefined || (isSpent && reset !== undefined);
  return {
    ...exchange,
    status: 429,
    headers: {
      ...headers,
      // While requests are left, it is the end of another limit than the one that refuses.
      ...(isSpent && reset !== undefined ? { 'x-ratelimit-reset': reset } : {}),
      ...(isTold ? {} : { 'retry-after': String(defaultWait * 2 ** earlier) }),
    },
  };
}

function isRateLimit(answer: RawAnswer): boolean {
  if (answer.status === 429) return true;
  if (answer.status !== 403) return false;
  const isSpent = headerOf(answer, 'x-ratelimit-remaining') === '0';
  return isSpent || headerOf(answer, 'retry-after') !== undefined || /rate limit/i.test(answer.text);
}
