/** A request that stays on its way until a test lets it go on. */
import type { Rule } from './faulty-proxy.ts';

interface HeldRequest {
  readonly rule: Rule;
  /** resolves when the request is there */
  readonly reached: Promise<void>;
  release(): void;
}

/** The rule, made to hold its request until it is let go; `reached` resolves when the request is there. */
export function holding(rule: Omit<Rule, 'fault'>): HeldRequest {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = () => {
    reached.resolve();
    return release.promise;
  };
  const held: Rule = { ...rule, fault: { first } };
  return { rule: held, reached: reached.promise, release: release.resolve };
}
