/**
 * The common part of the commands about audit trails: finds the stack, its targets and their trails, reads the organization of a target,
 * and ends on a signal. Mistakes in manifests are ignored.
 */
import { refuseForeign } from '../../audit-trail/read-trail.ts';
import type { TrailEvent } from '../../model/audit-trail.ts';
import { WireError } from '../../model/http.ts';
import { memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { formatIdentity, identityOf, type Stack, type Target } from '../../model/stack.ts';
import { auditedTargets, type ConnectionLimits, connectToRead } from '../../run/connect.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { loadStack } from '../../run/load-manifests.ts';
import { listenForEnd, type ReadSignals } from '../../run/stop-signals.ts';
import type { CommandContext } from '../../run/terminal.ts';

export interface AuditContext extends CommandContext {
  readonly stack: Stack;
  /** when the run began to read standard input, in milliseconds since 1970; absent if it did not read it */
  readonly began?: number | undefined;
  readonly stops: ReadSignals;
  /** the targets whose trails the command reads */
  readonly targets: readonly Target[];
}

interface TrailsWanted {
  /** name of one target of the stack; absent for all */
  readonly target?: string | undefined;
  /** seconds; overrides the timeout of the stack */
  readonly timeout?: number | undefined;
  /** whether the services are read, which needs a token */
  readonly live: boolean;
}

export async function withTrails(
  path: string | undefined,
  { target, timeout, live }: TrailsWanted,
  context: CommandContext,
  work: (context: AuditContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const stops = listenForEnd(host);
  try {
    const { stack, began } = await loadStack(path, host, {
      timeout,
      runEnded: stops.runEnded,
      ignoresMistakes: true,
    });
    const targets = chooseTrails(stack, target, { live });
    return await work({ host, terminal, stack, began, stops, targets });
  } finally {
    stops.dispose();
  }
}

// Chooses the targets whose trails a command reads, and names their trails in an archive.

/**
 * @param wanted the target that was named on the command line; undefined for all
 * @param options.live whether the services are read, which needs a token
 * @throws CommandStop if no target is left
 */
function chooseTrails(
  stack: Stack,
  wanted: string | undefined,
  { live }: { readonly live: boolean },
): readonly Target[] {
  const known = stack.targets.filter(({ service }) => service === 'workspaces');
  const named = wanted === undefined ? known : known.filter(({ name }) => name === wanted);
  if (wanted !== undefined && named.length === 0)
    throw new CommandStop(
      'unknown-target',
      `stack ${quoted(stack.name)} has no target ${quoted(wanted)} of service "workspaces", which alone has an audit trail`,
    );
  const audited = auditedTargets({ targets: named });
  if (!live || audited.length > 0) return live ? audited : named;
  const which = wanted === undefined ? 'no target' : `target ${quoted(wanted)}`;
  const has = wanted === undefined ? ` of stack ${quoted(stack.name)} has an` : ' has no';
  throw new CommandStop(
    'no-audit-token',
    `${which}${has} "auditToken": add "auditToken: { env: NAME }" in ${stack.file}, best with a token that was made for audit trails`,
  );
}

/** The name of a target's trail in an archive. It is the identity, because another stack may give the target another name. */
export function trailOf(target: Target): string {
  return formatIdentity(identityOf(target));
}

// Reads the opaque id of a target's organization, which all events of its trail have. Uses the target's own token, because the audit token
// can read only the trail.

/** The longest wait for the id, in milliseconds. It is short, because the id only shows whether the trail is the right one. */
const longestWait = 10_000;

interface OrganizationContext {
  readonly stack: Stack;
  readonly host: CliHost;
}

/**
 * Undefined if it is not known: without a token of the target, or from a service that does not return the id. Also without an
 * `auditToken`: then the service is embedded, and its trail is that of its own organization. Source: wire/workspaces 1.1
 */
async function organizationOf(
  target: Target,
  { stack, host }: OrganizationContext,
  limits: ConnectionLimits,
): Promise<string | undefined> {
  if (target.auditToken === undefined) return undefined;
  const until = Math.min(limits.deadline.until, host.now() + longestWait);
  const runEnded = AbortSignal.any([limits.runEnded, AbortSignal.timeout(longestWait)]);
  try {
    const alone = { ...stack, targets: [target] };
    const { targets, close } = await connectToRead(alone, host, { ...limits, deadline: { until }, runEnded });
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
    if (error instanceof WireError || error instanceof CommandStop) return undefined;
    throw error;
  }
}

/** The organizations of targets. Each is read at most once, and only if there are events. */
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

  /** @throws TrailError if the events are of another organization than the target */
  async check(target: Target, events: readonly TrailEvent[], limits: ConnectionLimits): Promise<void> {
    const [first] = events;
    const organization = first && ((await this.of(target, limits)) ?? first.organizationId);
    if (organization !== undefined) for (const event of events) refuseForeign(event, organization);
  }
}
