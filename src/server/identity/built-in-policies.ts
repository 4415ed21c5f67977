/**
 * The policy that every token has unless its maker says otherwise: what a token may do about itself.
 * Invariant: a stored policy of the same name takes its place.
 */
import type { PolicyRule } from './service-policies.ts';

interface WrittenPolicy {
  readonly rules: readonly PolicyRule[];
  /** As it is written. */
  readonly source: string;
}

export const DEFAULT_POLICY = 'default';

const RULES: readonly PolicyRule[] = [
  { path: 'auth/token/lookup-self', capabilities: ['read'] },
  { path: 'auth/token/renew-self', capabilities: ['update'] },
  { path: 'auth/token/revoke-self', capabilities: ['update'] },
  { path: 'sys/capabilities-self', capabilities: ['update'] },
  { path: 'sys/internal/ui/resultant-acl', capabilities: ['read'] },
  // What follows is not served here; that a token may use it shows in lists of mounts and of capabilities.
  { path: 'cubbyhole/*', capabilities: ['create', 'read', 'update', 'delete', 'list'] },
  { path: 'identity/oidc/provider/+/authorize', capabilities: ['read', 'update'] },
  ...[
    ...['sys/leases/renew', 'sys/leases/lookup', 'sys/wrapping/wrap', 'sys/wrapping/lookup'],
    ...['sys/wrapping/unwrap', 'sys/tools/hash', 'sys/tools/hash/*'],
  ].map((path): PolicyRule => ({ path, capabilities: ['update'] })),
];

const DEFAULT: WrittenPolicy = {
  rules: RULES,
  source: RULES.map(
    ({ path, capabilities }) => `path "${path}" {\n  capabilities = ${JSON.stringify(capabilities)}\n}\n`,
  ).join('\n'),
};

/** The policy of this name that is there without anyone having written it. */
export function builtInPolicy(name: string): WrittenPolicy | undefined {
  return name === DEFAULT_POLICY ? DEFAULT : undefined;
}
