/**
 * How long a token lives, after its creation and after each renewal (wire/cluster-auth 3).
 * Invariants: pure, in whole seconds; a cap is always reported as a warning.
 */
import { durationFormats } from './durations.ts';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';

/** All members are in seconds; 0 means unset. */
export interface LifetimeRequest {
  /** The lifetime that a renewal requests. */
  readonly increment: number;
  readonly ttl: number;
  readonly period: number;
  /** The role's maximum, counted from the token's creation. */
  readonly maxTtl: number;
  /** The token's own maximum, which also caps periods. */
  readonly explicitMaxTtl: number;
}

/** The mount's default and maximum lifetime of tokens, in seconds. */
export interface LeaseLimits {
  readonly defaultTtl: number;
  readonly maxTtl: number;
}

export interface Lifetime {
  /** In seconds from now on. */
  readonly ttl: number;
  readonly warnings: readonly string[];
}

/**
 * The lifetime of a token that is `age` seconds old; undefined when it is past its maximum and cannot be renewed.
 */
export function lifetimeOf(
  request: LifetimeRequest,
  limits: LeaseLimits,
  age: number,
  durationFormat: ClusterAuthDialect['durationFormat'],
): Lifetime | undefined {
  const maximum = Math.min(
    ...[limits.maxTtl, request.maxTtl, request.explicitMaxTtl].filter((each) => each > 0),
  );
  const form = durationFormats[durationFormat];
  const warnings: string[] = [];
  let ttl = request.increment || request.ttl || limits.defaultTtl;
  let maxAge = maximum;
  if (request.period > 0) {
    ttl = request.period;
    maxAge = request.explicitMaxTtl || Number.POSITIVE_INFINITY;
    if (ttl > maximum) {
      warnings.push(capped('period', form(ttl), form(maximum)));
      ttl = maximum;
    }
  }
  const left = maxAge - age;
  if (left < 0) return undefined;
  if (ttl > left) {
    warnings.push(capped('TTL', form(ttl), form(left)));
    ttl = left;
  }
  return { ttl, warnings };
}

function capped(what: 'period' | 'TTL', requested: string, maximum: string): string {
  return `${what} of "${requested}" exceeded the effective max_ttl of "${maximum}"; ${what} value is capped accordingly`;
}
