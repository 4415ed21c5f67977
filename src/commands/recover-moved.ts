/**
 * `trueup recover --moved TARGET [path]`: after a change of a target's address, keeps the ledger records that resources at
 * the new address confirm. Reads that target and writes only the ledger, after the user has seen which records are dropped and has agreed.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { counted, quoted } from '../model/quoted.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import { formatIdentity, identityOf, type Stack, type Target } from '../model/stack.ts';
import { type CarriedOver, carryOver } from '../plan/recover-records.ts';
import type { PlanInput } from '../plan/build-plan.ts';
import {
  identitiesAfter,
  type MovedTarget,
  movedCode,
  movedTargets,
  ofUnknownPlace,
  unknownPlace,
} from '../plan/moved-targets.ts';
import { printable } from '../report/view/printable.ts';
import { connectToRead } from '../run/connect.ts';
import { CommandStop } from '../run/command-stop.ts';
import { notWritten } from '../run/consent.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import { raceStop } from '../run/stop-signals.ts';
import { readPlanInput } from '../run/make-plan.ts';
import { answer, askToWrite, type RecoverRun, say, underLock } from './recover-run.ts';

export function recoverMoved(run: RecoverRun): Promise<ExitCode> {
  return underLock(run, () => carryOverRecords(run));
}

async function carryOverRecords(run: RecoverRun): Promise<ExitCode> {
  const { stack, resources, store, terminal, stop } = run;
  const { moved: wanted = '' } = run.options;
  const ledger = await store.read();
  const stopped = () => notWritten(terminal, stop);
  const moved = await raceStop(findMoved({ stack, resources, ledger }, wanted, run), stop, stopped);
  const found = { stack, resources, ledger, target: moved.target };
  const carried = await raceStop(readMoved(found, run), stop, stopped);
  if (carried.gaps.length > 0)
    throw new CommandStop(
      'look-incomplete',
      `nothing was written: not everything of ${quoted(wanted)} could be read, and the records of unread resources would be dropped: ${carried.gaps.join('; ')}`,
    );
  report(moved, carried, run);
  const { name } = moved.target;
  const { kept, dropped: notRecorded } = carried;
  const about = { was: moved.was, is: moved.is, target: name, records: kept, notRecorded };
  const recovery = { action: 'move-target', ...about } as const;
  answer(run, recovery, false);
  await askToWrite(run);
  const others = [...ledger.records].filter(([text]) => parseAddress(text).target !== name);
  const records = new Map<AddressText, LedgerRecord>([...others, ...carried.kept]);
  const targets = identitiesAfter(ledger, [moved.target]);
  await store.write({ ...ledger, records, targets });
  say(
    run,
    `The ledger now has ${counted(carried.kept.size, 'record')} of ${quoted(name)} at its new address`,
  );
  answer(run, recovery, true);
  return exitCodes.done;
}

interface MoveInput {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/**
 * The target that has moved. If the ledger does not say where its targets were, the target counts as moved, so that its records
 * are checked.
 * @throws CommandStop when there is nothing to carry over
 */
async function findMoved(found: MoveInput, wanted: string, run: RecoverRun): Promise<MovedTarget> {
  const { stack, ledger } = found;
  const names = stack.targets.map((target) => quoted(target.name)).join(', ');
  const target = stack.targets.find(({ name }) => name === wanted);
  if (target === undefined)
    throw nothingMoved(`stack ${quoted(stack.name)} has no target ${quoted(wanted)}: it has ${names}`);
  if (!ledger.known) throw nothingMoved(noLedgerHere(stack));
  const [moved] =
    ledger.targets === undefined ? ofUnknownPlace(ledger, [target]) : movedTargets(ledger, [target]);
  if (moved !== undefined) return moved;
  if (await hasRecordsOfOtherPlace({ ...found, target }, run))
    return { target, was: undefined, is: formatIdentity(identityOf(target)) };
  throw nothingMoved(
    `the ledger already has the current address of target ${quoted(wanted)}, so nothing has moved`,
  );
}

function nothingMoved(why: string): CommandStop {
  return new CommandStop('nothing-moved', `nothing was written: ${why}`);
}

function noLedgerHere({ renamedFrom }: Stack): string {
  return renamedFrom === undefined
    ? 'there is no ledger with records to carry over: "trueup recover" rebuilds one'
    : `the records are still in the ledger of stack ${quoted(renamedFrom)}: remove "renamedFrom" and set the name back to ${quoted(renamedFrom)}, run this command, then rename the stack again`;
}

/**
 * Whether the ledger has the target's current address, but also records of another one. Their ids are found in another organization
 * (`movedCode`), or cannot be read here. An unread record does not count if its id was found under another name.
 */
async function hasRecordsOfOtherPlace(input: TargetInput, run: RecoverRun): Promise<boolean> {
  const { ledger, target } = input;
  const records = new Map(recordsOf(ledger, target));
  const { targets } = await readAlone(input, { ...ledger, records }, run);
  return targets.some(
    ({ unread, sets }) =>
      unread?.code === movedCode ||
      [...sets.values()].some(({ unseen, resources }) => {
        const liveIds = new Set(resources.map(({ id }) => id));
        return [...(unseen?.keys() ?? [])].some(
          (text) => records.has(text) && !liveIds.has(records.get(text)?.id),
        );
      }),
  );
}

interface TargetInput extends MoveInput {
  readonly target: Target;
}

/**
 * Reads the moved target as if it had always been at the new place. Only kinds without ownership evidence are read by their records.
 * The others are found in lists of all resources, so that no id of the former place is sent to the new one.
 */
async function readMoved(input: TargetInput, run: RecoverRun): Promise<CarriedOver> {
  const { host } = run;
  const { resources, ledger, target } = input;
  const targetRecords = recordsOf(ledger, target);
  const isUnmarked = (kind: string) => host.kinds.get(kind)?.ownership.by === 'ledger';
  const known = { ...ledger, targets: identitiesAfter(ledger, [target]) };
  const unmarked = targetRecords.filter(([text]) => isUnmarked(parseAddress(text).kind));
  const planInput = await readAlone(
    { ...input, resources: resources.filter(({ address }) => isUnmarked(address.kind)) },
    { ...known, records: new Map(unmarked) },
    run,
  );
  return carryOver({ ...planInput, ledger: { ...known, records: new Map(targetRecords) } });
}

/** The input of a plan of this target alone, with this ledger. */
async function readAlone(
  { stack, resources, target }: TargetInput,
  ledger: Ledger,
  { host, time }: RecoverRun,
): Promise<PlanInput> {
  const alone = { ...stack, targets: [target] };
  const connected = await connectToRead(alone, host, time);
  try {
    return await readPlanInput({
      stack: alone,
      kinds: host.kinds,
      desired: resources.filter(({ address }) => address.target === target.name),
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

function report({ target, was, is }: MovedTarget, { kept, dropped }: CarriedOver, run: RecoverRun): void {
  const print = (line = '') => say(run, line);
  print(`target ${quoted(printable(target.name))}  ${printable(was ?? unknownPlace)}`);
  print(`${' '.repeat(target.name.length + 5)}now  ${printable(is)}`);
  print();
  const are = (count: number) => `${counted(count, 'record')} ${count === 1 ? 'is' : 'are'}`;
  if (kept.size === 0)
    print('No record is confirmed by a resource at the new address, so nothing is carried over.');
  else print(`${are(kept.size)} confirmed at the new address, and carried over:`);
  for (const text of kept.keys()) print(`  ${printable(text)}`);
  if (dropped.length === 0) return;
  print(`\n${are(dropped.length)} dropped:`);
  for (const { address, message } of dropped) print(`  ${printable(formatAddress(address))}: ${message}`);
}
