/**
 * `trueup accept ADDRESS… [path]`: writes the live values of fields that differ into the manifests. Changes no service, and
 * writes an edit only if a plan has nothing left to change there.
 */
import type { Command } from 'commander';
import { formatAddress, parseAddress } from '../model/address.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { type Guard, guardDefaults, type GuardId } from '../model/guard.ts';
import type { Ledger } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Plan } from '../model/plan.ts';
import { counted, quoted } from '../model/quoted.ts';
import type { Guards } from '../model/stack.ts';
import { buildPlan, type PlanInput } from '../plan/build-plan.ts';
import { type CountedGuard, countGuards } from '../plan/count-guards.ts';
import type { ExchangedName } from '../plan/exchanged-names.ts';
import { withIds } from '../plan/names.ts';
import {
  addExamples,
  ackOption,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { checkIds, readIds } from '../run/consent.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { type LoadedManifests, loadManifests, stackArgument } from '../run/load-manifests.ts';
import { readPlanInput } from '../run/make-plan.ts';
import type { LocatedChange } from '../run/manifest-edits/locate-change.ts';
import type { NothingToWrite } from '../run/manifest-edits/render.ts';
import { resolveAcceptedChanges, type Trial } from '../run/manifest-edits/resolve-changes.ts';
import { reviewChanges, type ReviewOptions } from '../run/manifest-edits/review-changes.ts';
import { learnSources } from '../run/needed-secrets.ts';
import { runToRead } from '../run/prepare-run.ts';
import { raceStop } from '../run/stop-signals.ts';
import { type CommandContext, printWarnings } from '../run/terminal.ts';
import { type AcceptRequest, chooseAcceptedChanges } from './accept-choice.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument(
      '[address...]',
      `addresses as the plan shows them, such as Workspace/acme/app; after them, ${stackHelp}`,
    )
    .addOption(formatOption())
    .option(
      '--field <path>',
      'only this field, such as vcsRepo.branch; may be repeated',
      (field: string, before: readonly string[]) => [...before, field],
      [],
    )
    .option('--all', 'all values that were changed in the targets since the last apply')
    .option('--remove', 'drop the manifests of what is gone from its target')
    .addOption(ackOption('with --remove: guards that may pass, such as deletes,zero; may be repeated'))
    .option('--dry-run', 'show the patch, and write nothing')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (words: readonly string[], options: AcceptOptions) => {
      end(await accept(words, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup accept Workspace/acme/app', 'write the live values of one resource into its manifest'],
    ['trueup accept --all --dry-run', 'show the patch for all drift, and write nothing'],
    ['trueup accept Workspace/acme/app --field vcsRepo.branch', 'accept one field and leave the others'],
  );
}

interface AcceptOptions extends ReviewOptions, CommonOptions {
  readonly field: readonly string[];
  readonly all?: boolean;
  readonly remove?: boolean;
  /** acknowledged guards against the removal of manifests */
  readonly ack?: string;
}

/** @param words addresses, and after them optionally the path of the stack */
async function accept(
  words: readonly string[],
  options: AcceptOptions,
  { terminal, ...context }: CommandContext,
): Promise<ExitCode> {
  const { addresses, path } = splitWords(words, context.host.kinds);
  checkIds(readIds(options.ack));
  checkUsage(addresses, options, path);
  const host = readingOnce(context.host);
  const { all = false, remove = false, field: fields } = options;
  const request: AcceptRequest = { addresses, fields, all, remove };
  return runToRead(path, { host, terminal }, options, async (prepared, stop) => {
    const { manifests, ledger } = prepared;
    const { stack } = prepared.request;
    const input = await raceStop(readPlanInput(prepared.request), stop);
    await learnSources(stack, manifests.resources, host);
    const { kinds, cwd, secrets } = host;
    const attemptWith = (from: LoadedManifests) =>
      attempt(from, input, (plan, exchanged) =>
        chooseAcceptedChanges(plan, request, {
          resources: withIds(input, from.resources).declared,
          kinds,
          ledger,
          exchanged,
          listsOf: (name) => input.targets.find(({ target }) => target.name === name)?.names ?? new Map(),
        }),
      );
    const first = attemptWith(manifests);
    printWarnings(terminal, first.plan?.problems ?? []);
    const resolved = await resolveAcceptedChanges(first, {
      cwd,
      kinds,
      secrets,
      attempt: async (drafts) => attemptWith(await loadManifests(path, host, { drafts })),
    });
    const nothing = nothingOf(first, request);
    const blocked = new Map(
      guardRemovals(resolved.placed, { ...ledger, declared: manifests.resources }, stack.guards),
    );
    for (const id of readIds(options.ack)) blocked.delete(id as GuardId);
    const command = (name: string) => quoted(['trueup', name, stackArgument(path) ?? []].flat().join(' '));
    const refused = resolved.refusals.length;
    const reverts =
      refused === 0
        ? ''
        : `, and reverts ${counted(refused, 'value that was', 'values that were')} not accepted`;
    const next = `Next: ${command('apply')} records the new values${reverts}. Until then, ${command('drift')} still lists them.\n`;
    const code = await reviewChanges(resolved, { ...options, stack, terminal, stop, nothing, blocked, next });
    if (code !== exitCodes.done || nothing !== 'not-all-seen') return code;
    return resolved.placed.length > 0 ? exitCodes.partial : exitCodes.error;
  });
}

/** The last word is a path if it does not begin with a kind: a folder with the name of a kind is written with "./". */
function splitWords(
  words: readonly string[],
  kinds: CliHost['kinds'],
): { addresses: readonly string[]; path?: string } {
  const last = words.at(-1);
  const isPath = last !== undefined && !kinds.has(last.split('/', 1)[0] ?? '');
  return isPath ? { addresses: words.slice(0, -1), path: last } : { addresses: words };
}

/** @throws CommandStop for options that do not go together */
function checkUsage(
  addresses: readonly string[],
  { all = false, field }: AcceptOptions,
  path: string | undefined,
): void {
  const given = path === undefined ? '' : `; ${quoted(path)} is read as the path of the stack`;
  if (all === addresses.length > 0)
    throw new CommandStop(
      'usage',
      all
        ? '--all accepts all drift: give no address with it'
        : `name what to accept, as the plan does, such as Workspace/acme/app, or pass --all${given}`,
    );
  if (field.length > 0 && addresses.length !== 1)
    throw new CommandStop('usage', '--field is about one resource: give one address');
}

/** Manifests are loaded several times, but standard input can be read only once. */
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

/** Why there is nothing to accept. "As declared" is certain only if everything was read. */
function nothingOf({ plan, problems }: Attempt, { all, addresses }: AcceptRequest): NothingToWrite {
  if (plan?.coverage.complete !== true || hasErrors(problems)) return 'not-all-seen';
  const remaining = plan.changes.filter(({ address }) => all || addresses.includes(formatAddress(address)));
  if (remaining.length === 0) return 'as-declared';
  return all ? 'as-applied' : 'not-written';
}

interface Attempt extends Trial {
  readonly plan?: Plan;
}

/** Plans these manifests against the live state that was read at the start, and chooses the changes to accept. */
function attempt(
  manifests: LoadedManifests,
  input: PlanInput,
  choose: (plan: Plan, exchanged: readonly ExchangedName[]) => Pick<Trial, 'acceptedChanges' | 'refusals'>,
): Attempt {
  if (hasErrors(manifests.diagnostics))
    return { manifests, acceptedChanges: [], refusals: [], problems: [], contentOf: () => undefined };
  const { plan, problemsOfEach, contentOf, exchangedNames } = buildPlan({
    ...input,
    desired: manifests.resources,
    manifestsComplete: manifests.complete,
    // This plan is not stored: each key is accepted or refused by itself.
    secretsIn: undefined,
  });
  return {
    manifests,
    plan,
    ...choose(plan, exchangedNames()),
    problems: problemsOfEach,
    contentOf,
  };
}

// Checks the removal of manifests with the stack's guards against deletions: to a token that can read nothing, all resources seem
// to be gone.

/** @returns the guards that block, each id with its message */
function guardRemovals(
  placed: readonly LocatedChange[],
  { records, declared }: Pick<Ledger, 'records'> & { readonly declared: readonly DesiredResource[] },
  limits: Guards,
): ReadonlyMap<Guard['id'], string> {
  const removed = placed.flatMap(({ accepted: { address, path } }) => (path.length === 0 ? [address] : []));
  const recorded = [...records.keys()].map(parseAddress);
  const groups = Map.groupBy(removed, ({ kind, target }) => `${kind}/${target}`);
  const counts = [...groups.values()].flatMap((ofGroup) => {
    const { kind = '', target = '' } = ofGroup[0] ?? {};
    const isInGroup = (one: { kind: string; target: string }) => one.kind === kind && one.target === target;
    const owned = new Set(
      [...recorded.filter(isInGroup), ...ofGroup].map((address) => formatAddress(address)),
    );
    const gone = new Set(ofGroup.map((address) => formatAddress(address)));
    const remaining = declared.filter(
      ({ address }) => owned.has(formatAddress(address)) && !gone.has(formatAddress(address)),
    ).length;
    const zeros = { removedBefore: 0, unrecorded: 0, updated: [], created: 0 };
    return [{ kind, target, owned: owned.size, removed: ofGroup, remaining, ...zeros }];
  });
  const blocks = ({ id }: Pick<CountedGuard, 'id'>) =>
    limits.raise?.includes(id) || (guardDefaults[id] === 'blocks' && !limits.allow?.includes(id));
  return new Map(
    countGuards(counts, limits)
      .filter(blocks)
      .map(({ id, kind, target, counted, of = counted }) => [
        id,
        `${id}: ${counted} of ${of} ${kind ?? 'resources'}${target === undefined ? '' : ` in ${quoted(target)}`}`,
      ]),
  );
}
