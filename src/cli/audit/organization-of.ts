/**
 * Asks which organization a target is: its opaque id, which all events of its trail have. With the target's own token, for the one that
 * gets the trail can ask for nothing else.
 */
import type { TrailEvent } from '../../model/audit-trail.ts';
import { refuseForeign } from '../../audit/trail/one-organization.ts';
import { memberOf } from '../../model/json/json.ts';
import type { Stack, Target } from '../../model/stack/target.ts';
import { WireError } from '../../model/wire.ts';
import type { CliHost } from '../cli-host.ts';
import { connectToRead, type ConnectionLimits } from '../run/connect.ts';
import { SecretError } from '../run/read-secret.ts';

/** How long it is waited for, in milliseconds: what is asked is only whether the trail is the right one. */
const patience = 10_000;

interface OrganizationContext {
  readonly stack: Stack;
  readonly host: CliHost;
}

/**
 * Undefined where it cannot be told: without a token of the target, or from a service that does not give the id. The embedded service
 * gives a target that has no `auditToken` the trail of its own organization. Source: wire/workspaces 1.1
 */
async function organizationOf(
  target: Target,
  { stack, host }: OrganizationContext,
  limits: ConnectionLimits,
): Promise<string | undefined> {
  if (target.auditToken === undefined) return undefined;
  const until = Math.min(limits.deadline.until, host.now() + patience);
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(patience)]);
  try {
    const alone = { ...stack, targets: [target] };
    const { targets, close } = await connectToRead(alone, host, { ...limits, deadline: { until }, signal });
    try {
      const reader = targets[0]?.connection.reader;
      const answer = await reader?.get(`/organizations/${encodeURIComponent(target.organization ?? '')}`);
      const data = answer?.status === 200 ? memberOf(answer.body, 'data') : undefined;
      const id = memberOf(memberOf(data, 'attributes'), 'external-id');
      return typeof id === 'string' && id !== '' ? id : undefined;
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof WireError || error instanceof SecretError) return undefined;
    throw error;
  }
}

/** Each organization is asked for at most once, and only when there are events. */
export class Organizations {
  readonly #context: OrganizationContext;
  readonly #found = new Map<string, Promise<string | undefined>>();

  constructor(context: OrganizationContext) {
    this.#context = context;
  }

  of(target: Target, limits: ConnectionLimits): Promise<string | undefined> {
    const known = this.#found.get(target.name) ?? organizationOf(target, this.#context, limits);
    this.#found.set(target.name, known);
    return known;
  }

  /** @throws TrailError when the events are of another organization than the target */
  async check(target: Target, events: readonly TrailEvent[], limits: ConnectionLimits): Promise<void> {
    const [first] = events;
    const organization = first && ((await this.of(target, limits)) ?? first.organizationId);
    if (organization !== undefined) for (const event of events) refuseForeign(event, organization);
  }
}
