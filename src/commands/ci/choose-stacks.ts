/**
 * Chooses the stacks of a plan job: those whose files the commits change, those that the user names, or all of them. An apply job uses
 * parts of it: which files belong to a stack, and how chosen stacks are listed.
 */
import { lstat } from 'node:fs/promises';
import { join, posix, relative, resolve } from 'node:path';
import type { CommitRange, RangeCommit } from '../../ledger/git/commits-since.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { type ChangedEntry, openCommits } from '../../ledger/git/read-commits.ts';
import { slashes, stackFileName } from '../../manifest/files/find-stack.ts';
import { matchRefs, matchStackFiles } from '../../manifest/files/match-files.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import { renderJson } from '../../report/json/render-json.ts';
import { writeOutputs } from '../../run/answer.ts';
import { CommitStacks, type StackOfCommit } from '../../run/ci/commit-stacks.ts';
import type { CiScope } from '../../run/ci/scope.ts';
import { filesOf, inRepository } from '../../run/ci/stack-files.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { declaredSources } from '../../run/needed-secrets.ts';
import { type CommandContext, printJson, textOutput } from '../../run/terminal.ts';

export interface ChosenStack {
  /** the stack file, from the top of the repository */
  readonly file: string;
  /** the folder if the stack file has its usual name, else the file; from the top of the repository */
  readonly path: string;
  /** absent if the file has errors */
  readonly name?: string;
}

export interface Choice {
  readonly chosen: readonly ChosenStack[];
  /** stacks of the repository that the commits do not change */
  readonly unchanged: readonly ChosenStack[];
  /** stacks that the commits remove */
  readonly removed: readonly ChosenStack[];
  /** stacks whose stack file the commits move */
  readonly moved: readonly MovedStack[];
}

interface MovedStack extends ChosenStack {
  /** where its file was, from the top of the repository */
  readonly from: string;
}

/** @param paths as the user typed them. @throws CommandStop for a path without a stack, and for two stacks with the same name */
export async function chooseStacks(
  scope: CiScope,
  { paths, all }: { readonly paths: readonly string[]; readonly all: boolean },
  host: CliHost,
): Promise<Choice> {
  const { head } = scope;
  const named = await Promise.all(paths.map((path) => stackFileAt(path, scope, host)));
  const files = named.length > 0 ? [...new Set(named)] : head.files();
  const isChanged = await changeFinder(scope, host);
  const stacks = await Promise.all(
    files.map(async (file) => {
      const stack = stackAt(file, await head.read(file));
      return { stack, isChosen: all || named.length > 0 || (await isChanged(file)) };
    }),
  );
  const chosen = stacks.flatMap(({ stack, isChosen }) => (isChosen ? [stack] : []));
  const [clash] = sameNames(stacks.map(({ stack }) => stack)).values();
  if (clash !== undefined) throw clash;
  const unchanged = stacks.flatMap(({ stack, isChosen }) => (isChosen ? [] : [stack]));
  const gone = named.length > 0 ? { removed: [], moved: [] } : await findGone(scope);
  return { chosen, unchanged, ...gone };
}

/** The stacks whose file is gone after the commits: moved, if another file now has a stack of the same name, else removed. */
async function findGone({ head, from }: CiScope): Promise<Pick<Choice, 'removed' | 'moved'>> {
  const known = new Set(head.files());
  const gone = (from?.files() ?? []).filter((file) => !known.has(file));
  const present = gone.length === 0 ? new Map<string, ChosenStack>() : await stacksByName(head);
  const removed: ChosenStack[] = [];
  const moved: MovedStack[] = [];
  for (const file of gone) {
    const stack = stackAt(file, await from?.read(file));
    const found = stack.name === undefined ? undefined : present.get(stack.name);
    if (found === undefined) removed.push(stack);
    else moved.push({ ...found, from: file });
  }
  return { removed, moved };
}

/** The stacks by name; a renamed stack also by its former name. */
async function stacksByName(stacks: CommitStacks): Promise<ReadonlyMap<string, ChosenStack>> {
  const found = new Map<string, ChosenStack>();
  for (const file of stacks.files()) {
    const read = await stacks.read(file);
    const { name, renamedFrom } = read?.stack ?? read?.partial ?? {};
    for (const one of [renamedFrom, name]) if (one !== undefined) found.set(one, stackAt(file, read));
  }
  return found;
}

/** @param read what the commit has in this file; undefined if it has no stack there */
export function stackAt(file: string, read: StackOfCommit | undefined): ChosenStack {
  const isUsual = posix.basename(file) === stackFileName;
  const name = (read?.stack ?? read?.partial)?.name;
  return { file, path: isUsual ? posix.dirname(file) : file, ...(name === undefined ? {} : { name }) };
}

async function stackFileAt(path: string, { root, head }: CiScope, host: CliHost): Promise<string> {
  const file = slashes(relative(root, resolve(host.cwd, path)));
  const candidates = [file, file === '' ? stackFileName : `${file}/${stackFileName}`];
  const found = candidates.find((candidate) => head.idOf(candidate) !== undefined);
  if (found !== undefined) return found;
  const isThere = await lstat(join(root, file)).then(
    () => true,
    () => false,
  );
  const why = isThere ? 'the commit that is planned has none there; commit the stack' : 'correct the path';
  throw new CommandStop('no-stack', `there is no stack at ${quoted(path)}: ${why}`);
}

/** Errors for stacks with the same name, by stack file: comments, plan files and ledgers are found by the name of their stack. */
export function sameNames(stacks: readonly ChosenStack[]): ReadonlyMap<string, CommandStop> {
  const clashes = [...Map.groupBy(stacks, ({ name }) => name)].flatMap(([name, same]) => {
    if (name === undefined || same.length === 1) return [];
    const files = same.map(({ file }) => file);
    const stop = new CommandStop(
      'same-stack-name',
      `${quoteSome(files)} have the same stack name ${quoted(name)}: give each stack its own name`,
      { exit: exitCodes.invalid },
    );
    return files.map((file) => [file, stop] as const);
  });
  return new Map(clashes);
}

/** For people: `Stack pay (stacks/pay)`. */
export function headingOf({ path, name }: ChosenStack): string {
  return name === undefined ? `Stack in ${path}` : `Stack ${name} (${path})`;
}

interface Listed {
  readonly chosen: readonly ChosenStack[];
  /** stack files that were removed */
  readonly removed: readonly string[];
}

/** Prints the stacks for a matrix of jobs. */
export function listStacks({ chosen, removed }: Listed, { host, terminal }: CommandContext): void {
  const stacks = chosen.map(({ path, name }) => ({ path, ...(name === undefined ? {} : { name }) }));
  for (const { path } of stacks) textOutput(terminal)?.write(`${path}\n`);
  printJson(terminal, () => renderJson({ version: 1, stacks, removed }));
  writeOutputs(host, { stacks: JSON.stringify(stacks.map(({ path }) => path)) });
}

/** A function that says whether the commits change a file of a stack, as it is now or was before. Without a base, always true. */
async function changeFinder(
  { reader, head, from }: CiScope,
  host: CliHost,
): Promise<(file: string) => Promise<boolean>> {
  if (from === undefined) return async () => true;
  const changed = await reader.changed(from.commit, head.commit);
  return async (file) => {
    const versions = await Promise.all([head.read(file), from.read(file)]);
    return versions.some((version) => version !== undefined && hasChanged(version, file, { changed, host }));
  };
}

/** Whether a changed file belongs to a stack. @param file the stack file, from the top of the repository */
export function hasChanged(
  version: StackOfCommit,
  file: string,
  { changed, host }: { readonly changed: readonly ChangedEntry[]; readonly host: Pick<CliHost, 'kinds'> },
): boolean {
  const folder = posix.dirname(file);
  const fromStack = (path: string) => posix.relative(`/${folder}`, `/${path}`);
  const stack = version.stack ?? version.partial;
  // The files of a stack with errors are not known: any file in its folder may belong to it.
  if (stack === undefined) return changed.some(({ path }) => !fromStack(path).startsWith('../'));
  const { isFile, isAncestor } = matchStackFiles(stack, false);
  const isPolicy = matchRefs(stack);
  const sources = declaredSources(version.resources, host.kinds).flatMap(({ source }) =>
    'file' in source ? [source.file] : [],
  );
  const named = new Set([file, ...filesOf(stack, file), ...inRepository(sources, file)]);
  // Files behind a link or in a submodule have other paths in git, so any changed file may be one of them.
  if (version.refused.length > 0 && changed.length > 0) return true;
  return changed.some(
    ({ path, mayHold }) =>
      named.has(path) ||
      isPolicy(path) ||
      isFile(fromStack(path)) ||
      (mayHold && isAncestor(fromStack(path))),
  );
}

/** The commits of an apply, and where its stack is in them. */
interface AppliedCommits {
  /** the clone */
  readonly at: GitContext;
  readonly range: CommitRange;
  /** the commit that is applied */
  readonly head: string;
  /** path of the stack file, from the top of the repository; `baseline` has the path before */
  readonly path: string;
  readonly baseline?: { readonly path: string } | undefined;
  /** name of the stack; `renamedFrom` is its former name, as long as the stack file has it */
  readonly stack: string;
  readonly renamedFrom?: string | undefined;
}

/**
 * The commits of the line that change a file of the stack: of its version at the head, or of its version before the commit. A commit
 * also counts if one of these versions is not found or not valid.
 * @throws LedgerError when a commit cannot be read
 */
export async function commitsOfStack(
  { at, range: { base, line }, head, path, baseline, stack, renamedFrom }: AppliedCommits,
  host: Pick<CliHost, 'kinds' | 'now'>,
): Promise<readonly RangeCommit[]> {
  if (base === undefined || line.length < 2) return line;
  const reader = await openCommits(at);
  /** The versions at all its paths: a moved stack file may be in both places for a while. */
  const readAt = async (commit: string): Promise<readonly FoundVersion[]> => {
    await reader.obtainFiles(commit);
    const stacks = await CommitStacks.open(reader, commit, { host, isRepository: false });
    try {
      const found: FoundVersion[] = [];
      for (const file of new Set([path, baseline?.path ?? path])) {
        const version = await stacks.read(file);
        // The path may have another stack at this commit.
        const { name } = version?.stack ?? version?.partial ?? {};
        const isStack = name !== undefined && [stack, renamedFrom].includes(name);
        if (version !== undefined && isStack) found.push({ version, file });
      }
      return found;
    } finally {
      await stacks.close();
    }
  };
  try {
    // If a merge brought the base into the line, the line does not begin at the base.
    const oldest = line[0]?.id ?? head;
    await reader.obtainFiles(oldest);
    if ((await reader.parentsOf(oldest))[0] !== base) return line;
    const last = await readAt(head);
    const found: RangeCommit[] = [];
    let before = await readAt(base);
    for (const [index, commit] of line.entries()) {
      const parent = line[index - 1]?.id ?? base;
      for (const one of [parent, commit.id]) await reader.obtainFiles(one);
      const changed = await reader.changed(parent, commit.id);
      const changesFile = (versions: readonly FoundVersion[]) =>
        versions.length === 0 ||
        versions.some(({ version, file }) => hasChanged(version, file, { changed, host }));
      // A commit that changes no file of the stack does not change its version.
      if (!changesFile(before) && !changesFile(last)) continue;
      found.push(commit);
      before = commit.id === head ? last : await readAt(commit.id);
    }
    return found;
  } finally {
    await reader.close();
  }
}

interface FoundVersion {
  readonly version: StackOfCommit;
  /** the stack file, from the top of the repository */
  readonly file: string;
}
