/**
 * The plan that a CI run offers to the reviewers of an environment. The ledger keeps its digest from before the job waits, because an
 * approval covers all attempts of a run: a later attempt may apply nothing but the plan of the first one.
 */
import type { OfferedPlan } from '../../model/approval.ts';
import type { Ledger } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { Plan } from '../../model/plan.ts';
import type { PreparedApply } from '../../run/apply/store-approval.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';

/** One run of a CI, with all of its jobs. */
interface CiRun {
  /** `github:acme/infra/771` */
  readonly id: string;
  /** from 1; 1 where the CI does not count */
  readonly attempt: number;
}

function ciRun(env: CliHost['env']): CiRun | undefined {
  const { GITHUB_RUN_ID: run, GITHUB_REPOSITORY: repository = '', GITHUB_RUN_ATTEMPT: attempt } = env;
  if (run)
    return { id: `github:${repository}/${run}`, attempt: /^\d+$/.test(attempt ?? '') ? Number(attempt) : 2 };
  const { CI_PIPELINE_ID: pipeline, CI_PROJECT_PATH: project = '' } = env;
  return pipeline ? { id: `gitlab:${project}/${pipeline}`, attempt: 1 } : undefined;
}

/** More runs do not wait at once; of older ones nothing is applied in a later attempt. */
const maxOffered = 50;

/**
 * Records the digest for later jobs and attempts of this run.
 * @throws CommandStop when an earlier attempt had another plan, or recorded none
 */
export async function offerPlan(plan: Plan, prepared: PreparedApply, { env, now }: CliHost): Promise<void> {
  const run = ciRun(env);
  if (run === undefined)
    throw new CommandStop(
      'usage',
      '--record is for a job of GitHub Actions or GitLab CI: the run is not known',
    );
  const { store, ledger, held } = prepared;
  if (findOffered(ledger, run, plan.digest) !== undefined) return;
  const own = await store.read();
  // A ledger that is written before the first apply would say that everything is known.
  if (!own.known) return;
  await held?.lockGuard.pass();
  const offered = { run: run.id, digest: plan.digest, at: new Date(now()).toISOString() };
  await store.write({ ...own, offered: [...(own.offered ?? []), offered].slice(-maxOffered) });
}

/**
 * The plan that this run offered, which must be the one that this job is told to apply.
 * @returns undefined in the first attempt of a run that recorded none
 * @throws CommandStop for another plan, and for a later attempt if the first recorded none
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
  return findOffered(ledger, run, digest);
}

function findOffered({ offered = [] }: Ledger, run: CiRun, digest: string): OfferedPlan | undefined {
  const known = offered.find((one) => one.run === run.id);
  const differs = (why: string) =>
    new CommandStop('run-plan-differs', `nothing was written: ${why}; start a new run`, {
      exit: exitCodes.stale,
    });
  if (known !== undefined && known.digest !== digest)
    throw differs(
      `the first attempt of this run made the plan ${quoted(known.digest)}, and this one is ${quoted(digest)}`,
    );
  if (known === undefined && run.attempt > 1)
    throw differs(
      'this is a later attempt of the run, and the ledger does not have the plan of the first one, which "trueup ci apply --record" keeps',
    );
  return known;
}
