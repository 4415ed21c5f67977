/**
 * The steps that `plan` and `apply` share: manifests, lock, ledger, connections. If a lock is taken, the ledger is read under it, so that
 * no other run writes in between. The commit of the manifests is read before the lock, because another commit may be checked out while
 * the run waits for the lock.
 */
import type { ReaderConnection } from '../api/open-target.ts';
import type { NoCommit, RepositoryCommit } from '../ledger/git/checkout.ts';
import { standardInput } from '../manifest/files/find-stack.ts';
import type { Manifests } from '../manifest/read-manifests.ts';
import { formatAddress } from '../model/address.ts';
import type { CommitOrder } from '../model/checkout.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AppliedRepository, Ledger, RunIdentity, StackStore } from '../model/ledger.ts';
import type { ChosenPart } from '../model/part.ts';
import type { PlanOrigin } from '../model/plan.ts';
import type { Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import { withPresentNames } from '../plan/moved-targets.ts';
import { withBegunOf } from '../plan/restrict-to-part.ts';
import { takeOver } from '../plan/take-over-stack.ts';
import { begunChanges } from './open-entries.ts';
import { removedByParts } from './past-applies.ts';
import { repositoryProblem } from './ledger-head.ts';
import { type Connected, connectToRead } from './connect.ts';
import { refuseElsewhere } from './find-ledger.ts';
import { CommandStop } from './command-stop.ts';
import type { ExitCode } from './exit-codes.ts';
import {
  type FormerContext,
  type FormerLedger,
  isPending,
  openFormerLedger,
  openLedger,
  refuseClosed,
} from './open-ledger.ts';
import { beginRun, listenForEnd, type RunSignals, type RunTime, type StopSignals } from './stop-signals.ts';
import { type HeldLock, isGone, isOver, type Locking } from './lock.ts';
import { type LoadedManifests, type LoadOptions, loadStack } from './load-manifests.ts';
import { storedSecrets } from './ledger-redaction.ts';
import { type CommandContext, printWarnings } from './terminal.ts';
import { learnSources, refuseSecretNames, refuseSecretSelectors } from './needed-secrets.ts';
import type { PlanRequest } from './make-plan.ts';
import { askGit, identifyRun, ordersOf, planOrigin } from './origin.ts';
import type { CliHost } from './host.ts';
import type { ResolvedMoves } from '../plan/stack-moves.ts';
import { policyCheckOf } from './policies.ts';
import { begunFieldsOfMoved, type MoveSources, openMoves, resolveSources } from './stack-moves.ts';

export interface PreparedRun<C extends ReaderConnection> {
  readonly request: PlanRequest;
  readonly manifests: LoadedManifests;
  readonly connected: Connected<C>;
  readonly ledger: Ledger;
  /** the commit of the manifests */
  readonly from: RepositoryCommit | NoCommit;
  /** the origin of the plans of this run */
  readonly origin: PlanOrigin;
  /** where the manifests are; undefined outside of a repository */
  readonly repository: AppliedRepository | undefined;
  readonly store: StackStore;
  /** the ledger of a renamed stack's former name; its records are in `ledger` already */
  readonly former?: FormerLedger | undefined;
  /** the resources that are taken over from other stacks before anything is sent; undefined if that changes no ledger */
  readonly taking: Taking | undefined;
  readonly time: RunTime;
  /** the lock, when one was taken */
  readonly held: HeldLock | undefined;
  /** Ends the connections, releases the lock, closes the store. @returns false when this run had lost a lock */
  close(): Promise<boolean>;
}

interface Preparation<C extends ReaderConnection> extends LoadOptions {
  connect(stack: Stack, host: CliHost, time: RunTime): Promise<Connected<C>>;
  /** the signals that end the run early */
  readonly stops: RunSignals & Pick<StopSignals, 'endWith' | 'abandonWaits'>;
  /** takes and frees locks; absent in runs that do not write */
  readonly lock?: Locking | undefined;
  /** chooses the part; absent for a run on the whole stack */
  readonly choosePart?: ChoosePart | undefined;
  /** the digest of the plan that was approved for the run */
  readonly approved?: string | undefined;
  /** Decides the settings of the run, in place of those of the stack file. Called under the lock. */
  decideSettings?(stack: Stack, about: StackSettingsInput): Promise<StricterStack>;
}

/** Chooses the part of the stack that the run is about. @throws CommandStop */
export type ChoosePart = (input: PartInput) => Promise<ChosenPart>;

export interface PartInput extends Pick<LoadedManifests, 'resources' | 'isSelection'> {
  readonly stack: Stack;
  readonly host: CliHost;
  /** aborted when the run ends */
  readonly signal: AbortSignal;
}

export type StackSettingsInput = Pick<
  PreparedRun<ReaderConnection>,
  'ledger' | 'from' | 'manifests' | 'repository' | 'time'
>;

/** A stack with the stricter of its settings and earlier ones, and the settings that are looser in its file. */
export type StricterStack = Required<Pick<PlanRequest, 'stack' | 'loosened'>>;

/** Prepares a run that only reads, carries it out, and ends it early at a signal. */
export async function runToRead(
  path: string | undefined,
  context: CommandContext,
  limits: LoadOptions & Pick<Preparation<ReaderConnection>, 'decideSettings' | 'choosePart'>,
  act: (prepared: PreparedRun<ReaderConnection>, stop: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const stops = listenForEnd(context.host);
  try {
    const prepared = await prepareRun(path, context, { ...limits, stops, connect: connectToRead });
    try {
      return await act(prepared, stops.stopStarting);
    } finally {
      await prepared.close();
    }
  } finally {
    stops.dispose();
  }
}

/** @throws CommandStop when the manifests are invalid or the stack is locked */
export async function prepareRun<C extends ReaderConnection>(
  path: string | undefined,
  { host, terminal }: CommandContext,
  { connect, stops, lock, decideSettings, choosePart, approved, ...options }: Preparation<C>,
): Promise<PreparedRun<C>> {
  const now = host.now();
  const manifests = await loadStack(path, host, { ...options, runEnded: stops.runEnded });
  const { stack, diagnostics, began } = manifests;
  const time = beginRun({ stack, began }, stops, host);
  await learnSources(stack, manifests.resources, host, { files: 'of the stack' });
  printWarnings(terminal, diagnostics);
  const part = await choosePart?.({ ...manifests, host, signal: time.runEnded });
  const store = await openLedger(stack, host, time);
  const opened: Opened<C> = { store, time, closing: new AbortController() };
  const close = () => closeAll(opened);
  try {
    const { env, secrets } = host;
    const at = { directory: stack.directory, env, secrets, signal: time.runEnded };
    const declared = { ...manifests, isPiped: path === standardInput };
    const [from, untracked, place] = await askGit(declared, stack, at);
    const origin = await planOrigin({ began: now, from, at });
    // Checked before the lock is taken, so that no run waits for a ledger that it may not write.
    const seen = await store.read();
    refuseClosed(seen, stack);
    await refuseElsewhere(seen, { stack, host, time });
    const about = withinPart(manifests, part);
    const moves = await openMoves({ stack, store, ...about, own: seen }, { host, time, lock });
    opened.moves = moves.sources;
    opened.held = moves.held;
    // Under the lock it is read again, because another run may have written it meanwhile.
    const own = opened.held === undefined ? seen : await store.read();
    refuseClosed(own, stack);
    const context = { stack, host, time, lock };
    const { taking, warnings, ...evidence } = await readEvidence(own, opened, about, context);
    const { ledger } = evidence;
    printWarnings(terminal, [...warnings, ...storedSecrets(ledger, store, stack, host.secrets)]);
    const signal = AbortSignal.any([opened.closing.signal, time.runEnded]);
    opened.commitOrders = ordersOf(ledger, from, store, { stack, declared, untracked, host, signal });
    // The plan awaits it; until then, a rejection must not end the process.
    opened.commitOrders.catch(() => {});
    const repository = place?.applied;
    const decided = await decideSettings?.(stack, { ledger, from, manifests, repository, time });
    const decidedStack = decided?.stack ?? stack;
    const connected = await connect(withNeededTargets(decidedStack, part), host, time);
    opened.connected = connected;
    refuseSecretNames(manifests.resources, host);
    refuseSecretSelectors(part?.selectors ?? [], host);
    const request = {
      stack,
      loosened: manifests.loosened,
      ...decided,
      kinds: host.kinds,
      ...declaredIn(manifests),
      ...evidence,
      repositoryProblem: await repositoryProblem(ledger.repository, place),
      part: part && withBegunOf(part, ledger, approved),
      removedByParts: () => removedByParts(store, { stack, now: host.now() }),
      connected,
      secretsIn: (text: string) => host.secrets.sourcesIn(text),
      now: host.now,
      commitOrders: opened.commitOrders,
      checkPolicies: policyCheckOf(decidedStack, { host, at, manifests, origin, ledger, connected }),
    };
    return {
      request,
      manifests,
      connected,
      ledger,
      from,
      origin,
      repository,
      store,
      time,
      held: opened.held,
      former: opened.former,
      taking,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function declaredIn({ resources, files, documents, complete, missing, isSelection }: LoadedManifests) {
  return {
    desired: resources,
    ...{ files, documents, isSelection },
    manifestsComplete: complete,
    missingFiles: missing,
  };
}

/** The resources that may be taken over from other stacks: only those in the part. */
function withinPart(
  { resources, isSelection }: Pick<Manifests, 'resources' | 'isSelection'>,
  part: ChosenPart | undefined,
): Pick<Manifests, 'resources' | 'isSelection'> {
  if (part === undefined) return { resources, isSelection };
  const selected = resources.filter(({ address }) => part.selected.has(formatAddress(address)));
  return { resources: selected, isSelection: true };
}

/** The stack with those of its targets that the run needs. */
function withNeededTargets(stack: Stack, part: ChosenPart | undefined): Stack {
  if (part === undefined) return stack;
  return { ...stack, targets: stack.targets.filter(({ name }) => part.targets.has(name)) };
}

interface Evidence extends Pick<PlanRequest, 'ledger' | 'former' | 'moves' | 'stackIds' | BegunMember> {
  readonly taking: Taking | undefined;
  readonly warnings: readonly Diagnostic[];
}

type BegunMember = 'begunCreations' | 'runningCreations' | 'begunChanges' | 'begunFields';

/** What an apply needs to take over resources from other stacks. */
interface Taking extends Pick<ResolvedMoves, 'pending'> {
  /** the ledger of this stack, without what the other stacks have not given to it yet */
  readonly own: Ledger;
  readonly sources: MoveSources;
}

/**
 * What shows which resources are this stack's: its ledger, that of its former name, records that it takes over, and changes that an apply
 * began and did not end. @throws CommandStop when no plan is possible, LedgerError
 */
async function readEvidence<C extends ReaderConnection>(
  own: Ledger,
  opened: Opened<C>,
  { resources, isSelection }: Pick<Manifests, 'resources' | 'isSelection'>,
  { stack, ...context }: FormerContext & { readonly stack: Stack },
): Promise<Evidence> {
  const former = await openFormerLedger(stack, context);
  opened.former = former;
  const waiting = former !== undefined && isPending(former) ? former : undefined;
  if (waiting !== undefined && isSelection)
    throw new CommandStop(
      'whole-stack-needed',
      `stack ${quoted(stack.name)} continues ${quoted(waiting.name)}, whose ledger is not imported yet: plan and apply the whole stack before a selection of it`,
    );
  const found = former === undefined ? { ledger: own } : takeOver(own, former.ledger, stack);
  const taken = { ...found, ledger: withPresentNames(found.ledger, stack.targets) };
  const { kinds } = context.host;
  const { moves: sources = noSources } = opened;
  if (waiting !== undefined && sources.all.length + (waiting.ledger.incoming ?? []).length > 0)
    throw new CommandStop(
      'former-ledger-waits',
      `stack ${quoted(stack.name)} continues ${quoted(waiting.name)}, whose ledger is not imported yet: finish what it was taking over under that name, and apply this one without "metadata.movedFrom" first`,
    );
  const moves = resolveSources(sources, {
    ...{ own: taken.ledger, stack, kinds, resources, isSelection },
    stackId: taken.ledger.stackId,
  });
  const { ledger } = moves;
  // A former ledger keeps its history until it is imported.
  const question = { stack, kinds, resources, ledger, movedAway: taken.ledger.movedAway };
  const begun = await begunChanges((waiting ?? opened).store, question);
  const moved = await begunFieldsOfMoved(sources, [...(taken.ledger.incoming ?? []), ...moves.pending]);
  const isTaking = moves.pending.length > 0 || taken.ledger.incoming !== undefined;
  const running = await runningApply(begun.unended.size > 0, opened, context.host);
  // Only a run that holds the lock creates an id, so that two first applies do not create two.
  const stackId =
    ledger.stackId ?? (context.lock === undefined ? undefined : context.host.newId().slice(0, 8));
  return {
    ...taken,
    ledger,
    moves,
    taking: isTaking ? { own: moves.received, pending: moves.pending, sources } : undefined,
    warnings: begun.warnings,
    begunCreations: begun.creations,
    runningCreations: new Set(
      [...begun.unended].flatMap(([address, { id }]) => (id === running?.id ? [address] : [])),
    ),
    ...{ begunChanges: begun.changes, begunFields: [...begun.fields, ...moved] },
    stackIds: { own: stackId, taken: ledger.takenIds },
  };
}

/** The run of another apply that holds the lock and may still be running, if it is asked for. @throws LedgerError */
async function runningApply(
  isAsked: boolean,
  { store, held }: Pick<Opened<ReaderConnection>, 'store' | 'held'>,
  host: CliHost,
): Promise<RunIdentity | undefined> {
  if (!isAsked || held !== undefined) return undefined;
  const lock = await store.readLock();
  const [own, machine] = [identifyRun(host), host.machine()];
  return lock === undefined || isGone(lock.run, own, machine) || isOver(lock, own, machine)
    ? undefined
    : lock.run;
}

const noSources: MoveSources = { all: [], close: async () => true };

interface Opened<C extends ReaderConnection> {
  readonly store: StackStore;
  readonly time: RunTime;
  readonly closing: AbortController;
  commitOrders?: Promise<readonly CommitOrder[]>;
  held?: HeldLock | undefined;
  former?: FormerLedger | undefined;
  moves?: MoveSources;
  connected?: Connected<C>;
}

async function closeAll<C extends ReaderConnection>(opened: Opened<C>): Promise<boolean> {
  const { store, time, closing, commitOrders, held, former, moves, connected } = opened;
  try {
    closing.abort();
    // The abort ended the comparison of commits. Its error must not hide why the run stops.
    await commitOrders?.catch(() => {});
    // The locks are released before anything that a service could delay.
    const formers = (await former?.close()) ?? true;
    const others = (await moves?.close()) ?? true;
    const ours = (await held?.release()) ?? true;
    return formers && others && ours;
  } finally {
    try {
      await connected?.close();
    } finally {
      time.deadline.clear();
      await store.close();
    }
  }
}
