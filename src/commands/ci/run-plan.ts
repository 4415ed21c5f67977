/**
 * The plan that a CI run offers to the reviewers of an environment. The ledger has its digest before the job waits for approval. An
 * approval covers all attempts of a run, so a later attempt may apply only the plan of the first one.
 */
import { openPullRequests } from '../../api/code-host/open-pull-requests.ts';
import type { OfferedPlan } from '../../model/approval.ts';
import { blockingIds, deniedIds } from '../../model/guard.ts';
import type { Ledger } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { Plan } from '../../model/plan.ts';
import type { PreparedApply } from '../../run/apply/store-approval.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { deniedStep } from '../../report/view/plan-summary.ts';
import { printPlan } from '../../run/print-plan.ts';
import { type CommandContext, textOutput } from '../../run/terminal.ts';
import { type OpenHost, openHost, type SourceFlags } from './approval-sources.ts';
import { labelsOf } from './refusal.ts';

/** One run of a CI, with all of its jobs. */
interface CiRun {
  readonly number: number;
  /** `github:acme/infra/771` */
  readonly id: string;
  /** from 1; a later one (2) if GitHub does not give it; always 1 if the CI does not count attempts */
  readonly attempt: number;
}

function ciRun(env: CliHost['env']): CiRun | undefined {
  const { GITHUB_RUN_ID: run, GITHUB_REPOSITORY: repository = '', GITHUB_RUN_ATTEMPT: attempt } = env;
  if (run)
    return {
      number: Number(run),
      id: `github:${repository}/${run}`,
      attempt: /^\d+$/.test(attempt ?? '') ? Number(attempt) : 2,
    };
  const { CI_PIPELINE_ID: pipeline, CI_PROJECT_PATH: project = '' } = env;
  return pipeline ? { number: Number(pipeline), id: `gitlab:${project}/${pipeline}`, attempt: 1 } : undefined;
}

/** Records the digest of the plan in the ledger, and prints the plan with the command that applies it. */
export async function recordPlan(
  plan: Plan,
  prepared: PreparedApply,
  { flags, context: { terminal, host } }: { readonly flags: SourceFlags; readonly context: CommandContext },
): Promise<ExitCode> {
  const guards = blockingIds(plan.guards);
  const isEmpty = plan.changes.length === 0 && guards.length === 0;
  if (!isEmpty) {
    const opened = openHost({ flags, host, time: prepared.time });
    await offerPlan(plan, prepared, { host, opened }).finally(() =>
      typeof opened === 'string' ? undefined : opened.codeHost.close(),
    );
  }
  printPlan(terminal, plan, { next: [] });
  const next = isEmpty
    ? 'There is nothing to apply: the job that waits for an environment can be skipped'
    : deniedIds(plan.guards).length > 0
      ? `Nothing was written. ${deniedStep(plan.guards)}`
      : `Nothing was written. Next: ${guards.length === 0 ? '' : `acknowledge the guards, as by ${labelsOf(guards)} on the pull request; then `}a job that waits for an environment, with ${quoted(`trueup ci apply --digest ${plan.digest} --environment NAME`)}`;
  textOutput(terminal)?.write(`${next}\n`);
  terminal.result.next = [next];
  return exitCodes.done;
}

/** The ledger keeps this many digests, for more runs than wait at once; later attempts of older runs apply nothing. */
const maxOffered = 50;

interface Offering {
  readonly host: CliHost;
  /** the code host, or why there is none, as a clause */
  readonly opened: OpenHost | string;
}

/**
 * Records the digest for later jobs and attempts of this run. If no earlier attempt has done so, as after a failed plan job, a later
 * attempt may, as long as the run was neither approved nor rejected: then each approval is newer than the plan.
 * @throws CommandStop when an earlier attempt had another plan, or one that may have been approved
 */
async function offerPlan(
  plan: Plan,
  prepared: PreparedApply,
  { host: { env, now }, opened }: Offering,
): Promise<void> {
  const run = ciRun(env);
  if (run === undefined)
    throw new CommandStop(
      'usage',
      '--record is for a job of GitHub Actions or GitLab CI: the run is not known',
    );
  const { store, ledger, held } = prepared;
  const known = findOffered(ledger, run);
  if (known?.digest === plan.digest) return;
  if (known !== undefined) throw otherPlan(known, plan.digest);
  const current = await store.read();
  if (run.attempt > 1) await refuseDecided(run, { opened, isKept: current.known });
  // Before the first apply no ledger is written, because a ledger that exists counts as complete.
  if (!current.known) return;
  await held?.lockGuard.pass();
  const offered = { run: run.id, digest: plan.digest, at: new Date(now()).toISOString() };
  await store.write({ ...current, offered: [...(current.offered ?? []), offered].slice(-maxOffered) });
}

/** Refuses a run that was approved or rejected already. An approval covers all attempts, so it was not given for this plan. */
async function refuseDecided(
  { number }: CiRun,
  { opened, isKept }: Pick<Offering, 'opened'> & { readonly isKept: boolean },
): Promise<void> {
  const laterAttempt = 'this is a later attempt of the run, and no earlier one has recorded its plan';
  if (!isKept)
    throw refusedRun(`${laterAttempt}; before the first apply of a stack there is no ledger to keep it in`);
  if (typeof opened === 'string')
    throw refusedRun(`${laterAttempt}; whether the run was approved already is not known: ${opened}`);
  const { place, codeHost } = opened;
  const approvals = await openPullRequests(place, codeHost).runApprovals({ id: number });
  const [decision] = approvals?.decisions ?? [];
  if (decision !== undefined)
    throw refusedRun(
      `${laterAttempt}; ${quoted(decision.by)} has ${decision.state} the run already, which was not about this plan`,
    );
}

/**
 * The plan that this run offered. It must have the digest that this job gets with `--digest`.
 * @returns undefined in the first attempt of a run that recorded no plan
 * @throws CommandStop for another plan, and for a later attempt if the first one recorded no plan
 */
export function offeredPlan(
  digest: string,
  { ledger }: Pick<PreparedApply, 'ledger'>,
  { env }: Pick<CliHost, 'env'>,
): OfferedPlan | undefined {
  const run = ciRun(env);
  if (run === undefined)
    throw new CommandStop(
      'usage',
      '--environment is for a job of GitHub Actions or GitLab CI: the run is not known',
    );
  const known = findOffered(ledger, run);
  if (known !== undefined && known.digest !== digest) throw otherPlan(known, digest);
  if (known === undefined && run.attempt > 1)
    throw refusedRun(
      'this is a later attempt of the run, and the ledger does not have the plan of the first one, which "trueup ci apply --record" keeps',
    );
  return known;
}

function findOffered({ offered = [] }: Ledger, { id }: CiRun): OfferedPlan | undefined {
  return offered.find(({ run }) => run === id);
}

function otherPlan(known: OfferedPlan, digest: string): CommandStop {
  return refusedRun(
    `this run has recorded the plan ${quoted(known.digest)}, and the plan is ${quoted(digest)} now; only the first one can be approved in it`,
  );
}

function refusedRun(why: string): CommandStop {
  return new CommandStop('run-plan-differs', `nothing was written: ${why}; start a new run`, {
    exit: exitCodes.stale,
  });
}
