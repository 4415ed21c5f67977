/**
 * `trueup recover [path]`: rebuilds a lost or damaged ledger from the targets and the manifests (rule 25). Reads the targets and
 * writes only the ledger, after the user has seen its records and the plan that follows from them, and has agreed.
 */
import { type CommandContext, printDiagnostics, printError, printWarnings } from '../../run/terminal.ts';
import { completeRecord } from '../../apply/ledger-records.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/address.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Registry } from '../../model/kind.ts';
import { DamagedLedger, type Ledger, type LedgerRecord, type StackStore } from '../../model/ledger.ts';
import { buildPlan, type PlanInput } from '../../plan/build-plan.ts';
import { identitiesAfter } from '../../plan/moved-targets.ts';
import { type Recovered, recoverRecords } from '../../plan/recover-records.ts';
import { renderPlan } from '../../report/text/plan.ts';
import { printable } from '../../report/view/printable.ts';
import { connectToRead } from '../../run/connect.ts';
import { reportNotWritten } from '../../run/consent.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../run/exit-codes.ts';
import { type FormerLedger, isPending, openFormerLedger } from '../../run/former-ledger.ts';
import { beginRun, listenForSignals, raceStop, type RunTime } from '../../run/stop-signals.ts';
import { holdLock, endAfter } from '../../run/lock.ts';
import { headFromHistory } from '../../run/apply-history.ts';
import { identifyRun } from '../../run/origin.ts';
import { loadManifests } from '../../run/load-manifests.ts';
import { refuseSecretNames } from '../../run/needed-secrets.ts';
import { type PlanRequest, readPlanInput } from '../../run/make-plan.ts';
import { openLedger } from '../../run/open-ledger.ts';
import { adoptRepository, idMembers, idsInTags, repositoryMember } from './adopt-repository.ts';

interface RecoverOptions {
  readonly yes?: boolean;
  /** this repository continues another one */
  readonly adoptRepository?: boolean;
  /** seconds that the run may take */
  readonly timeout?: number;
}

export async function recover(
  path: string | undefined,
  options: RecoverOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const loaded = await loadManifests(path, host, options);
  const { stack, diagnostics, resources, isSelection, ...read } = loaded;
  if (stack === undefined || hasErrors(diagnostics)) {
    printDiagnostics(terminal, diagnostics);
    return exitCodeOf(diagnostics);
  }
  if (isSelection) {
    printError(
      terminal,
      'whole-stack-needed',
      'nothing was written: a ledger is rebuilt from the whole stack, and standard input brings a selection of it: recover without "-"',
    );
    return exitCodes.error;
  }
  printWarnings(terminal, diagnostics);
  const stops = listenForSignals(host);
  const { stop } = stops;
  const time = beginRun({ stack, began: loaded.began }, stops, host);
  const store = await openLedger(stack, host, time);
  try {
    const state = await readState(store);
    const { adoptRepository: adopts = false } = options;
    if (state.is === 'whole' && !adopts) return reportWhole(state.ledger, store, context);
    const former = await openFormerLedger(stack, { ...context, time });
    if (typeof former === 'number') return former;
    await former?.close();
    if (former !== undefined && isPending(former)) return refuseFormer(former, context);
    const { files, documents, complete } = read;
    const about = { stack, resources, files, documents, manifestsComplete: complete, isSelection };
    const found = await raceStop(readInput(about, context, time), stop);
    if (found === 'stopped') return reportNotWritten(terminal, stop);
    const ask = async () =>
      refuseSecretNames(resources, context) ?? (await askToWrite(options, context, stop));
    if (state.is === 'whole')
      return await adoptRepository(
        { input: found, ledger: state.ledger, store, path, stop, time, ask },
        context,
      );
    const tags = idsInTags(found);
    if (tags.size > 1 && !adopts) return reportSeveralIds(tags, context);
    const ids = idMembers([...tags.keys()]);
    const input = { ...found, stackIds: { own: ids.stackId, taken: ids.takenIds } };
    const rebuilt = rebuild(input, host.kinds);
    if (rebuilt === undefined) {
      printError(
        terminal,
        'look-incomplete',
        `nothing was written: not everything could be read, and what was not seen would be forgotten: ${printable(gapsIn(input).join('; '))}`,
      );
      return exitCodes.error;
    }
    const targets = identitiesAfter(noLedger, stack.targets);
    const head = { ...(await headFromHistory(store)), ...ids, ...(await repositoryMember(stack, host)) };
    const ledger = { ...noLedger, ...head, records: rebuilt.records, targets };
    report({ ...rebuilt, ledger }, { state, store, input, context });
    const refusal = await ask();
    if (refusal !== undefined) return refusal;
    return await write(ledger, { store, stack: stack.name, path, stop, time }, context);
  } finally {
    await store.close();
    time.deadline.clear();
    stops.dispose();
  }
}

type State =
  | { readonly is: 'whole'; readonly ledger: Ledger }
  | { readonly is: 'lost' }
  | { readonly is: 'damaged'; readonly why: string };

/** @throws LedgerError when the ledger cannot be read, or belongs to another stack: neither is a reason to rebuild it */
async function readState(store: StackStore): Promise<State> {
  try {
    const ledger = await store.read();
    return ledger.known ? { is: 'whole', ledger } : { is: 'lost' };
  } catch (error) {
    if (error instanceof DamagedLedger) return { is: 'damaged', why: error.message };
    throw error;
  }
}

function reportWhole({ records }: Ledger, { place: where }: StackStore, { host }: CommandContext): ExitCode {
  host.stdout.write(
    `${where} is there and whole, with ${counted(records.size, 'record')}: there is nothing to recover\n`,
  );
  return exitCodes.done;
}

/** The tags belong to several stacks of this name, so none of their ids is certainly this one's. */
function reportSeveralIds(tags: ReturnType<typeof idsInTags>, { terminal }: CommandContext): ExitCode {
  const all = [...tags].map(([id, texts]) => `${quoted(id)} of ${texts.map(quoted).join(', ')}`);
  printError(
    terminal,
    'claimed-by-another-id',
    `nothing was written: the ownership tags have several ids, so several stacks have this name: ${printable(all.join('; '))}. Rename one of them; "trueup recover --adopt-repository" takes all of it over`,
  );
  return exitCodes.conflict;
}

/** The ledger of the former name has more information than a rebuilt one, so it is not replaced (rule 44). */
function refuseFormer({ name, store }: FormerLedger, { terminal }: CommandContext): ExitCode {
  printError(
    terminal,
    'former-ledger-waits',
    `nothing was written: ${store.place}, of stack ${quoted(name)}, is there and comes along with the next apply; a damaged one of this stack is moved away by hand first`,
  );
  return exitCodes.error;
}

const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

async function readInput(
  about: Omit<PlanRequest, 'kinds' | 'ledger' | 'connected' | 'now'>,
  { host }: CommandContext,
  time: RunTime,
): Promise<PlanInput> {
  const connected = await connectToRead(about.stack, host, { ...time, signal: time.over });
  try {
    return await readPlanInput({
      ...about,
      kinds: host.kinds,
      ledger: noLedger,
      connected,
      now: host.now,
    });
  } finally {
    await connected.close();
  }
}

/** What an incomplete look missed: the target and the reason. */
function gapsIn({ targets, manifestsComplete }: PlanInput): readonly string[] {
  const ofTargets = targets.flatMap(({ target, unread, sets }) => {
    const whys =
      unread === undefined ? [...sets.values()].flatMap(({ incomplete }) => incomplete) : [unread.message];
    return whys.map((why) =>
      why.startsWith(`target ${quoted(target.name)}`) ? why : `target ${quoted(target.name)}: ${why}`,
    );
  });
  const ofManifests = manifestsComplete ? [] : ['the manifests are not complete, as was said above'];
  return [...new Set([...ofTargets, ...ofManifests])];
}

interface Rebuilt {
  readonly records: ReadonlyMap<AddressText, LedgerRecord>;
  readonly unproven: Recovered['unproven'];
}

/** Undefined after an incomplete look. */
function rebuild(input: PlanInput, kinds: Registry): Rebuilt | undefined {
  const { planning, declared, created, unproven } = recoverRecords(input);
  if (!planning.plan.coverage.complete) return undefined;
  const completed = declared.map((text) => [text, completeRecord({ planning, kinds }, text)] as const);
  return { records: new Map([...completed, ...created].sort(([a], [b]) => (a < b ? -1 : 1))), unproven };
}

interface RecoveryReport {
  readonly state: Exclude<State, { is: 'whole' }>;
  readonly store: StackStore;
  readonly input: PlanInput;
  readonly context: CommandContext;
}

/** Prints the new records and the plan that follows from them, which the user has to judge. */
function report(
  { records, unproven, ledger }: Rebuilt & { readonly ledger: Ledger },
  { state, store, input, context }: RecoveryReport,
): void {
  const { host, terminal } = context;
  const print = (line = '') => host.stdout.write(`${line}\n`);
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
  if (unproven.length > 0) print(`\nNot recorded:`);
  for (const { address, message } of unproven) print(`  ${printable(formatAddress(address))}: ${message}`);
  reportReleases(records, { host, terminal });
  reportKept(unproven, { input, host });
  const next = buildPlan({ ...input, ledger: { ...ledger, known: true } }).plan;
  const width = terminal.width === undefined ? {} : { width: terminal.width };
  print(
    '\nWith it, the next plan is this. Whatever it would do is for you to decide before it is applied:\n',
  );
  print(renderPlan(next, { paint: terminal.paint, calls: false, ...width }));
}

/**
 * Lists resources without a mark of their creator. The new ledger has them as adopted, so they will be released when they are no
 * longer declared, even if the lost ledger would have had them deleted (rule 24).
 */
function reportReleases(records: Rebuilt['records'], { host }: CommandContext): void {
  const released = [...records].filter(([text, { origin, onRemove }]) => {
    const ownership = host.kinds.get(parseAddress(text).kind)?.ownership;
    const isUnmarked = ownership?.by === 'ledger' && ownership.undeclared === 'delete';
    return isUnmarked && origin === 'adopted' && onRemove === undefined;
  });
  if (released.length === 0) return;
  const print = (line: string) => host.stdout.write(`${line}\n`);
  print(
    '\nNothing proves who created these. Once no longer declared they are released, and their access stays, also where',
  );
  print('the lost ledger would have had them deleted: "onRemove: delete" or a tombstone ends it.');
  for (const [text] of released) print(`  ${printable(text)}`);
}

/**
 * Lists workspaces of targets in which the ledger alone says whose they are. The next apply records them as adopted, so they will be released
 * when they are no longer declared (rule 48).
 */
function reportKept(
  unproven: Rebuilt['unproven'],
  { input: { stack }, host }: Pick<RecoveryReport, 'input'> & Pick<CommandContext, 'host'>,
): void {
  const byLedger = new Set(
    stack.targets.flatMap(({ name, ownership }) => (ownership === 'ledger' ? [name] : [])),
  );
  const kept = unproven.filter(
    ({ address: { kind, target } }) => byLedger.has(target) && host.kinds.get(kind)?.ownership.by === 'claim',
  );
  if (kept.length === 0) return;
  const print = (line: string) => host.stdout.write(`${line}\n`);
  print(
    '\nThe lost ledger was the only proof that this stack created these. They are no longer deleted when they are no longer',
  );
  print(
    'declared, but released. To have one deleted again, add "onRemove: delete" to its metadata and apply, before its',
  );
  print('manifest goes: what bears the mark of another creator is released in any case.');
  for (const { address } of kept) print(`  ${printable(formatAddress(address))}`);
}

function describeRecord({ origin, fields }: LedgerRecord): string {
  const count = Object.keys(fields).length;
  const how = origin === 'created' ? 'created by this stack' : 'adopted';
  return count === 0 ? how : `${how}, ${counted(count, 'field')}`;
}

/** Asks whether the ledger may be written, unless `--yes` was given. @returns an exit code when it may not */
export async function askToWrite(
  { yes }: RecoverOptions,
  { host, terminal }: CommandContext,
  stop: AbortSignal,
): Promise<ExitCode | undefined> {
  if (yes) return undefined;
  if (!host.interactive) {
    printError(
      terminal,
      'nobody-to-ask',
      'nothing was written: recover asks before it writes; where nobody can answer, pass --yes',
    );
    return exitCodes.error;
  }
  return (await host.confirm('Write this ledger?', stop)) ? undefined : reportNotWritten(terminal, stop);
}

interface RecoveryWriting {
  readonly store: StackStore;
  readonly stack: string;
  readonly path: string | undefined;
  readonly stop: AbortSignal;
  readonly time: RunTime;
}

async function write(
  ledger: Ledger,
  { store, stack, path, stop, time: { deadline } }: RecoveryWriting,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const run = identifyRun(host);
  const held = await holdLock({ store, stack, run, timeout: 0, path, stop, deadline }, terminal);
  if (typeof held === 'number') return held;
  const writing = async () => {
    // Another run may have repaired or written the ledger meanwhile.
    const now = await readState(store);
    if (now.is === 'whole') {
      printError(
        terminal,
        'ledger-conflict',
        `nothing was written: ${store.place} was written by another run meanwhile, and is whole`,
      );
      return exitCodes.error;
    }
    if (now.is === 'damaged')
      host.stdout.write(`The damaged ledger was moved: it is ${await store.setAside()}\n`);
    await store.write(ledger);
    host.stdout.write(`The ledger was rebuilt with ${counted(ledger.records.size, 'record')}\n`);
    return exitCodes.done;
  };
  return endAfter(writing, held.release);
}
