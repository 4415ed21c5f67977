/** A pull request of GitHub, a folder with plan files, and jobs that post them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { trueup } from '../captured-host.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { type GithubDouble, githubJob, openGithub } from './github.ts';
import { writePlanOf } from './plan-files.ts';

export const commit = (digit: string) => digit.repeat(40);

interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly commit?: string;
}

export async function openScene() {
  const github = await openGithub();
  const folder = temporaryFolder();
  const envOf = async ({ env, token, commit: sha = commit('a') }: Job) => {
    const event = { number: 7, pull_request: { number: 7, head: { sha } } };
    await writeFile(join(folder, `event-${sha[0]}.json`), JSON.stringify(event));
    return { ...githubJob(github, token), GITHUB_EVENT_PATH: join(folder, `event-${sha[0]}.json`), ...env };
  };
  const comment = async (args: readonly string[], job: Job = {}) =>
    trueup(['comment', ...args], { cwd: folder, env: await envOf(job) });
  const post = async (names: readonly string[], job: Job = {}) => {
    const made = { at: new Date().toISOString(), commit: job.commit ?? commit('a') };
    const ran = await comment(['--plan', await writePlanOf(folder, names, { made })], job);
    expect(ran.err).toBe('');
    expect(ran.code).toBe(0);
    return ran;
  };
  const writes = () => github.asked.filter(({ method }) => method !== 'GET');
  return { github, folder, envOf, comment, post, writes };
}

export function bodyOf({ comments }: GithubDouble, at = 0): string {
  return comments[at]?.body ?? '';
}
