/**
 * `trueup accept ADDRESS… [path]`: writes live values into the manifests, in place, for what differs. Changes no service, and
 * writes only what leaves nothing to plan.
 */
import type { CommandContext } from '../command-context.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { GuardId } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { formatAddress } from '../../model/resource/address.ts';
import type { NothingTaken } from '../../report/accept/accept-report.ts';
import { buildPlan, type PlanInput } from '../../plan/build-plan.ts';
import type { ReaderConnection } from '../../http/open-target.ts';
import { type AcceptRequest, chooseAcceptedChanges } from '../accept/choose-takings.ts';
import { guardRemovals } from '../accept/guard-removals.ts';
import { learnSources } from '../run/learn-sources.ts';
import { reviewChanges, type ReviewOptions } from '../accept/review-changes.ts';
import { resolveAcceptedChanges, type Trial } from '../accept/settle-takings.ts';
import { readIds, refuseIds } from '../approval/acknowledge.ts';
import type { CliHost } from '../cli-host.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type LoadedManifests, loadManifests } from '../load-manifests.ts';
import { readPlanInput } from '../run/make-plan.ts';
import { type PreparedRun, runToRead } from '../run/prepare-run.ts';
import { raceStop } from '../stop/race-stop.ts';
import { printError, printWarnings } from '../terminal/terminal.ts';

export interface AcceptOptions extends ReviewOptions {
  readonly field: readonly string[];
  readonly all?: boolean;
  readonly remove?: boolean;
  /** guards about dropped manifests that may pass */
  readonly ack?: string;
  /** seconds */
  readonly timeout?: number;
}

/** @param words addresses, and behind them perhaps the path of the stack */
export async function accept(
  words: readonly string[],
  options: AcceptOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const { addresses, path } = splitWords(words, host.kinds);
  const unknown = refuseIds(readIds(options.ack), true);
  if (unknown !== undefined) {
    printError(terminal, unknown.code, unknown.message);
    return unknown.exit;
  }
  const mistake = mistakeIn(addresses, options);
  if (mistake !== undefined) {
    printError(terminal, 'usage', mistake);
    return exitCodes.error;
  }
  const reading = { ...context, host: readingOnce(host) };
  return runToRead(path, reading, { timeout: options.timeout }, (prepared, stop) =>
    takeIn(prepared, { addresses, path, options, stop, ...reading }),
  );
}

/** The last word is a path if it does not begin with a kind: a folder that is called like one is written with "./". */
function splitWords(
  words: readonly string[],
  kinds: CliHost['kinds'],
): { addresses: readonly string[]; path?: string } {
  const last = words.at(-1);
  const isPath = last !== undefined && !kinds.has(last.split('/', 1)[0] ?? '');
  return isPath ? { addresses: words.slice(0, -1), path: last } : { addresses: words };
}

function mistakeIn(addresses: readonly string[], { all = false, field }: AcceptOptions): string | undefined {
  if (all === addresses.length > 0)
    return all
      ? '--all takes in every drift: give no address beside it'
      : 'name what to take in, as the plan does, or pass --all';
  if (field.length > 0 && addresses.length !== 1) return '--field is about one resource: give one address';
  return undefined;
}

/** Manifests are read again and again, and standard input can be read once. */
function readingOnce(host: CliHost): CliHost {
  let read: Promise<Uint8Array> | undefined;
  return {
    ...host,
    readStdin: (max, stop) => {
      read ??= host.readStdin(max, stop);
      return read;
    },
  };
}

interface AcceptedChangeIn extends CommandContext {
  readonly addresses: readonly string[];
  readonly path: string | undefined;
  readonly options: AcceptOptions;
  readonly stop: AbortSignal;
}

async function takeIn(
  prepared: PreparedRun<ReaderConnection>,
  { addresses, path, options, stop, host, terminal }: AcceptedChangeIn,
): Promise<ExitCode> {
  try {
    const { request: planned, manifests, ledger } = prepared;
    const input = await raceStop(readPlanInput(planned), stop);
    if (input === 'stopped') return exitCodes.interrupted;
    await learnSources(planned.stack, manifests.resources, host);
    const { all = false, remove = false, field: fields } = options;
    const request: AcceptRequest = { addresses, fields, all, remove };
    const attemptWith = (from: LoadedManifests) =>
      attempt(from, input, (plan) =>
        chooseAcceptedChanges(plan, request, {
          resources: from.resources,
          kinds: host.kinds,
          ledger,
        }),
      );
    const first = attemptWith(manifests);
    printWarnings(terminal, first.problems);
    const settled = await resolveAcceptedChanges(first, {
      cwd: host.cwd,
      kinds: host.kinds,
      secrets: host.secrets,
      attempt: async (drafts) => attemptWith(await loadManifests(path, host, { drafts })),
    });
    const unread = input.targets.some((target) => target.unread !== undefined);
    const nothing = nothingOf(first, request);
    const { stack } = planned;
    const blocked = new Map(guardRemovals(settled.placed, ledger, stack.guards));
    for (const id of readIds(options.ack)) blocked.delete(id as GuardId);
    const code = await reviewChanges(settled, { ...options, stack, terminal, stop, nothing, blocked });
    if (code !== exitCodes.done || !(unread || hasErrors(first.problems))) return code;
    return settled.placed.length > 0 ? exitCodes.partial : exitCodes.error;
  } finally {
    await prepared.close();
  }
}

/** "As declared" is only said after a complete look. */
function nothingOf({ plan, problems }: Attempt, { all, addresses }: AcceptRequest): NothingTaken {
  if (plan?.coverage.complete !== true || hasErrors(problems)) return 'not-all-seen';
  const left = plan.changes.filter(({ address }) => all || addresses.includes(formatAddress(address)));
  if (left.length === 0) return 'as-declared';
  return all ? 'as-applied' : 'not-written';
}

interface Attempt extends Trial {
  readonly plan?: Plan;
}

/** What would differ, were these the manifests: compared with what was read of the targets at the beginning. */
function attempt(
  manifests: LoadedManifests,
  input: PlanInput,
  choose: (plan: Plan) => Pick<Trial, 'takings' | 'refusals'>,
): Attempt {
  if (hasErrors(manifests.diagnostics))
    return { manifests, takings: [], refusals: [], problems: [], contentOf: () => undefined };
  const { plan, contentOf } = buildPlan({
    ...input,
    desired: manifests.resources,
    manifestsComplete: manifests.complete,
    // Nothing keeps this plan: each key is taken in, or refused, by itself.
    secretsIn: undefined,
  });
  return { manifests, plan, ...choose(plan), problems: plan.problems as Trial['problems'], contentOf };
}
