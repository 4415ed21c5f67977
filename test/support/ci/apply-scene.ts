/**
 * A repository with one stack in the folder `pay`, its pull requests on GitHub, and jobs of its protected branch. Git, ledger and
 * services are real; GitHub is a double.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { hiddenContent } from '../../../src/approvals/hidden-content.ts';
import { hiddenLines } from '../../../src/approvals/hidden-lines.ts';
import { addApproval } from '../../../src/approvals/approvals-ref.ts';
import { signedText } from '../../../src/approvals/signed-approval.ts';
import { signText } from '../../../src/approvals/ssh-keygen.ts';
import type { GuardId } from '../../../src/model/guard.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { planContent } from '../../../src/plan/approved-plans.ts';
import { openPlanFile } from '../../../src/run/plan-file.ts';
import { type Ran, trueup } from '../captured-host.ts';
import { type Bench, openBench, secrets, type StackOptions } from '../cli/bench.ts';
import { workspace } from '../cli/documents.ts';
import { type GithubDouble, githubTokens, openGithub } from '../code-host/github.ts';
import type { GithubPull } from '../code-host/github-state.ts';
import { type CommitScene, openScene } from '../ledger/commit-scene.ts';
import { git } from '../ledger/git-remote.ts';
import { documentsText, stackText, workspacesTarget, clusterAuthTarget } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface PullOptions {
  /** texts of files below `pay`, besides the manifests */
  readonly files?: Readonly<Record<string, string>>;
  /** the manifest file; `all.yaml` when absent */
  readonly file?: string;
  readonly author?: string;
  /** the job of the pull request is to plan it: its comment is that of `trueup ci plan` */
  readonly isPlannedByJob?: boolean;
}

export interface ApplyScene {
  readonly bench: Bench;
  readonly github: GithubDouble;
  readonly scene: CommitScene;
  /** Opens a pull request from the protected branch as it is, plans its head, and posts the plan. */
  pull(documents: readonly object[], options?: PullOptions): Promise<OpenedPull>;
  /** A job of the protected branch in a shallow clone. */
  ci(args?: readonly string[], job?: JobOptions): Promise<Ran>;
  /** The same of another commit, as when an old run is started again. */
  ciAt(commit: string, args?: readonly string[], job?: JobOptions): Promise<Ran>;
  /** The same, with its exit code. */
  ciApply(code: number, args?: readonly string[], job?: JobOptions): Promise<Ran>;
  /** Runs another command in a clone of the protected branch. */
  run(args: readonly string[], code: number): Promise<Ran>;
  /** where the keys of signers are */
  readonly keys: string;
  /** Commits to the protected branch without a pull request, and pushes. @param files texts by path, undefined to remove */
  push(files: Readonly<Record<string, string | undefined>>): string;
  /** `trueup ci plan` in a job of an event that checks out this commit. */
  ciPlan(commit: string, event: object, job?: JobOptions): Promise<Ran>;
  /** Signs a plan with the key of a person, and pushes the approval. */
  sign(signed: SignedPlan): Promise<void>;
  /** the newest commit of the protected branch */
  main(): string;
  /** the comment about applies in a pull request; undefined where there is none */
  told(pull: GithubPull): string | undefined;
}

/** In a job without a code host only signatures count. */
export const noCodeHost = { env: { GITHUB_ACTIONS: '', GITHUB_RUN_ID: '' } };

export interface SignedPlan {
  readonly digest: string;
  /** the plan, whose content is kept beside the signature */
  readonly plan?: Plan;
  readonly commit: string;
  readonly by: string;
  readonly acknowledged?: readonly GuardId[];
}

/** Makes a key. @returns its line for `allowed_signers` */
export function makeSigner(folder: string, name: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, name)]);
  const [type = '', key = ''] = readFileSync(join(folder, `${name}.pub`), 'utf8').split(' ');
  return `${name}@example.com ${type} ${key.trim()}\n`;
}

export interface JobOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly token?: string;
}

export interface OpenedPull {
  readonly pull: GithubPull;
  readonly digest: string;
  readonly plan: Plan;
  approve(by: string): void;
  merge(how?: 'merge' | 'squash' | 'rebase'): void;
}

const base = workspace('base');

export const emptyStack = (bench: Bench, { name = 'payments', spec = {} }: StackOptions = {}): string =>
  stackText({
    name,
    targets: [workspacesTarget(bench.wire.url), clusterAuthTarget(bench.wire.url)],
    manifests: ['manifests/*.yaml'],
    spec,
  });

/** @param about.isNew nothing was applied yet */
export async function openApplyScene(
  options: StackOptions = {},
  {
    isNew = false,
    signers = [],
    env: more = {},
  }: {
    readonly isNew?: boolean;
    readonly signers?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<ApplyScene> {
  const keys = temporaryFolder();
  const allowed = signers.map((name) => makeSigner(keys, name)).join('');
  const [bench, github] = [await openBench(), await openGithub()];
  github.state.pulls.clear();
  for (const user of ['alice', 'bob', 'carol']) github.state.permissions.set(user, 'write');
  const scene = openScene();
  const volume = temporaryFolder();
  const inFolder = (files: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`pay/${path}`, text]));
  scene.commit({
    // A link of that name would make the work tree dirty.
    '.gitignore': '.trueup\n',
    ...inFolder({
      'trueup.yaml': emptyStack(bench, options),
      'manifests/base.yaml': documentsText([base]),
      ...(allowed === '' ? {} : { allowed_signers: allowed }),
    }),
  });
  const main = () => git(scene.remote.directory, 'rev-parse', 'main');
  const checkout = (commit: string) => {
    const directory = join(scene.shallowAt(commit), 'pay');
    symlinkSync(volume, join(directory, '.trueup'));
    return directory;
  };
  const env = ({ env: own, token = githubTokens.job }: JobOptions) => ({
    ...secrets,
    ...more,
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'acme/infra',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_RUN_ID: '771',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_JOB: 'apply',
    GITHUB_TOKEN: token,
    ...own,
  });
  const run = async (args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: checkout(main()), env: { ...secrets, ...more } });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };
  if (!isNew) await run(['apply', '--yes'], 0);
  bench.wire.reset();
  const ciAt = (commit: string, args: readonly string[] = [], job: JobOptions = {}) =>
    trueup(['ci', 'apply', ...args], { cwd: checkout(commit), env: env(job) });
  const ci = (args?: readonly string[], job?: JobOptions) => ciAt(main(), args, job);
  let number = 10;
  const result: ApplyScene = {
    bench,
    github,
    scene,
    ci,
    ciAt,
    ciApply: async (code, args, job) => {
      const ran = await ci(args, job);
      expect(ran, ran.out + ran.err).toMatchObject({ code });
      return ran;
    },
    run,
    keys,
    main,
    push: (files) => {
      const { author } = scene;
      git(author, 'fetch', '--quiet', 'origin');
      git(author, 'checkout', '--quiet', '-B', 'main', 'origin/main');
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(author, path)), { recursive: true });
        if (text === undefined) rmSync(join(author, path));
        else writeFileSync(join(author, path), text);
      }
      git(author, 'add', '--all', '.');
      git(author, 'commit', '--quiet', '--allow-empty', '-m', 'push');
      git(author, 'push', '--quiet', 'origin', 'main');
      return git(author, 'rev-parse', 'HEAD');
    },
    ciPlan: async (commit, event, job = {}) => {
      const path = join(temporaryFolder({ 'event.json': JSON.stringify(event) }), 'event.json');
      const about = {
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: path,
        PATH: process.env['PATH'] ?? '',
      };
      return trueup(['ci', 'plan'], {
        cwd: checkout(commit),
        env: env({ ...job, env: { ...about, ...job.env } }),
      });
    },
    sign: async ({ digest, plan, commit, by, acknowledged = [] }) => {
      const now = Date.now();
      const time = (at: number) => new Date(at).toISOString();
      const approval = {
        version: 1 as const,
        stack: options.name ?? 'payments',
        repository: scene.remote.directory.replace(/\.git$/, ''),
        path: 'pay/trueup.yaml',
        ...{ digest, commit, acknowledged: [...acknowledged].sort() },
        at: time(now),
        until: time(now + 86_400_000),
      };
      const about = { env: process.env, signal: new AbortController().signal, notify: () => {} };
      const signature = await signText(signedText(approval), { file: join(keys, by) }, about);
      const content = plan && JSON.parse(JSON.stringify(planContent(plan)));
      const at = { directory: scene.remote.clone(), env: process.env };
      const place = { git: at, remote: 'origin', stack: approval.stack };
      await addApproval(place, { stored: { approval, signature }, content, now }, about.signal);
    },
    told: ({ comments }) =>
      comments.find(({ body }) => body.includes('(apply)') || body.includes('_apply_'))?.body,
    pull: async (documents, { files = {}, file = 'all.yaml', author = 'ann', isPlannedByJob } = {}) => {
      number += 1;
      const { author: directory } = scene;
      const branch = `change-${number}`;
      git(directory, 'fetch', '--quiet', 'origin');
      git(directory, 'checkout', '--quiet', '-B', branch, 'origin/main');
      for (const [path, text] of Object.entries(
        inFolder({ [`manifests/${file}`]: documentsText(documents), ...files }),
      )) {
        mkdirSync(join(directory, path, '..'), { recursive: true });
        writeFileSync(join(directory, path), text);
      }
      git(directory, 'add', '.');
      git(directory, 'commit', '--quiet', '--allow-empty', '-m', branch);
      git(directory, 'push', '--quiet', 'origin', branch);
      const head = git(directory, 'rev-parse', 'HEAD');
      const pull = github.state.openPull({ number, author, head, branch });
      const planned = checkout(head);
      const made = await trueup(['plan', '--out', 'plan.json'], {
        cwd: planned,
        env: { ...secrets, ...more },
      });
      expect(made, made.out + made.err).toMatchObject({ code: 0 });
      const { plan } = await openPlanFile('plan.json', planned);
      if (isPlannedByJob) {
        const repo = { full_name: 'acme/infra' };
        const event = {
          number,
          pull_request: {
            number,
            state: 'open',
            user: { login: author },
            head: { sha: head, ref: branch, repo },
            base: { sha: main(), ref: 'main', repo },
          },
        };
        const ran = await result.ciPlan(head, event);
        expect(ran, ran.out + ran.err).toMatchObject({ code: 0 });
      }
      const shown = {
        post: 'x',
        at: new Date().toISOString(),
        commit: head,
        digest: plan.digest,
        summary: '',
      };
      const body = [
        ...hiddenLines(plan.stack, { shown, earlier: [] }),
        hiddenContent(planContent(plan)),
      ].join('\n');
      if (!isPlannedByJob) github.state.comment(pull, { by: 'github-actions[bot]', body });
      return {
        pull,
        digest: plan.digest,
        plan,
        approve: (by) => void github.state.review(pull, { by }),
        merge: (how = 'merge') => {
          git(directory, 'fetch', '--quiet', 'origin');
          git(directory, 'checkout', '--quiet', '-B', 'main', 'origin/main');
          const before = git(directory, 'rev-parse', 'HEAD');
          if (how === 'merge') git(directory, 'merge', '--quiet', '--no-ff', '-m', `merge ${branch}`, branch);
          if (how === 'squash') {
            git(directory, 'merge', '--quiet', '--squash', branch);
            git(directory, 'commit', '--quiet', '-m', `squash ${branch}`);
          }
          if (how === 'rebase') {
            git(directory, 'checkout', '--quiet', '-B', 'rebased', branch);
            // GitHub makes new commits, also where none would be needed.
            git(directory, 'rebase', '--quiet', '--force-rebase', 'main');
            git(directory, 'checkout', '--quiet', 'main');
            git(directory, 'merge', '--quiet', '--ff-only', 'rebased');
          }
          git(directory, 'push', '--quiet', 'origin', 'main');
          const made = git(directory, 'rev-list', '--reverse', '--first-parent', `${before}..HEAD`).split(
            '\n',
          );
          github.state.merge(pull, { by: 'ann', commits: made });
        },
      };
    },
  };
  return result;
}

/** A second stack beside the first one. */
export async function copyStack(scene: ApplyScene, from: string, to: string): Promise<void> {
  await cp(join(scene.scene.author, from), join(scene.scene.author, to), { recursive: true });
}
