/**
 * `trueup recover [path]`: rebuilds a lost or damaged ledger from the targets and the manifests. Reads the targets and
 * writes only the ledger, after the user has seen its records and the plan that follows from them, and has agreed. With `--moved` the
 * ledger is corrected for a target whose address changed.
 */
import type { Command } from 'commander';
import { completeRecord } from '../apply/ledger-records.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Registry } from '../model/kind.ts';
import { DamagedLedger, type Ledger, type LedgerRecord, type StackStore } from '../model/ledger.ts';
import { counted, quoted } from '../model/quoted.ts';
import { buildPlan, type PlanInput } from '../plan/build-plan.ts';
import { identitiesAfter } from '../plan/moved-targets.ts';
import { type Recovered, recoverRecords } from '../plan/recover-records.ts';
import { renderPlan } from '../report/text/plan.ts';
import { printable } from '../report/view/printable.ts';
import { headFromHistory } from '../run/apply-history.ts';
import {
  addExamples,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { connectToRead } from '../run/connect.ts';
import { notWritten } from '../run/consent.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import { describeElsewhere } from '../run/find-ledger.ts';
import type { CliHost } from '../run/host.ts';
import { repositoryMember } from '../run/ledger-head.ts';
import { readPlanInput } from '../run/make-plan.ts';
import { refuseSecretNames } from '../run/needed-secrets.ts';
import { type FormerLedger, isPending, openFormerLedger, withStackLedger } from '../run/open-ledger.ts';
import { planWithWholeValues } from '../run/print-plan.ts';
import { listenForSignals, raceStop } from '../run/stop-signals.ts';
import { printWarnings } from '../run/terminal.ts';
import { adoptRepository, idsAfterLoss, idsInTags, reportIds } from './recover-repository.ts';
import { recoverMoved } from './recover-moved.ts';
import {
  answer,
  askToWrite,
  type RecoverOptions,
  type RecoverRun,
  type Recovery,
  say,
  underLock,
} from './recover-run.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option(
      '--adopt-repository',
      'this repository continues the one that the ledger or the ownership tags belong to',
    )
    .option(
      '--moved <target>',
      'this target is at a new place: keep the ledger records that the new place proves',
    )
    .action(async (path: string | undefined, options: RecoverOptions) => {
      const terminal = terminalOf(options);
      const about = { host, stops: listenForSignals(host), timeout: options.timeout, ignoresMistakes: false };
      const work = options.moved === undefined ? recover : recoverMoved;
      end(
        await withStackLedger(path, about, (opened) => {
          printWarnings(terminal, opened.diagnostics);
          return work({ ...opened, host, terminal, path, options });
        }),
      );
    });
  addExamples(
    command,
    ['trueup recover', 'show the rebuilt ledger, and ask before it is written'],
    ['trueup recover --yes --format json', 'write it without a question, and print what it has as JSON'],
    ['trueup recover --adopt-repository', 'continue, in this repository, a stack of another one'],
  );
}

export async function recover(run: RecoverRun): Promise<ExitCode> {
  const { stack, resources, isSelection, host, terminal, store, time, stop } = run;
  if (isSelection)
    throw new CommandStop(
      'whole-stack-needed',
      'nothing was written: a ledger is rebuilt from the whole stack, and standard input brings a selection of it: recover without "-"',
    );
  const state = await readState(store);
  const { adoptRepository: adopts = false } = run.options;
  if (state.is === 'intact' && !adopts) {
    const records = counted(state.ledger.records.size, 'record');
    say(run, `${store.place} is there and whole, with ${records}: there is nothing to recover`);
    answer(run, { action: 'none', records: state.ledger.records }, false);
    return exitCodes.done;
  }
  const former = await openFormerLedger(stack, { host, time });
  await former?.close();
  if (former !== undefined && isPending(former)) throw formerLedgerExists(former);
  const found = await raceStop(readInput(run), stop, () => notWritten(terminal, stop));
  const missing = unreadParts(found);
  if (state.is === 'intact' && missing.length > 0) throw incompleteRead(missing);
  if (state.is === 'intact') return adoptRepository(run, state.ledger, found);
  const elsewhere = state.is === 'lost' ? await describeElsewhere(run) : undefined;
  if (elsewhere !== undefined) host.stdout.write(`${elsewhere}\n`);
  const tags = idsInTags(found);
  if (tags.size > 1 && !adopts) throw severalIds(tags);
  const ids = idsAfterLoss([...tags.keys()], adopts, host);
  const input = { ...found, stackIds: { own: ids.stackId, taken: ids.takenIds } };
  const rebuilt = rebuild(input, host.kinds);
  const targets = identitiesAfter(noLedger, stack.targets);
  const head = { ...(await headFromHistory(store)), ...ids, ...(await repositoryMember(stack, host)) };
  const ledger = { ...noLedger, ...head, records: rebuilt.records, targets };
  const recovery = report({ ...rebuilt, ledger }, { state, store, input, run });
  reportIds(tags, ids, run);
  answer(run, { ...recovery, ids: tags }, false);
  refuseSecretNames(resources, host);
  await askToWrite(run);
  return underLock(run, () => write(ledger, run, { ...recovery, ids: tags }));
}

type State =
  | { readonly is: 'intact'; readonly ledger: Ledger }
  | { readonly is: 'lost' }
  | { readonly is: 'damaged'; readonly why: string };

/** @throws LedgerError when the ledger cannot be read, or belongs to another stack: neither is a reason to rebuild it */
async function readState(store: StackStore): Promise<State> {
  try {
    const ledger = await store.read();
    return ledger.known ? { is: 'intact', ledger } : { is: 'lost' };
  } catch (error) {
    if (error instanceof DamagedLedger) return { is: 'damaged', why: error.message };
    throw error;
  }
}

/** The tags belong to several stacks of this name, so none of their ids certainly belongs to this one. */
function severalIds(tags: ReturnType<typeof idsInTags>): CommandStop {
  const all = [...tags].map(([id, texts]) => `${quoted(id)} of ${texts.map(quoted).join(', ')}`);
  return new CommandStop(
    'claimed-by-another-id',
    `nothing was written: the ownership tags have several ids, so several stacks have this name: ${printable(all.join('; '))}. Rename one of them; "trueup recover --adopt-repository" takes all of it over`,
    { exit: exitCodes.conflict },
  );
}

/** The ledger of the former name has more information than a rebuilt one, so it is not replaced. */
function formerLedgerExists({ name, store }: FormerLedger): CommandStop {
  return new CommandStop(
    'former-ledger-waits',
    `nothing was written: ${store.place}, of stack ${quoted(name)}, exists, and the next apply takes it over; if this stack has a damaged ledger of its own, move that away first`,
  );
}

const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

async function readInput({ complete, host, time, ...run }: RecoverRun): Promise<PlanInput> {
  const connected = await connectToRead(run.stack, host, time);
  try {
    const { stack, resources, files, documents, isSelection } = run;
    return await readPlanInput({
      ...{ stack, desired: resources, files, documents, isSelection, manifestsComplete: complete },
      kinds: host.kinds,
      ledger: noLedger,
      connected,
      now: host.now,
    });
  } finally {
    await connected.close();
  }
}

function incompleteRead(missing: readonly string[]): CommandStop {
  const message = `nothing was written: not everything could be read, and the ledger would lack what was not: ${printable(missing.join('; '))}`;
  return new CommandStop('look-incomplete', message);
}

/** What could not be read, each with its target and the reason. */
function unreadParts({ targets, manifestsComplete }: PlanInput): readonly string[] {
  const ofTargets = targets.flatMap(({ target, unread, sets }) => {
    const reasons =
      unread === undefined ? [...sets.values()].flatMap(({ incomplete }) => incomplete) : [unread.message];
    return reasons.map((why) =>
      why.startsWith(`target ${quoted(target.name)}`) ? why : `target ${quoted(target.name)}: ${why}`,
    );
  });
  const ofManifests = manifestsComplete ? [] : ['the manifests are not complete, as was said above'];
  return [...new Set([...ofTargets, ...ofManifests])];
}

interface Rebuilt {
  readonly records: ReadonlyMap<AddressText, LedgerRecord>;
  readonly unrecorded: Recovered['unrecorded'];
}

/** @throws CommandStop when not everything could be read */
function rebuild(input: PlanInput, kinds: Registry): Rebuilt {
  const { planning, recoverable, unrecorded } = recoverRecords(input);
  if (!planning.plan.coverage.complete) throw incompleteRead(unreadParts(input));
  const completed = recoverable.map((text) => [text, completeRecord({ planning, kinds }, text)] as const);
  return { records: new Map(completed.sort(([a], [b]) => (a < b ? -1 : 1))), unrecorded };
}

interface RecoveryReport {
  readonly state: Exclude<State, { is: 'intact' }>;
  readonly store: StackStore;
  readonly input: PlanInput;
  readonly run: RecoverRun;
}

/** Prints the new records and the plan that follows from them, for the user to check. */
function report(
  { records, unrecorded, ledger }: Rebuilt & { readonly ledger: Ledger },
  { state, store, input, run }: RecoveryReport,
): Recovery {
  const { host, terminal } = run;
  const print = (line = '') => say(run, line);
  print(state.is === 'lost' ? `There is nothing at ${store.place}` : printable(state.why));
  print(
    'The manifests as they are now are taken for what was applied last: what was dropped from them before is not',
  );
  print('reset, and what was changed in the service since then looks like a change to make.');
  print(
    ledger.commit === undefined
      ? 'The history names no commit that was applied: the guard "older-commit" cannot fire before the next apply.'
      : `The commit that was applied last is taken from the history: ${printable(ledger.commit.id)}`,
  );
  print();
  print(`${counted(records.size, 'record')} will be written:`);
  for (const [text, record] of records) print(`  ${printable(text)}  ${describeRecord(record)}`);
  if (unrecorded.length > 0) print(`\nNot recorded:`);
  for (const { address, message } of unrecorded) print(`  ${printable(formatAddress(address))}: ${message}`);
  const releases = [...reportReleases(records, run), ...reportKept(unrecorded, input, run)];
  const next = buildPlan({ ...input, ledger: { ...ledger, known: true } }).plan;
  const width = terminal.width === undefined ? {} : { width: terminal.width };
  print('\nWith it, the next plan is this. Check everything that it would do before you apply it:\n');
  print(renderPlan(planWithWholeValues(next, host), { paint: terminal.paint, calls: false, ...width }));
  return { action: 'rebuild', records, notRecorded: unrecorded, releases, next: next.changes };
}

/**
 * Lists resources without a creator mark. The new ledger has them as adopted, so they will be released when they are no
 * longer declared, even if the lost ledger would have had them deleted.
 */
function reportReleases(records: Rebuilt['records'], run: RecoverRun): Address[] {
  const { host } = run;
  const released = [...records].filter(([text, { origin, onRemove }]) => {
    const ownership = host.kinds.get(parseAddress(text).kind)?.ownership;
    const isUnmarked = ownership?.by === 'ledger' && ownership.undeclared === 'delete';
    return isUnmarked && origin === 'adopted' && onRemove === undefined;
  });
  if (released.length === 0) return [];
  const print = (line: string) => say(run, line);
  print(
    '\nNothing proves who created these. Once no longer declared they are released, and their access stays, also where',
  );
  print('the lost ledger would have had them deleted: "onRemove: delete" or a removal request ends it.');
  for (const [text] of released) print(`  ${printable(text)}`);
  return released.map(([text]) => parseAddress(text));
}

/**
 * Lists workspaces of targets with `ownership: ledger`, where only the ledger knew their owner. The next apply records them as adopted,
 * so they will be released when they are no longer declared.
 */
function reportKept(unrecorded: Rebuilt['unrecorded'], { stack }: PlanInput, run: RecoverRun): Address[] {
  const { host } = run;
  const byLedger = new Set(
    stack.targets.flatMap(({ name, ownership }) => (ownership === 'ledger' ? [name] : [])),
  );
  const kept = unrecorded.filter(
    ({ address: { kind, target } }) => byLedger.has(target) && host.kinds.get(kind)?.ownership.by === 'claim',
  );
  if (kept.length === 0) return [];
  const print = (line: string) => say(run, line);
  print(
    '\nThe lost ledger was the only proof that this stack created these. They are no longer deleted when they are no longer',
  );
  print(
    'declared, but released. To have one deleted again, add "onRemove: delete" to its metadata and apply, before its',
  );
  print('manifest goes: what has the mark of another creator is released in any case.');
  for (const { address } of kept) print(`  ${printable(formatAddress(address))}`);
  return kept.map(({ address }) => address);
}

function describeRecord({ origin, fields }: LedgerRecord): string {
  const count = Object.keys(fields).length;
  const how = origin === 'created' ? 'created by this stack' : 'adopted';
  return count === 0 ? how : `${how}, ${counted(count, 'field')}`;
}

async function write(ledger: Ledger, run: RecoverRun, recovery: Recovery): Promise<ExitCode> {
  const { store } = run;
  // Another run may have repaired or written the ledger meanwhile.
  const current = await readState(store);
  if (current.is === 'intact')
    throw new CommandStop(
      'ledger-conflict',
      `nothing was written: ${store.place} was written by another run meanwhile, and is whole`,
    );
  const setAside = current.is === 'damaged' ? await store.setAside() : undefined;
  if (setAside !== undefined) say(run, `The damaged ledger was moved: it is ${setAside}`);
  await store.write(ledger);
  say(run, `The ledger was rebuilt with ${counted(ledger.records.size, 'record')}`);
  answer(run, { ...recovery, ...(setAside === undefined ? {} : { setAside }) }, true);
  return exitCodes.done;
}
