/**
 * The steps that `plan` and `apply` share: manifests, lock, ledger, connections. Stops with an exit code when one fails. If a lock
 * is taken, the ledger is read under it, so that no other run writes in between. The commit of the manifests is read before the
 * lock, because another commit may be checked out while the run waits for the lock.
 */
import { type CommandContext, printDiagnostics, printError, printWarnings } from './terminal.ts';
import { relative } from 'node:path';
import type { ReaderConnection } from '../api/open-target.ts';
import { orderCommits } from '../ledger/git/order-commits.ts';
import type { GitContext } from '../ledger/git/git-command.ts';
import {
  type NoCommit,
  type RepositoryCommit,
  repositoryCommit,
  stackRepository,
  type StackRepository,
  untrackedFiles,
} from '../ledger/git/checkout.ts';
import { findRepository, slashes, standardInput } from '../manifest/files/find-stack.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import type { Manifests } from '../manifest/read-manifests.ts';
import type { CommitOrder } from '../model/checkout.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { PlanOrigin } from '../model/plan.ts';
import type { AppliedRepository, HistoryStore, Ledger, StackStore } from '../model/ledger.ts';
import type { Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import { takeOver } from '../plan/take-over-stack.ts';
import { begunChanges } from './apply-history.ts';
import { fieldsSetFrom, repositoryProblem } from './ledger-head.ts';
import { type Connected, connectToRead } from './connect.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import {
  type FormerLedger,
  type FormerContext,
  isPending,
  type Locking,
  openFormerLedger,
  refuseClosed,
} from './former-ledger.ts';
import { beginRun, listenForEnd, type RunTime, type StopSignals } from './stop-signals.ts';
import type { HeldLock } from './lock.ts';
import type { RunOver } from './ledger-waits.ts';
import { type LoadedManifests, type LoadOptions, loadManifests } from './load-manifests.ts';
import { storedSecrets } from './ledger-redaction.ts';
import { learnSources, refuseSecretNames } from './needed-secrets.ts';
import type { PlanRequest } from './make-plan.ts';
import { openLedger } from './open-ledger.ts';
import { planOrigin } from './origin.ts';
import type { CliHost } from './host.ts';

export interface PreparedRun<C extends ReaderConnection> {
  readonly request: PlanRequest;
  readonly manifests: LoadedManifests;
  readonly connected: Connected<C>;
  readonly ledger: Ledger;
  /** the commit of the manifests */
  readonly from: RepositoryCommit | NoCommit;
  /** of the plans of this run */
  readonly origin: PlanOrigin;
  /** where the manifests are; undefined outside of a repository */
  readonly repository: AppliedRepository | undefined;
  readonly store: StackStore;
  /** the ledger of a renamed stack's former name; its records are in `ledger` already */
  readonly former?: FormerLedger | undefined;
  readonly time: RunTime;
  /** the lock, when one was taken */
  readonly held: HeldLock | undefined;
  /** Ends the connections, releases the lock, closes the store. @returns false when this run had lost a lock */
  close(): Promise<boolean>;
}

interface Preparation<C extends ReaderConnection> extends LoadOptions {
  connect(stack: Stack, host: CliHost, time: RunTime): Promise<Connected<C>>;
  /** the signals that end the run early */
  readonly stops: RunOver & Pick<StopSignals, 'endWith' | 'leave'>;
  /** for runs that write */
  readonly lock?: Locking | undefined;
}

/** Prepares a run that reads and does no more, carries it out, and ends it early at a signal. */
export async function runToRead(
  path: string | undefined,
  context: CommandContext,
  limits: LoadOptions,
  act: (prepared: PreparedRun<ReaderConnection>, stop: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const stops = listenForEnd(context.host);
  try {
    const prepared = await prepareRun(path, context, {
      ...limits,
      stops,
      connect: (stack, host, time) => connectToRead(stack, host, { ...time, signal: time.over }),
    });
    return typeof prepared === 'number' ? prepared : await act(prepared, stops.stop);
  } finally {
    stops.dispose();
  }
}

/** @returns an exit code when the manifests are invalid or the stack is locked, with the reason printed */
export async function prepareRun<C extends ReaderConnection>(
  path: string | undefined,
  { host, terminal }: CommandContext,
  { connect, stops, lock, ...options }: Preparation<C>,
): Promise<PreparedRun<C> | ExitCode> {
  const now = host.now();
  const manifests = await loadManifests(path, host, { ...options, over: stops.over });
  const { stack, diagnostics, began } = manifests;
  if (stack === undefined || hasErrors(diagnostics)) {
    printDiagnostics(terminal, diagnostics);
    return exitCodeOf(diagnostics);
  }
  printWarnings(terminal, diagnostics);
  const time = beginRun({ stack, began }, stops, host);
  await learnSources(stack, manifests.resources, host, { files: 'of the stack' });
  const store = await openLedger(stack, host, time);
  const opened: Opened<C> = { store, time, closing: new AbortController() };
  const close = () => closeAll(opened);
  try {
    const [from, untracked, place] = await askGit(manifests, stack, { env: host.env, signal: time.over });
    const at = { directory: stack.directory, env: host.env, signal: time.over };
    const origin = await planOrigin({ began: now, from, at });
    const held = await lockUnlessClosed(store, { stack, terminal, time, lock });
    if (typeof held === 'number') {
      await close();
      return held;
    }
    opened.held = held;
    const evidence = await readEvidence(opened, manifests, { stack, host, terminal, time, lock });
    if (typeof evidence === 'number') {
      await close();
      return evidence;
    }
    const { ledger } = evidence;
    printWarnings(terminal, storedSecrets(ledger, store, stack, host.secrets));
    opened.commitOrder = orderOf(ledger, from, store, {
      stack,
      piped: path === standardInput,
      untracked,
      host,
      signal: AbortSignal.any([opened.closing.signal, time.over]),
    });
    const connected = await connect(stack, host, time);
    opened.connected = connected;
    const named = refuseSecretNames(manifests.resources, { host, terminal });
    if (named !== undefined) {
      await close();
      return named;
    }
    const request = {
      stack,
      kinds: host.kinds,
      resources: manifests.resources,
      files: manifests.files,
      documents: manifests.documents,
      manifestsComplete: manifests.complete,
      missingFiles: manifests.missing,
      ...evidence,
      repositoryProblem: await repositoryProblem(ledger.repository, place),
      isSelection: manifests.isSelection,
      connected,
      secretsIn: (text: string) => host.secrets.sourcesIn(text),
      now: host.now,
      commitOrder: opened.commitOrder,
    };
    const repository = place?.applied;
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
      held,
      former: opened.former,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Checks that the ledger is not closed before it takes the lock, so that no run waits for a ledger that it may not write. @throws LedgerError */
async function lockUnlessClosed(
  store: StackStore,
  { stack, terminal, time, lock }: Omit<FormerContext, 'host'> & { readonly stack: Stack },
): Promise<HeldLock | ExitCode | undefined> {
  if (lock === undefined) return undefined;
  return refuseClosed(await store.read(), stack, terminal) ?? lock.take(stack, store, time);
}

type Evidence = Pick<PlanRequest, 'ledger' | 'former' | 'begunCreations' | 'begunChanges' | 'stackIds'>;

/** Reads the ledger, that of the former name, and creations in doubt. @returns an exit code when no plan is possible. @throws LedgerError */
async function readEvidence<C extends ReaderConnection>(
  opened: Opened<C>,
  { resources, isSelection }: Pick<Manifests, 'resources' | 'isSelection'>,
  { stack, ...context }: FormerContext & { readonly stack: Stack },
): Promise<Evidence | ExitCode> {
  const own = await opened.store.read();
  const former = refuseClosed(own, stack, context.terminal) ?? (await openFormerLedger(stack, context));
  if (typeof former === 'number') return former;
  opened.former = former;
  if (former !== undefined && isSelection && isPending(former)) {
    printError(
      context.terminal,
      'whole-stack-needed',
      `stack ${quoted(stack.name)} goes on for ${quoted(former.name)}, whose ledger has yet to come along: plan and apply the whole stack before a selection of it`,
    );
    return exitCodes.error;
  }
  const taken = former === undefined ? { ledger: own } : takeOver(own, former.ledger, stack);
  const { kinds } = context.host;
  const { ledger } = taken;
  const begun = await begunChanges(opened.store, { stack, kinds, resources, ledger });
  // Only a run that holds the lock makes an id, so that two first applies do not make two.
  const stackId =
    ledger.stackId ?? (context.lock === undefined ? undefined : context.host.newId().slice(0, 8));
  return {
    ...taken,
    begunCreations: begun.creations,
    begunChanges: begun.changes,
    stackIds: { own: stackId, taken: ledger.takenIds },
  };
}

/** The commit that is checked out, and the manifests that git does not track. */
async function askGit(
  { paths }: Manifests,
  { directory, file }: Stack,
  about: Pick<GitContext, 'env' | 'signal'>,
): Promise<[RepositoryCommit | NoCommit, readonly string[], StackRepository | undefined]> {
  // Without a repository, git need not be started.
  const { root, isGit } = await findRepository(directory);
  if (!isGit) return [noRepository, [], undefined];
  const at = { directory, ...about };
  const files = paths.map((path) => slashes(relative(directory, path)));
  return Promise.all([repositoryCommit(at), untrackedFiles(at, files), stackRepository(at, root, file)]);
}

const noRepository: NoCommit = { why: 'not a git repository (or any of the parent directories)' };

interface CommitOrderInput {
  readonly stack: Stack;
  readonly piped: boolean;
  readonly untracked: readonly string[];
  readonly host: Pick<CliHost, 'env' | 'secrets'>;
  readonly signal: AbortSignal;
}

/** Never rejects. Undefined when the ledger has no applied commit to compare with. */
async function orderOf(
  { commit }: Ledger,
  ours: RepositoryCommit | NoCommit,
  history: Pick<HistoryStore, 'readEntries'>,
  { stack, piped, untracked, host, signal }: CommitOrderInput,
): Promise<CommitOrder | undefined> {
  if (commit === undefined) return undefined;
  const { env, secrets } = host;
  const at = { directory: stack.directory, env, secrets, signal };
  // It is unknown which files an untracked manifest was made from, so it is treated like a piped one.
  const files = matchStackFiles(stack, piped || untracked.length > 0);
  const order = await orderCommits({ at, applied: commit.id, ours, files, untracked });
  return order.is === 'unknown' && order.nowhere === true
    ? { ...order, set: await fieldsSetFrom(commit.id, history) }
    : order;
}

interface Opened<C extends ReaderConnection> {
  readonly store: StackStore;
  readonly time: RunTime;
  readonly closing: AbortController;
  commitOrder?: Promise<CommitOrder | undefined>;
  held?: HeldLock | undefined;
  former?: FormerLedger | undefined;
  connected?: Connected<C>;
}

async function closeAll<C extends ReaderConnection>(opened: Opened<C>): Promise<boolean> {
  const { store, time, closing, commitOrder, held, former, connected } = opened;
  try {
    closing.abort();
    await commitOrder;
    // The lock goes back before anything that a service could hold up.
    const formers = (await former?.close()) ?? true;
    const ours = (await held?.release()) ?? true;
    return formers && ours;
  } finally {
    try {
      await connected?.close();
    } finally {
      time.deadline.clear();
      await store.close();
    }
  }
}
