/** A stack in a clone of a real remote, reviewers with real SSH keys, and changes to their approvals by somebody who can push. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAllowedSigners, readCommitAuthors } from '../../../src/approvals/allowed-signers.ts';
import {
  type FoundSignatures,
  readSignatures,
  type SignaturesInput,
} from '../../../src/approvals/signatures.ts';
import { addressesOfRemote } from '../../../src/ledger/git/checkout.ts';
import { type CommandResult, trueup } from '../captured-host.ts';
import { git, makeRemote } from '../ledger/git-remote.ts';
import { stackText } from '../rig/stack-folder.ts';
import { temporaryFolder, writeFiles } from '../rig/temporary-folder.ts';

/** The stack file is not at the root, as with several stacks in one repository. */
const folder = 'stacks/pay';
export const ref = 'refs/trueup-approvals/payments';
export const day = 86_400_000;

export interface Key {
  /** path of the private key */
  readonly file: string;
  /** type and base64 */
  readonly publicKey: string;
}

/** The environment that ssh-keygen and git need, without the settings of the user who runs the tests. */
export function cleanEnv(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  };
}

export function makeKey(name: string, ...options: readonly string[]): Key {
  const file = join(temporaryFolder(), name);
  const args = options.length === 0 ? ['-t', 'ed25519'] : options;
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', name, ...args, '-f', file]);
  const [type, key] = readFileSync(`${file}.pub`, 'utf8').split(' ');
  return { file, publicKey: `${type} ${key}` };
}

/** A line of an allowed signers file; by default for the namespace of trueup. */
export function line(names: string, { publicKey }: Key, options = 'namespaces="trueup-approval@v1"'): string {
  return `${names} ${options} ${publicKey}\n`;
}

export interface SignedStack {
  /** the folder of the stack in the clone */
  readonly directory: string;
  readonly remote: string;
  readonly env: Readonly<Record<string, string>>;
  /** writes files of the stack's folder, commits and pushes them, and gives the commit */
  commit(files: Readonly<Record<string, string>>, ...options: readonly string[]): string;
  /** `trueup approve` with these arguments */
  approve(args: readonly string[], now?: number): Promise<CommandResult>;
  /** approves HEAD with a key that is allowed only by an unpushed commit in the signer's clone */
  approveAsStranger(key: Key, digest: string): Promise<CommandResult>;
  /** reads the approvals as an apply of HEAD would, with the first commit as the base */
  read(change?: Partial<SignaturesInput>): Promise<FoundSignatures>;
  /** the files of the ref */
  kept(): Record<string, string>;
  /** replaces the tree of the ref with these entries, as anybody who can push could */
  push(entries: readonly { readonly mode?: string; readonly path: string; readonly text: string }[]): void;
}

/**
 * A stack with two commits by `writer@example.com`: `base` is the first, HEAD the pull request.
 * @param allowed the text of the allowed signers
 */
export function signedStack(allowed: string, spec: object = {}): SignedStack & { readonly base: string } {
  const { clone: cloneOf, directory: remote } = makeRemote();
  const clone = cloneOf();
  const directory = join(clone, folder);
  const env = cleanEnv(temporaryFolder());
  const commit: SignedStack['commit'] = (files, ...options) => {
    writeFiles(directory, files);
    git(clone, 'add', '.');
    git(
      clone,
      '-c',
      'user.email=writer@example.com',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      'change',
      ...options,
    );
    git(clone, 'push', '--quiet', '--force', 'origin', 'HEAD:main');
    return git(clone, 'rev-parse', 'HEAD');
  };
  const approvals = { from: [{ signers: 'allowed_signers' }], ...spec };
  const targets = [{ name: 'prod', service: 'cluster-auth', mount: 'cluster', url: 'embedded' }];
  const base = commit({
    'trueup.yaml': stackText({ targets, spec: { approvals } }),
    'manifests.yaml': '',
    allowed_signers: allowed,
  });
  commit({});
  const read: SignedStack['read'] = async (change = {}) => {
    const at = { directory, env };
    const head = git(clone, 'rev-parse', 'HEAD');
    const paths = [`${folder}/allowed_signers`];
    const rulesAt = async (id: string) => ({
      allowed: await readAllowedSigners(at, { commit: id, paths }),
      selfApprove: false,
    });
    return readSignatures({
      stack: 'payments',
      repository: { remotes: await addressesOfRemote(at, 'origin'), path: `${folder}/trueup.yaml` },
      git: at,
      remote: 'origin',
      head: await rulesAt(head),
      proposals: [
        {
          pullRequest: 7,
          heads: [head],
          base: await rulesAt(base),
          authors: await readCommitAuthors(at, git(clone, 'rev-list', `${base}..${head}`).split('\n')),
        },
      ],
      now: Date.now(),
      signal: new AbortController().signal,
      ...change,
    });
  };
  const approve: SignedStack['approve'] = (args, now) =>
    trueup(['approve', ...args], { cwd: directory, env, ...(now && { now: () => now }) });
  return {
    base,
    directory,
    remote,
    env,
    commit,
    approve,
    approveAsStranger: async (key, digest) => {
      const head = git(clone, 'rev-parse', 'HEAD');
      writeFiles(directory, { allowed_signers: line('stranger@example.com', key) });
      git(clone, 'commit', '--quiet', '--all', '-m', 'own signer');
      const ran = await approve([digest, '--yes', '--key', key.file, '--commit', head]);
      git(clone, 'reset', '--quiet', '--hard', head);
      return ran;
    },
    read,
    kept: () => {
      const paths = git(remote, 'ls-tree', '-r', '--name-only', ref).split('\n');
      const show = (path: string) =>
        execFileSync('git', ['show', `${ref}:${path}`], { cwd: remote, encoding: 'utf8' });
      return Object.fromEntries(paths.map((path) => [path, show(path)]));
    },
    push: (entries) => pushTree(remote, entries),
  };
}

/** Supports one level of folders. */
function pushTree(
  remote: string,
  entries: readonly { readonly mode?: string; readonly path: string; readonly text: string }[],
): void {
  const run = (args: readonly string[], input: string) =>
    execFileSync('git', [...args], { cwd: remote, input, encoding: 'utf8' }).trim();
  const ids = new Map<string, string>();
  const idOf = (text: string) => {
    const id = ids.get(text) ?? run(['hash-object', '-w', '--stdin'], text);
    ids.set(text, id);
    return id;
  };
  const folders = Map.groupBy(entries, ({ path }) => path.split('/')[0] ?? '');
  const trees = [...folders].map(([name, files]) => {
    const lines = files.map(
      ({ mode = '100644', path, text }) => `${mode} blob ${idOf(text)}	${path.slice(name.length + 1)}`,
    );
    return `040000 tree ${run(['mktree'], `${lines.join('\n')}\n`)}\t${name}`;
  });
  const tree = run(['mktree'], trees.map((one) => `${one}\n`).join(''));
  git(remote, 'update-ref', ref, git(remote, 'commit-tree', tree, '-m', 'x'));
}
