/** A request that the proxy holds until the test releases it. */
import type { Rule } from './faulty-proxy.ts';

interface HeldRequest {
  readonly rule: Rule;
  /** resolves when the proxy has the request */
  readonly reached: Promise<void>;
  release(): void;
}

/** Makes a rule that holds its request until `release` is called. */
export function holdRequest(rule: Omit<Rule, 'fault'>): HeldRequest {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = () => {
    reached.resolve();
    return release.promise;
  };
  const held: Rule = { ...rule, fault: { first } };
  return { rule: held, reached: reached.promise, release: release.resolve };
}
