/** Opens the ways to the audit trails of a stack's organizations, each with the token for it and with no other. */
import { type AuditConnection, openAuditTrail } from '../../http/open-audit-trail.ts';
import type { RetryPolicy } from '../../http/transport/retry.ts';
import type { Stack, Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import type { CliHost } from '../cli-host.ts';
import { type ConnectionLimits, placeOf } from './connect.ts';
import { type Embedded, openEmbedded } from './embedded-service.ts';
import { readSecret, sourceToShow } from './read-secret.ts';

/** The trail of one target's organization. */
interface ConnectedTrail {
  readonly target: Target;
  readonly channel: AuditConnection;
}

interface ConnectedTrails {
  readonly trails: readonly ConnectedTrail[];
  close(): Promise<void>;
}

/** The targets whose organization's trail can be asked for: those with an `auditToken`, and the embedded ones. */
export function auditedTargets({ targets }: Pick<Stack, 'targets'>): readonly Target[] {
  return targets.filter(
    ({ service, url, auditToken }) =>
      service === 'workspaces' && (auditToken !== undefined || url === 'embedded'),
  );
}

/** How long the trails may be waited for, and with what. */
interface AuditLimits extends ConnectionLimits {
  /** the embedded service, where this run uses it already: whoever opened it closes it */
  readonly embedded?: Embedded | undefined;
  /** how often it is tried; that of all connections when absent */
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/** @param targets of `auditedTargets`. @throws SecretError when a token cannot be read */
export async function connectToAudit(
  stack: Stack,
  targets: readonly Target[],
  host: CliHost,
  { deadline, signal, leave, embedded: opened, retryPolicy }: AuditLimits,
): Promise<ConnectedTrails> {
  const isNeeded = opened === undefined && targets.some(({ url }) => url === 'embedded');
  const own = isNeeded ? await openEmbedded(stack, host) : undefined;
  const embedded = opened ?? own;
  const trails: ConnectedTrail[] = [];
  const close = async () => {
    await Promise.all(trails.map(({ channel }) => channel.close()));
    await own?.close();
  };
  try {
    for (const target of targets) {
      const token = await auditTokenOf(target, { stack, host, embedded });
      const { options } = await placeOf(target, { stack, host, embedded });
      const policy = retryPolicy && { retryPolicy: { ...options.retryPolicy, ...retryPolicy } };
      const limits = { until: deadline.until, signal, leave, ...policy };
      trails.push({ target, channel: openAuditTrail({ ...options, ...limits, token: async () => token }) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { trails, close };
}

interface AuditContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly embedded: Embedded | undefined;
}

async function auditTokenOf(
  { name, organization = '', auditToken }: Target,
  { stack, host, embedded }: AuditContext,
): Promise<string> {
  if (auditToken === undefined) return embedded?.organizationTokens[organization] ?? '';
  const context = { env: host.env, directory: stack.directory };
  return host.secrets.keep(
    await readSecret(auditToken, context, `the audit token of target ${quoted(name)}`),
    sourceToShow(auditToken),
  );
}
