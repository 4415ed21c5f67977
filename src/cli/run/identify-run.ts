/**
 * Identifies a run for locks and the history: who runs trueup, where, and in which CI job. All attempts of one job have the same
 * id, so that a repeated job may take over the lock of its earlier attempt.
 */
import type { RunIdentity } from '../../model/stack/ledger.ts';
import type { CliHost } from '../cli-host.ts';

type Env = CliHost['env'];
type CiJob = Pick<RunIdentity, 'id' | 'attempt' | 'sole' | 'url'>;

export function identifyRun({
  env,
  machine,
  newId,
}: Pick<CliHost, 'env' | 'machine' | 'newId'>): RunIdentity {
  const { hostname, pid, pidNamespace, userName } = machine();
  return {
    ...(jobOf(env) ?? { id: `local:${newId()}` }),
    who: actorOf(env) ?? userName ?? 'unknown',
    where: hostname,
    pid,
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
  };
}

/** From the environment: `TRUEUP_RUN_ID` if it is set, else the variables of known CI systems. */
function jobOf(env: Env): CiJob | undefined {
  if (env['TRUEUP_RUN_ID']) return { id: `run:${env['TRUEUP_RUN_ID']}`, sole: true };
  if (env['GITHUB_RUN_ID']) return githubJob(env, env['GITHUB_RUN_ID']);
  if (env['CI_PIPELINE_ID']) return gitlabJob(env, env['CI_PIPELINE_ID']);
  if (env['BUILD_ID']) return buildJob(env, env['BUILD_ID']);
  return undefined;
}

/** Jobs of a matrix differ only in the host. Each re-run of a job increases the attempt. */
function githubJob(env: Env, run: string): CiJob {
  const { GITHUB_REPOSITORY: repository, GITHUB_JOB: job, GITHUB_SERVER_URL: server } = env;
  return {
    id: ['github', repository, run, job].filter(Boolean).join('/'),
    ...attempt(env['GITHUB_RUN_ATTEMPT']),
    ...(server && repository ? { url: `${server}/${repository}/actions/runs/${run}` } : {}),
  };
}

/** A retried job gets a higher id under the same name, and starts only after the earlier one has ended. */
function gitlabJob(env: Env, pipeline: string): CiJob {
  return {
    id: ['gitlab', env['CI_PROJECT_PATH'], pipeline, env['CI_JOB_NAME']].filter(Boolean).join('/'),
    ...attempt(env['CI_JOB_ID']),
    ...(env['CI_JOB_URL'] ? { url: env['CI_JOB_URL'] } : {}),
  };
}

function buildJob(env: Env, build: string): CiJob {
  return {
    id: ['build', env['JOB_NAME'], build].filter(Boolean).join('/'),
    ...(env['BUILD_URL'] ? { url: env['BUILD_URL'] } : {}),
  };
}

function attempt(text: string | undefined): Pick<CiJob, 'attempt'> {
  return text !== undefined && /^\d+$/.test(text) ? { attempt: Number(text) } : {};
}

function actorOf(env: Env): string | undefined {
  const names = ['TRUEUP_ACTOR', 'GITHUB_ACTOR', 'GITLAB_USER_LOGIN', 'USER'];
  return names.map((name) => env[name]).find((actor) => actor);
}
