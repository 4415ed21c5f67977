/**
 * A repository with two stacks on a real remote, its pull request 7 on a double of GitHub, and jobs of that pull request. A job runs the
 * CLI in this process, in a clone like that of a CI job.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { githubJob, openGithub, githubTokens } from '../code-host/github.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
import { git } from '../ledger/git-remote.ts';
import { documentsText, type StackFile, stackText, workspacesTarget } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { openBench, secrets } from './bench.ts';
import { workspace } from './documents.ts';

export interface JobOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** members of the pull request in the event */
  readonly pull?: object;
  /** options of the clone */
  readonly clone?: readonly string[];
  /** what is checked out; the merge of the pull request by default */
  readonly ref?: 'merge' | 'head' | 'base';
  /** another branch that is checked out */
  readonly branch?: string;
  /** the whole event, for jobs of other events */
  readonly event?: object;
  /** runs instead of `trueup ci plan` */
  readonly runs?: (
    cwd: string,
    env: Readonly<Record<string, string>>,
  ) => Promise<Omit<CommandResult, 'code'> & { code: number }>;
  /** called in the clone before the job runs */
  readonly before?: (clone: string) => void;
}

export interface Job extends Omit<CommandResult, 'code'> {
  readonly code: number;
  readonly clone: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export async function openCiScene() {
  const bench = await openBench();
  const github = await openGithub();
  github.state.permissions.set('ann', 'write');
  const root = temporaryFolder();
  const remote = join(root, 'remote.git');
  const work = join(root, 'work');
  mkdirSync(work);
  git(root, 'init', '--quiet', '--bare', '-b', 'main', remote);
  appendFileSync(
    join(remote, 'config'),
    '[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n[receive]\n\tautogc = false\n',
  );
  git(work, 'init', '--quiet', '-b', 'main');
  git(work, 'remote', 'add', 'origin', remote);
  const write = (path: string, text: string | undefined) => {
    const file = join(work, path);
    mkdirSync(dirname(file), { recursive: true });
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
  };
  const stack = (name: string, more: Partial<StackFile> = {}, target: object = {}) =>
    stackText({
      name,
      manifests: ['manifests/*.yaml'],
      targets: [workspacesTarget(bench.wire.url, target)],
      ...more,
    });
  const commit = (files: Readonly<Record<string, string | undefined>>, message = 'change') => {
    for (const [path, text] of Object.entries(files)) write(path, text);
    git(work, 'add', '--all');
    git(work, 'commit', '--quiet', '--allow-empty', '-m', message);
    return git(work, 'rev-parse', 'HEAD');
  };
  const base = commit(
    {
      'stacks/pay/trueup.yaml': stack('pay'),
      'stacks/pay/manifests/app.yaml': documentsText([workspace('pay-app')]),
      'stacks/net/trueup.yaml': stack('net'),
      'stacks/net/manifests/app.yaml': documentsText([workspace('net-app')]),
      '.gitignore': '.trueup\n',
    },
    'base',
  );
  git(work, 'push', '--quiet', 'origin', 'main');
  /** Commits to the base branch, and pushes it. */
  const push = (files: Readonly<Record<string, string | undefined>>, message?: string) => {
    git(work, 'checkout', '--quiet', 'main');
    const made = commit(files, message);
    git(work, 'push', '--quiet', 'origin', 'main');
    return made;
  };
  /** Opens the pull request, or pushes another commit to it. */
  const propose = (files: Readonly<Record<string, string | undefined>>, from?: string) => {
    const exists = git(work, 'branch', '--list', 'change') !== '';
    git(work, 'checkout', '--quiet', ...(exists ? ['change'] : ['-b', 'change', from ?? 'main']));
    const head = commit(files, 'propose');
    git(work, 'push', '--quiet', 'origin', 'change', 'change:refs/pull/7/head');
    const merge = git(work, 'merge-tree', '--write-tree', 'main', 'change').split('\n')[0] ?? '';
    const made = git(work, 'commit-tree', merge, '-p', 'main', '-p', 'change', '-m', 'merge');
    git(work, 'push', '--quiet', '--force', 'origin', `${made}:refs/pull/7/merge`);
    github.pull.head = head;
    return head;
  };
  let jobs = 0;
  const job = async (options: JobOptions = {}): Promise<Job> => {
    const { args = [], env = {}, ref = 'merge', clone: cloning = [] } = options;
    jobs += 1;
    const clone = join(root, `job-${jobs}`);
    git(root, 'clone', '--quiet', ...cloning, `file://${remote}`, clone);
    const depth = cloning.filter((option) => option.startsWith('--depth'));
    if (ref !== 'base') {
      const named = options.branch ?? (ref === 'head' ? 'change' : undefined);
      const from = named === undefined ? 'refs/pull/7/merge' : `refs/heads/${named}`;
      git(clone, 'fetch', '--quiet', ...depth, 'origin', `+${from}:refs/job`);
      git(clone, 'checkout', '--quiet', '--detach', 'refs/job');
    }
    options.before?.(clone);
    const at = (name: string) => join(root, `${name}-${jobs}`);
    const repo = { full_name: 'acme/infra' };
    const pull = {
      number: 7,
      state: 'open',
      draft: false,
      user: { login: 'ann' },
      head: { sha: github.pull.head, ref: 'change', repo },
      base: { sha: base, ref: 'main', repo },
      ...options.pull,
    };
    writeFileSync(at('event.json'), JSON.stringify(options.event ?? { number: 7, pull_request: pull }));
    for (const name of ['summary', 'outputs']) writeFileSync(at(name), '');
    const { runs = (cwd, of) => trueup(['ci', 'plan', ...args], { cwd, env: of }) } = options;
    const ran = await runs(clone, {
      PATH: process.env['PATH'] ?? '',
      ...secrets,
      ...githubJob(github, githubTokens.job),
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_WORKSPACE: clone,
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_OUTPUT: at('outputs'),
      ...env,
    });
    const outputs = Object.fromEntries(
      [...readFileSync(at('outputs'), 'utf8').matchAll(/^(.+?)<<(.+)\n([\s\S]*?)\n\2$/gm)].map(
        ([, name, , value]) => [name, value ?? ''],
      ),
    ) as Record<string, string>;
    return { ...ran, clone, summary: readFileSync(at('summary'), 'utf8'), outputs };
  };
  const run = (args: readonly string[], cwd = work) =>
    trueup(args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...secrets } });
  return {
    run,
    commit,
    bench,
    github,
    base,
    stack,
    push,
    propose,
    job,
    work,
    git: (...args: string[]) => git(work, ...args),
  };
}

export type CiScene = Awaited<ReturnType<typeof openCiScene>>;
