/**
 * A repository with one stack in the folder `pay`, its pull requests on a code host, and jobs of its protected branch. Git, ledger and
 * services are real; the code host is a double of GitHub or GitLab.
 */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hiddenContent, hiddenLines } from '../../../src/approvals/hidden-lines.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { planContent } from '../../../src/plan/approved-plans.ts';
import { openPlanFile } from '../../../src/run/plan-file.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
import { type Bench, openBench, secrets, type StackOptions } from '../cli/bench.ts';
import { workspace } from '../cli/documents.ts';
import type { GithubPull } from '../code-host/github-state.ts';
import type { GitlabRequest } from '../code-host/gitlab-state.ts';
import { type CommitScene, openScene } from '../ledger/commit-scene.ts';
import { commitOf } from '../ledger/git-remote.ts';
import { documentsText, stackText, workspacesTarget, clusterAuthTarget } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { type MergeMethod, openAuthor } from './author.ts';
import {
  type HostedPull,
  type OnGithub,
  type OnGitlab,
  openGithubHost,
  openGitlabHost,
  type SceneHost,
} from './scene-host.ts';
import { makeSigner, pushApproval, type SignedPlan } from './signers.ts';

export interface PullOptions {
  /** texts of files below `pay`, besides the manifests */
  readonly files?: Readonly<Record<string, string>>;
  /** the manifest file; `all.yaml` when absent */
  readonly file?: string;
  readonly author?: string;
  /** a job of the pull request plans it, so that its comment is that of `trueup ci plan` */
  readonly isPlannedByJob?: boolean;
}

/** A scene on one of the code hosts. */
export interface HostedScene<Pull extends HostedPull> {
  readonly bench: Bench;
  readonly scene: CommitScene;
  /** Opens a pull request from the protected branch as it is, plans its head, and posts the plan. */
  pull(documents: readonly object[], options?: PullOptions): Promise<OpenedPull<Pull>>;
  /** A job of the protected branch in a shallow clone. */
  ci(args?: readonly string[], job?: JobOptions): Promise<CommandResult>;
  /** The same at another commit, as when an old run is started again. */
  ciAt(commit: string, args?: readonly string[], job?: JobOptions): Promise<CommandResult>;
  /** Runs such a job, and checks its exit code. */
  ciApply(code: number, args?: readonly string[], job?: JobOptions): Promise<CommandResult>;
  /** Runs such a job, and checks that it applies nothing and prints a message that matches `why`. @param code 4 by default */
  expectRefused(
    why: string | RegExp,
    code?: number,
    args?: readonly string[],
    job?: JobOptions,
  ): Promise<CommandResult>;
  /** A new shallow clone of the protected branch, and the variables of a job, for a process. */
  job(job?: JobOptions): { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  /** Runs another command in a clone of the protected branch. */
  run(args: readonly string[], code: number): Promise<CommandResult>;
  /** the approvals in the newest entry of the history */
  lastApprovals(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** the folder with the keys of the signers */
  readonly keys: string;
  /** the public key of a signer, as the code host shows it */
  publicKey(name: string): string;
  /** Commits to the protected branch without a pull request, and pushes as `ann`. @param files texts by path, undefined to remove */
  push(files: Readonly<Record<string, string | undefined>>): string;
  /** `trueup ci plan` in a job of an event that checks out this commit. */
  ciPlan(commit: string, event: object, job?: JobOptions): Promise<CommandResult>;
  /** Signs a plan with the key of a person, and pushes the approval. */
  sign(signed: SignedPlan): Promise<void>;
  /** the newest commit of the protected branch */
  main(): string;
  /** the comment about applies in a pull request; undefined if there is none */
  applyComment(pull: Pull): string | undefined;
}

export type ApplyScene = HostedScene<GithubPull> & Pick<OnGithub, 'github'>;
export type GitlabScene = HostedScene<GitlabRequest> & Pick<OnGitlab, 'gitlab'>;

/** In a job without a code host only signatures count. */
export const noCodeHost = { env: { GITHUB_ACTIONS: '', GITHUB_RUN_ID: '' } };

export interface JobOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly token?: string;
}

export interface OpenedPull<Pull> {
  readonly pull: Pull;
  readonly digest: string;
  readonly plan: Plan;
  approve(by: string): void;
  /** Pushes another commit to its branch, and plans that. @returns what is opened then */
  change(documents: readonly object[], options?: PullOptions): Promise<OpenedPull<Pull>>;
  merge(how?: MergeMethod): void;
}

const base = workspace('base');

export const emptyStack = (
  bench: Bench,
  { name = 'payments', spec = {}, workspaces = {} }: StackOptions = {},
): string =>
  stackText({
    name,
    targets: [workspacesTarget(bench.wire.url, workspaces), clusterAuthTarget(bench.wire.url)],
    manifests: ['manifests/*.yaml'],
    spec,
  });

function inFolder(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`pay/${path}`, text]));
}

function filesOf(documents: readonly object[], { files = {}, file = 'all.yaml' }: PullOptions) {
  return inFolder({ [`manifests/${file}`]: documentsText(documents), ...files });
}

interface SceneOptions {
  /** nothing was applied yet: `ann` has pushed the stack */
  readonly isNew?: boolean;
  /** documents of the first commit; one workspace when absent */
  readonly documents?: readonly object[];
  /** people whose keys are in `allowed_signers` */
  readonly signers?: readonly string[];
  /** further variables of each command */
  readonly env?: Readonly<Record<string, string>>;
}

/** On GitHub: alice, bob and carol may write. */
export async function openApplyScene(
  stack: StackOptions = {},
  options: SceneOptions = {},
): Promise<ApplyScene> {
  const { github, host } = await openGithubHost();
  return Object.assign(await openHostedScene(host, stack, options), { github });
}

/** The same on GitLab. */
export async function openGitlabScene(
  stack: StackOptions = {},
  options: SceneOptions = {},
): Promise<GitlabScene> {
  const { gitlab, host } = await openGitlabHost();
  return Object.assign(await openHostedScene(host, stack, options), { gitlab });
}

async function openHostedScene<Pull extends HostedPull>(
  host: SceneHost<Pull>,
  options: StackOptions,
  { isNew = false, documents = [base], signers = [], env: more = {} }: SceneOptions,
): Promise<HostedScene<Pull>> {
  const keys = temporaryFolder();
  const allowed = signers.map((name) => makeSigner(keys, name)).join('');
  const bench = await openBench();
  host.admit('alice', 'bob', 'carol');
  const scene = openScene();
  const { remote } = scene;
  const work = openAuthor(scene.author);
  const volume = temporaryFolder();
  const firstCommit = scene.commit({
    // A link of that name would make the work tree dirty.
    '.gitignore': '.trueup\n',
    ...inFolder({
      'trueup.yaml': emptyStack(bench, options),
      ...(documents.length === 0 ? {} : { 'manifests/base.yaml': documentsText(documents) }),
      ...(allowed === '' ? {} : { allowed_signers: allowed }),
    }),
  });
  if (isNew) host.pushTo('main', { by: 'ann', commits: [{ sha: firstCommit, author: 'ann' }] });
  const main = () => commitOf(remote.directory, 'main');
  const newClone = (commit: string) => {
    const top = scene.shallowAt(commit);
    for (const folder of readdirSync(top))
      if (existsSync(join(top, folder, 'trueup.yaml'))) symlinkSync(volume, join(top, folder, '.trueup'));
    return join(top, 'pay');
  };
  const clones = new Map<string, string>();
  /** No command changes its clone, so one is enough for each commit. */
  const cloneOf = (commit: string) => {
    const clone = clones.get(commit) ?? newClone(commit);
    clones.set(commit, clone);
    return clone;
  };
  const env = ({ env: own, token }: JobOptions) => ({
    ...secrets,
    ...more,
    ...host.applyEnv,
    ...(token === undefined ? {} : { [host.tokenVariable]: token }),
    ...own,
  });
  const run = async (args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: cloneOf(main()), env: { ...secrets, ...more } });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };
  const ciAt = (commit: string, args: readonly string[] = [], job: JobOptions = {}) =>
    trueup(['ci', 'apply', ...args], { cwd: cloneOf(commit), env: env(job) });
  const ciPlan = (commit: string, event: object, job: JobOptions = {}, args: readonly string[] = []) => {
    const path = join(temporaryFolder({ 'event.json': JSON.stringify(event) }), 'event.json');
    const about = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: path };
    return trueup(['ci', 'plan', ...args], {
      cwd: cloneOf(commit),
      env: env({ ...job, env: { ...about, PATH: process.env['PATH'] ?? '', ...job.env } }),
    });
  };
  const ciApply = async (code: number, args?: readonly string[], job?: JobOptions) => {
    const ran = await ciAt(main(), args, job);
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };
  const planOf = async (pull: Pull, isPlannedByJob: boolean): Promise<Plan> => {
    const clone = cloneOf(pull.head);
    const folder = temporaryFolder();
    const { env: variables, event = {} } = host.planJob(pull, main());
    const ran = isPlannedByJob
      ? await ciPlan(pull.head, event, { env: variables }, ['--out-dir', folder])
      : await trueup(['plan', '--out', join(folder, 'payments.plan.json')], {
          cwd: clone,
          env: { ...secrets, ...more },
        });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0 });
    const { plan } = await openPlanFile(join(folder, `${options.name ?? 'payments'}.plan.json`), clone);
    if (isPlannedByJob) return plan;
    const at = new Date().toISOString();
    const shown = { post: 'x', at, commit: pull.head, digest: plan.digest, summary: '' };
    host.post(
      pull,
      [...hiddenLines(plan.stack, { shown, earlier: [] }), hiddenContent(planContent(plan))].join('\n'),
    );
    return plan;
  };
  const opened = async (pull: Pull, options: PullOptions): Promise<OpenedPull<Pull>> => {
    const plan = await planOf(pull, options.isPlannedByJob ?? false);
    const { branch, author } = pull;
    return {
      pull,
      digest: plan.digest,
      plan,
      approve: (by) => host.approve(pull, by),
      change: async (documents, more = {}) => {
        const all = { ...options, ...more };
        host.push(pull, { by: all.author ?? author, head: work.commit(branch, filesOf(documents, all)) });
        return opened(pull, all);
      },
      merge: (how = 'merge') => host.merge(pull, work.merge(branch, how, host.mergesSquashed)),
    };
  };
  if (!isNew) await run(['apply', '--yes'], 0);
  bench.wire.reset();
  let number = 10;
  return {
    bench,
    scene,
    ci: (args, job) => ciAt(main(), args, job),
    ciAt,
    ciApply,
    expectRefused: async (why, code = 4, args = [], job = {}) => {
      const before = bench.wire.writes().length;
      const ran = await ciApply(code, args, job);
      expect(ran.err).toMatch(why);
      expect(bench.wire.writes().slice(before)).toEqual([]);
      return ran;
    },
    job: (job = {}) => ({ cwd: newClone(main()), env: env(job) }),
    run,
    lastApprovals: async () => {
      const { out } = await run(['history', '--limit', '1', '--format', 'json'], 0);
      return JSON.parse(out).entries[0]?.approvals ?? [];
    },
    keys,
    publicKey: (name) => readFileSync(join(keys, `${name}.pub`), 'utf8').trim(),
    main,
    push: (files) => {
      const sha = work.commit('main', files);
      host.pushTo('main', { by: 'ann', commits: [{ sha, author: 'ann' }] });
      return sha;
    },
    ciPlan,
    sign: (signed) => pushApproval(signed, { stack: options.name ?? 'payments', remote, keys }),
    applyComment: (pull) =>
      host.bodiesOf(pull).find((body) => body.includes('(apply)') || body.includes('_apply_')),
    pull: async (documents, options = {}) => {
      number += 1;
      const branch = `change-${number}`;
      const head = work.startBranch(branch, filesOf(documents, options));
      return opened(host.open({ number, author: options.author ?? 'ann', head, branch }), options);
    },
  };
}
