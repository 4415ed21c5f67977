/** The checks of the ledger and its lock. Takes no lock and writes nothing. */
import { stackRepository } from '../../ledger/git/checkout.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { formatDuration } from '../../model/duration.ts';
import {
  DamagedLedger,
  type Ledger,
  LedgerError,
  type LedgerLock,
  type StackStore,
} from '../../model/ledger.ts';
import { counted, quoted, quotedUnlessPlain, quoteSome } from '../../model/quoted.ts';
import { type LiveResource, ownOwnershipTag } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import { movedProblem, movedTargets } from '../../plan/moved-targets.ts';
import { shellWord } from '../../report/view/printable.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { describeElsewhere, elsewhereRecovery } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { repositoryProblem } from '../../run/ledger-head.ts';
import { isGone, isOver } from '../../run/lock.ts';
import { CopyError, MovedElsewhere } from '../../run/moved-ledger.ts';
import { damagedEntries } from '../../run/open-entries.ts';
import { openLedger, refuseClosed } from '../../run/open-ledger.ts';
import { identifyRun } from '../../run/origin.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

interface LedgerQuestion {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunTime;
  /** the path of the stack as the user typed it, for commands in messages */
  readonly path: string | undefined;
}

interface CheckedLedger {
  readonly findings: readonly Finding[];
  /** undefined when it cannot be read */
  readonly ledger?: Ledger;
}

export async function checkLedger(question: LedgerQuestion): Promise<CheckedLedger> {
  const { stack, host, time } = question;
  let store: StackStore | undefined;
  try {
    store = await openLedger(stack, host, time);
    const ledger = await store.read();
    const problems = [
      ...closedProblem(ledger, stack),
      ...movedTargets(ledger, stack.targets).map((moved) => movedFinding(moved)),
      ...(await otherRepositoryProblem(ledger, question)),
      ...(await unwritableProblem(store, stack)),
      ...(await elsewhereProblem(ledger, question)),
      ...(await historyProblems(store, stack)),
      ...temporaryProblem(question),
    ];
    const lock = await checkLock(store, question);
    const found = problems.length > 0 ? problems : [ok('ledger', describe(store, ledger))];
    return { findings: [...found, ...lock], ledger };
  } catch (error) {
    if (!(error instanceof LedgerError || error instanceof CommandStop)) throw error;
    return { findings: [unreadable(error, question)] };
  } finally {
    await store?.close();
  }
}

function describe({ place }: StackStore, { known, serial, records }: Ledger): string {
  return known
    ? `${place}: ${counted(records.size, 'record')}, serial ${serial}`
    : `${place}: nothing was applied yet`;
}

function unreadable(error: Error, { stack, path }: LedgerQuestion): Finding {
  const { message } = error;
  if (error instanceof MovedElsewhere)
    return failed('ledger', { id: 'ledger-unreadable', message: error.what, fix: error.fix });
  if (error instanceof CopyError) {
    const fix = 'finish the move as the message says';
    return failed('ledger', { id: 'ledger-unreadable', message, fix });
  }
  const place = path === undefined ? '' : ` ${shellWord(path)}`;
  const fixes = {
    local: 'make the file readable for this user',
    git: 'check the address and the login of the remote with "git ls-remote"; in GitHub Actions the job needs "permissions: { contents: write }"',
    postgres: 'check the address in the source of "spec.ledger", the login, and that the server is up',
  };
  const fix =
    error instanceof DamagedLedger
      ? `rebuild it from the live resources: ${`trueup recover${place}`}`
      : fixes[stack.ledger?.in ?? 'local'];
  return failed('ledger', { id: 'ledger-unreadable', message, fix });
}

function closedProblem(ledger: Ledger, stack: Stack): Finding[] {
  try {
    refuseClosed(ledger, stack);
    return [];
  } catch (error) {
    if (!(error instanceof CommandStop)) throw error;
    const fix = 'run the commands of the stack with the new name';
    return [failed('ledger', { id: 'ledger-closed', message: error.message, fix })];
  }
}

function movedFinding(moved: Parameters<typeof movedProblem>[0]): Finding {
  const { message, found = '', allowed = '', fix = '' } = movedProblem(moved);
  const places = `${message}: it is ${found}, and the ledger has ${allowed}`;
  return {
    ...failed('ledger', { id: 'ledger-target-moved', message: places, fix }),
    target: moved.target.name,
  };
}

async function otherRepositoryProblem(
  { repository }: Ledger,
  { stack, host, time }: LedgerQuestion,
): Promise<Finding[]> {
  const { root, isGit } = await findRepository(stack.directory);
  if (!isGit) return [];
  const at = { directory: stack.directory, env: host.env, secrets: host.secrets, signal: time.runEnded };
  const problem = await repositoryProblem(repository, await stackRepository(at, root, stack.file));
  if (problem === undefined) return [];
  const { message, found = '', allowed = '', fix = '' } = problem;
  const places = `${message}; this is ${found}, and the ledger has ${allowed}`;
  return [failed('ledger', { id: 'ledger-other-repository', message: places, fix })];
}

async function unwritableProblem(store: StackStore, { ledger }: Stack): Promise<Finding[]> {
  const why = await store.whyUnwritable();
  if (why === undefined) return [];
  const fixes = {
    local: 'give this user the right to write there',
    git: 'give the login of this run the right to push; in GitHub Actions the job needs "permissions: { contents: write }"',
    postgres: 'give the user of the address the right to create and write these tables',
  };
  const message = `${store.place} can be read, but not written: ${why}`;
  return [failed('ledger', { id: 'ledger-unwritable', message, fix: fixes[ledger?.in ?? 'local'] })];
}

/** The newest entries of the history that cannot be read: a plan needs them to know what an apply began and did not end. */
async function historyProblems(store: StackStore, { name }: Stack): Promise<Finding[]> {
  const damaged = await damagedEntries(store, name);
  const fix = 'restore it from a backup, or remove it: then this apply counts as one that created nothing';
  return damaged.map(({ message }) => warning('ledger', { id: 'history-damaged', message, fix }));
}

/** A problem if the ledger of this stack is in another place, with the message that a plan gives. */
async function elsewhereProblem({ known }: Ledger, question: LedgerQuestion): Promise<Finding[]> {
  const message = known ? undefined : await describeElsewhere(question);
  if (message === undefined) return [];
  const fix = `do what the message says; ${elsewhereRecovery}`;
  return [failed('ledger', { id: 'ledger-elsewhere', message, fix })];
}

/** Reports ownership tags of this stack with an id that the ledger does not have: the ledger was lost, or it is not the one of the tags. */
export function lostLedgerFindings(
  resources: readonly LiveResource[],
  { stack: { name }, ledger, path }: Pick<LedgerQuestion, 'path' | 'stack'> & { readonly ledger: Ledger },
): Finding[] {
  const known = new Set([ledger.stackId, ...(ledger.takenIds ?? [])]);
  const tagIds = resources.flatMap(({ evidence }) => {
    const { stack, id, moving } = ownOwnershipTag(evidence) ?? {};
    return stack === name && id !== undefined && moving !== true && !known.has(id) ? [id] : [];
  });
  const ids = [...new Set(tagIds)];
  if (ids.length === 0) return [];
  const recovering = ['trueup recover', ...(path === undefined ? [] : [shellWord(path)])].join(' ');
  const tags = `ownership tags of this stack with the id ${quoteSome(ids)} are on ${counted(tagIds.length, 'declared resource')}`;
  return [
    ledger.known
      ? failed('ledger', {
          id: 'ledger-other-id',
          message: `${tags}, and the ledger has the id ${quoted(ledger.stackId ?? '')}: another stack has the same name, or this ledger is not the one of the last apply`,
          fix: `rename one of the two stacks; if this stack takes over what the other one has: ${recovering} --adopt-repository`,
        })
      : failed('ledger', {
          id: 'ledger-lost',
          message: `there is no ledger, but ${tags}: the ledger was lost, or another stack has the same name`,
          fix: `if the ledger was lost, rebuild it: ${recovering}; else rename one of the two stacks`,
        }),
  ];
}

/** A CI job begins with a new checkout, so a ledger beside the stack is lost when the job ends. */
function temporaryProblem({ stack: { ledger = { in: 'local' } }, host }: LedgerQuestion): Finding[] {
  const isKept = ledger.in !== 'local' || ledger.folder !== undefined;
  if (isKept || identifyRun(host).id.startsWith('local:')) return [];
  return [
    warning('ledger', {
      id: 'ledger-temporary',
      message: 'the ledger is a file beside the stack, which is lost when this CI job ends',
      fix: 'keep it elsewhere: "ledger: git" or "ledger: postgres" in the spec of the stack',
    }),
  ];
}

async function checkLock(store: StackStore, question: LedgerQuestion): Promise<Finding[]> {
  try {
    const lock = await store.readLock();
    return [lock === undefined ? ok('lock', 'not held') : heldLock(lock, question)];
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    const fix = 'check the file or row that the message names; without a lock no apply begins';
    return [failed('lock', { id: 'lock-unreadable', message: error.message, fix })];
  }
}

function heldLock(lock: LedgerLock, { host, path }: LedgerQuestion): Finding {
  const { id, run, since } = lock;
  const own = identifyRun(host);
  const seconds = Math.max(0, Math.round((host.now() - Date.parse(since)) / 1000));
  const age = Number.isNaN(seconds) ? '' : `, for ${formatDuration(seconds)}`;
  const holder = `${quotedUnlessPlain(run.who)} holds the lock since ${quotedUnlessPlain(since)}${age}, on ${quotedUnlessPlain(run.where)} in the run ${quoted(run.id)}`;
  if (isOver(lock, own, host.machine()))
    return info('lock', {
      id: 'lock-of-earlier-attempt',
      message: `${holder}: an earlier attempt of this job, whose lock the next apply takes over`,
    });
  const unlock = ['trueup unlock --id', shellWord(id), ...(path === undefined ? [] : [shellWord(path)])].join(
    ' ',
  );
  const isAbandoned = isGone(run, own, host.machine());
  return failed('lock', {
    id: 'lock-held',
    message: isAbandoned ? `${holder}; its process ${run.pid} on this host is gone` : holder,
    fix: isAbandoned ? unlock : `wait for that apply, or if it has certainly ended: ${unlock}`,
  });
}
