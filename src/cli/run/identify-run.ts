/**
 * Who runs trueup, where, and in which job of a CI: what locks and the history tell. The id of a run is the same for
 * every try of one job, so that a job that is run again may take over the lock of its own earlier try.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { RunIdentity } from '../../model/stack/ledger.ts';
import type { CliHost } from '../cli-host.ts';

type Env = CliHost['env'];
type CiJob = Pick<RunIdentity, 'id' | 'attempt' | 'sole' | 'url'>;

export function identifyRun({ env }: Pick<CliHost, 'env'>): RunIdentity {
  const job = jobOf(env) ?? { id: `local:${randomUUID()}` };
  return { ...job, who: actorOf(env), where: hostname(), pid: process.pid, ...pidNamespace() };
}

/**
 * Containers may bear one host name and number their processes alike. No two systems that run have the same boot id, and
 * no two namespaces that one of them has at a time the same inode. Nothing where there is no way to tell.
 */
function pidNamespace(): Pick<RunIdentity, 'pidNamespace'> {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { pidNamespace: `${boot}/${statSync('/proc/self/ns/pid').ino}` };
  } catch {
    return {};
  }
}

/** The first of these that the environment knows: an id that was set on purpose, then the variables of known CIs. */
function jobOf(env: Env): CiJob | undefined {
  if (env['TRUEUP_RUN_ID']) return { id: `run:${env['TRUEUP_RUN_ID']}`, sole: true };
  if (env['GITHUB_RUN_ID']) return githubJob(env, env['GITHUB_RUN_ID']);
  if (env['CI_PIPELINE_ID']) return gitlabJob(env, env['CI_PIPELINE_ID']);
  if (env['BUILD_ID']) return buildJob(env, env['BUILD_ID']);
  return undefined;
}

/** Jobs of a matrix share all of this but the host; each re-run of a job counts the attempt up. */
function githubJob(env: Env, run: string): CiJob {
  const { GITHUB_REPOSITORY: repository, GITHUB_JOB: job, GITHUB_SERVER_URL: server } = env;
  return {
    id: ['github', repository, run, job].filter(Boolean).join('/'),
    ...attempt(env['GITHUB_RUN_ATTEMPT']),
    ...(server && repository ? { url: `${server}/${repository}/actions/runs/${run}` } : {}),
  };
}

/** A job that is retried gets a new, higher id under the same name, and only when the one before has ended. */
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

function actorOf(env: Env): string {
  return env['TRUEUP_ACTOR'] || env['GITHUB_ACTOR'] || env['GITLAB_USER_LOGIN'] || env['USER'] || userName();
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
