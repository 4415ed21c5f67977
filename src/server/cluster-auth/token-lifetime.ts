/**
 * How long a token lives: from its birth, and from each renewal (wire/cluster-auth 3).
 * Invariants: pure, in whole seconds; a cap is always reported as a warning.
 */
import { durationFormats } from './durations.ts';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';

/** All in seconds; 0 is unset. */
export interface LifetimeRequest {
  /** What a renewal asks for. */
  readonly increment: number;
  readonly ttl: number;
  readonly period: number;
  /** The role's own maximum, from the token's birth on. */
  readonly maxTtl: number;
  /** The token's own, which caps periods, too. */
  readonly explicitMaxTtl: number;
}

/** The mount's default and maximum lifetime of tokens, in seconds. */
export interface LeaseLimits {
  readonly defaultTtl: number;
  readonly maxTtl: number;
}

export interface Lifetime {
  /** From now on. */
  readonly ttl: number;
  readonly warnings: readonly string[];
}

/**
 * The lifetime of a token that is `age` seconds old; undefined when its time is over, so that it cannot be renewed.
 */
export function lifetimeOf(
  wishes: LifetimeRequest,
  limits: LeaseLimits,
  age: number,
  durationFormat: ClusterAuthDialect['durationFormat'],
): Lifetime | undefined {
  const maximum = Math.min(
    ...[limits.maxTtl, wishes.maxTtl, wishes.explicitMaxTtl].filter((each) => each > 0),
  );
  const form = durationFormats[durationFormat];
  const warnings: string[] = [];
  let ttl = wishes.increment || wishes.ttl || limits.defaultTtl;
  let end = maximum;
  if (wishes.period > 0) {
    ttl = wishes.period;
    end = wishes.explicitMaxTtl || Number.POSITIVE_INFINITY;
    if (ttl > maximum) {
      warnings.push(capped('period', form(ttl), form(maximum)));
      ttl = maximum;
    }
  }
  const left = end - age;
  if (left < 0) return undefined;
  if (ttl > left) {
    warnings.push(capped('TTL', form(ttl), form(left)));
    ttl = left;
  }
  return { ttl, warnings };
}

function capped(what: 'period' | 'TTL', asked: string, most: string): string {
  return `${what} of "${asked}" exceeded the effective max_ttl of "${most}"; ${what} value is capped accordingly`;
}
