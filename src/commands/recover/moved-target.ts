/**
 * `trueup recover --moved TARGET [path]`: a target is another place now, and the ledger keeps the records that the new place proves
 * (rule 37). Reads that target and writes only the ledger, after the user has seen which records are dropped and has agreed.
 */
import { type CommandContext, printDiagnostics, printError, printWarnings } from '../../run/terminal.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/address.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Ledger, LedgerRecord, StackStore } from '../../model/ledger.ts';
import type { DesiredResource } from '../../model/resource.ts';
import { formatIdentity, identityOf, type Stack, type Target } from '../../model/stack.ts';
import { type CarriedOver, carryOver } from '../../plan/carry-over-records.ts';
import type { PlanInput } from '../../plan/build-plan.ts';
import {
  identitiesAfter,
  type MovedTarget,
  movedCode,
  movedTargets,
  ofUnknownPlace,
  unknownPlace,
} from '../../plan/moved-targets.ts';
import { printable } from '../../report/view/printable.ts';
import { connectToRead } from '../../run/connect.ts';
import { reportNotWritten } from '../../run/consent.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../run/exit-codes.ts';
import { beginRun, listenForSignals, raceStop, type RunTime } from '../../run/stop-signals.ts';
import { holdLock, endAfter } from '../../run/lock.ts';
import { identifyRun } from '../../run/origin.ts';
import { loadManifests } from '../../run/load-manifests.ts';
import { readPlanInput } from '../../run/make-plan.ts';
import { openLedger } from '../../run/open-ledger.ts';
import { askToWrite } from './rebuild.ts';

interface MoveContext extends CommandContext {
  readonly stop: AbortSignal;
  readonly time: RunTime;
}

interface MovedOptions {
  readonly moved: string;
  readonly yes?: boolean;
  /** seconds that the run may take */
  readonly timeout?: number;
}

export async function recoverMoved(
  path: string | undefined,
  options: MovedOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const { stack, diagnostics, resources, began } = await loadManifests(path, host, options);
  if (stack === undefined || hasErrors(diagnostics)) {
    printDiagnostics(terminal, diagnostics);
    return exitCodeOf(diagnostics);
  }
  printWarnings(terminal, diagnostics);
  const stops = listenForSignals(host);
  const { stop } = stops;
  const time = beginRun({ stack, began }, stops, host);
  const store = await openLedger(stack, host, time);
  try {
    const held = await holdLock(
      {
        store,
        stack: stack.name,
        run: identifyRun(host),
        timeout: 0,
        path,
        stop,
        deadline: time.deadline,
      },
      terminal,
    );
    if (typeof held === 'number') return held;
    return await endAfter(
      () => carry({ stack, resources, store }, options, { ...context, stop, time }),
      held.release,
    );
  } finally {
    await store.close();
    time.deadline.clear();
    stops.dispose();
  }
}

interface MovedStack {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
  readonly store: StackStore;
}

async function carry(
  { stack, resources, store }: MovedStack,
  options: MovedOptions,
  context: MoveContext,
): Promise<ExitCode> {
  const { host, terminal, stop } = context;
  const ledger = await store.read();
  const search = findMoved({ stack, resources, ledger }, options.moved, context);
  const moved = await raceStop(search, stop);
  if (moved === 'stopped') return reportNotWritten(terminal, stop);
  if (typeof moved === 'string') {
    printError(terminal, 'nothing-moved', `nothing was written: ${moved}`);
    return exitCodes.error;
  }
  const carried = await raceStop(
    readMoved({ stack, resources, ledger, target: moved.target }, context),
    stop,
  );
  if (carried === 'stopped') return reportNotWritten(terminal, stop);
  if (carried.gaps.length > 0) {
    const why = carried.gaps.join('; ');
    printError(
      terminal,
      'look-incomplete',
      `nothing was written: not everything of ${quoted(options.moved)} could be read, and what was not seen would be forgotten: ${why}`,
    );
    return exitCodes.error;
  }
  report(moved, carried, context);
  const refusal = await askToWrite(options, context, stop);
  if (refusal !== undefined) return refusal;
  const { name } = moved.target;
  const others = [...ledger.records].filter(([text]) => parseAddress(text).target !== name);
  const records = new Map<AddressText, LedgerRecord>([...others, ...carried.kept]);
  const targets = identitiesAfter(ledger, [moved.target]);
  await store.write({ ...ledger, records, targets });
  host.stdout.write(
    `The ledger has ${counted(carried.kept.size, 'record')} of ${quoted(name)} as it is now\n`,
  );
  return exitCodes.done;
}

interface MoveInput {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/**
 * The target that has moved, or why there is nothing to carry over. A ledger without the places of its targets counts as moved, so
 * that its records are checked.
 */
async function findMoved(
  found: MoveInput,
  wanted: string,
  context: MoveContext,
): Promise<MovedTarget | string> {
  const { stack, ledger } = found;
  const names = stack.targets.map((target) => quoted(target.name)).join(', ');
  const target = stack.targets.find(({ name }) => name === wanted);
  if (target === undefined)
    return `stack ${quoted(stack.name)} has no target ${quoted(wanted)}: it has ${names}`;
  if (!ledger.known) return noLedgerHere(stack);
  const [moved] =
    ledger.targets === undefined ? ofUnknownPlace(ledger, [target]) : movedTargets(ledger, [target]);
  if (moved !== undefined) return moved;
  const isElsewhere = await leadsElsewhere({ ...found, target }, context);
  return isElsewhere
    ? { target, was: undefined, is: formatIdentity(identityOf(target)) }
    : `target ${quoted(wanted)} is the place that the ledger knows, so nothing has moved`;
}

function noLedgerHere({ renamedFrom }: Stack): string {
  return renamedFrom === undefined
    ? 'there is no ledger to carry anything over in: "trueup recover" rebuilds one'
    : `what the ledger knows is still that of stack ${quoted(renamedFrom)}: carry it over under that name, then rename the stack`;
}

/** Whether the ledger has the target's current place, but also records that belong to another place. */
async function leadsElsewhere(input: TargetInput, context: MoveContext): Promise<boolean> {
  const { ledger, target } = input;
  const records = new Map(recordsOf(ledger, target));
  const { targets } = await readAlone(input, { ...ledger, records }, context);
  return targets.some(
    ({ unread, sets }) =>
      unread?.code === movedCode ||
      [...sets.values()].some(({ unseen, resources }) => {
        const ids = new Set(resources.map(({ id }) => id));
        return [...(unseen?.keys() ?? [])].some(
          (text) => records.has(text) && !ids.has(records.get(text)?.id),
        );
      }),
  );
}

interface TargetInput extends MoveInput {
  readonly target: Target;
}

/**
 * Reads the moved target as if it had always been the new place. Resources with ids are searched in lists of all resources, so that
 * no id of the former place is sent to the new one.
 */
async function readMoved(input: TargetInput, context: MoveContext): Promise<CarriedOver> {
  const { host } = context;
  const { resources, ledger, target } = input;
  const here = recordsOf(ledger, target);
  const isUnmarked = (kind: string) => host.kinds.get(kind)?.ownership.by === 'ledger';
  const known = { ...ledger, targets: identitiesAfter(ledger, [target]) };
  const unmarked = here.filter(([text]) => isUnmarked(parseAddress(text).kind));
  const planInput = await readAlone(
    { ...input, resources: resources.filter(({ address }) => isUnmarked(address.kind)) },
    { ...known, records: new Map(unmarked) },
    context,
  );
  return carryOver({ ...planInput, ledger: { ...known, records: new Map(here) } });
}

/** The input of a plan of this target alone, with this ledger. */
async function readAlone(
  { stack, resources, target }: TargetInput,
  ledger: Ledger,
  { host, time }: MoveContext,
): Promise<PlanInput> {
  const alone = { ...stack, targets: [target] };
  const connected = await connectToRead(alone, host, { ...time, signal: time.over });
  try {
    return await readPlanInput({
      stack: alone,
      kinds: host.kinds,
      resources: resources.filter(({ address }) => address.target === target.name),
      files: 0,
      documents: 0,
      manifestsComplete: true,
      isSelection: false,
      ledger,
      connected,
      now: host.now,
    });
  } finally {
    await connected.close();
  }
}

function recordsOf({ records }: Ledger, { name }: Target): [AddressText, LedgerRecord][] {
  return [...records].filter(([text]) => parseAddress(text).target === name);
}

function report(
  { target, was, is }: MovedTarget,
  { kept, dropped }: CarriedOver,
  { host }: CommandContext,
): void {
  const print = (line = '') => host.stdout.write(`${line}\n`);
  print(`target ${quoted(printable(target.name))}  ${printable(was ?? unknownPlace)}`);
  print(`${' '.repeat(target.name.length + 5)}now  ${printable(is)}`);
  print();
  const are = (count: number) => `${counted(count, 'record')} ${count === 1 ? 'is' : 'are'}`;
  if (kept.size === 0)
    print('Nothing that the ledger knows is proved by what is there, so nothing is carried over.');
  else print(`${are(kept.size)} proved by what is there, and carried over:`);
  for (const text of kept.keys()) print(`  ${printable(text)}`);
  if (dropped.length === 0) return;
  print(`\n${are(dropped.length)} dropped:`);
  for (const { address, message } of dropped) print(`  ${printable(formatAddress(address))}: ${message}`);
}
