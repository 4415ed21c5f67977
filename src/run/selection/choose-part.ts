/** The part of a stack that a run is about: what `--select` says, or what a plan file was made for. */
import { realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { openCommits } from '../../ledger/git/read-commits.ts';
import { findRepository, slashes, standardInput } from '../../manifest/files/find-stack.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import { messageOf } from '../../model/error-message.ts';
import { canonicalText, type Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import { CommitStacks } from '../ci/commit-stacks.ts';
import { CommandStop } from '../command-stop.ts';
import type { CliHost } from '../host.ts';
import type { ChoosePart, PartInput } from '../prepare-run.ts';
import { type ChangedResources, selectDeclared, targetsOf } from './select-declared.ts';
import { invalidSelector, readSelectors, type Selector } from './selectors.ts';

/**
 * @param select the values of `--select`
 * @param saved the plan of the plan file that is applied
 * @returns undefined for a run on the whole stack
 * @throws CommandStop when both are given, or a selector cannot be read
 */
export function choosePart(select: readonly string[] | undefined, saved?: Plan): ChoosePart | undefined {
  if (select === undefined || select.length === 0)
    return saved?.part === undefined ? undefined : savedPart(saved);
  if (saved !== undefined)
    throw new CommandStop(
      'usage',
      saved.part === undefined
        ? 'the plan file is not of a part, so "--select" does not fit: plan the part with "trueup plan --select", and apply the file of that plan'
        : 'the plan file says what was selected: apply it without "--select"',
    );
  const selectors = readSelectors(select);
  const texts = [...new Set(select)].sort();
  return async (input) => {
    refuseInput(input);
    const { stack, resources, host, signal } = input;
    const changedSince = await findChanged(selectors, { stack, resources, host, signal });
    const { kinds, cwd } = host;
    const declared = { resources, kinds, directory: stack.directory, cwd, changedSince };
    const chosen = selectDeclared(selectors, declared);
    return { ...chosen, selectors: texts, targets: targetsOf(chosen.selected, declared) };
  };
}

/** The same resources as when the plan was made; one that is no longer declared is missing, so that the plan no longer fits. */
function savedPart({ part, selection = [] }: Plan): ChoosePart {
  return async (input) => {
    refuseInput(input);
    const { resources, host } = input;
    const declared = new Set(resources.map(({ address }) => formatAddress(address)));
    const selected = new Set(selection.filter((text) => declared.has(text)));
    return {
      selectors: part?.selectors ?? [],
      selected,
      excluded: new Set(),
      targets: targetsOf(selected, { resources, kinds: host.kinds }),
      begun: new Set(part?.along.map(({ address }) => address)),
    };
  };
}

function refuseInput({ isSelection }: PartInput): void {
  if (isSelection)
    throw new CommandStop(
      'usage',
      'manifests on standard input are a selection already: leave out "-" or "--select", or say with "--complete" that they are the whole stack',
    );
}

// Which declared resources differ from those of the merge base. They are compared with defaults and short forms applied, so that a change
// of the stack's defaults counts, and a change of a comment does not.

interface ChangedInput {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
  readonly host: CliHost;
  readonly signal: AbortSignal;
}

/**
 * @returns for each ref, the resources that differ
 * @throws CommandStop for a ref that the repository does not have, or if the commits cannot be read
 */
async function findChanged(
  selectors: readonly Selector[],
  input: ChangedInput,
): Promise<ReadonlyMap<string, ChangedResources>> {
  const found = new Map<string, ChangedResources>();
  for (const selector of selectors)
    if (selector.by === 'changed-since' && !found.has(selector.value))
      found.set(selector.value, await changedSince(selector, input));
  return found;
}

async function changedSince(selector: Selector, input: ChangedInput): Promise<ChangedResources> {
  const { stack, resources, host, signal } = input;
  const { root, isGit } = await findRepository(stack.directory);
  const refuse = (why: string, fix: string) =>
    CommandStop.ofProblems([invalidSelector(selector.text, why, fix)]);
  if (!isGit || stack.file === standardInput)
    throw refuse('needs a stack file in a git repository', 'select in another way');
  const { env, secrets } = host;
  const unreadable = (error: unknown) =>
    error instanceof CommandStop
      ? error
      : new CommandStop(
          'commit-unreadable',
          `the commits that ${quoted(selector.text)} needs cannot be read: ${messageOf(error)}`,
        );
  const reader = await openCommits({ directory: root, env, secrets, signal }).catch((error: unknown) => {
    throw unreadable(error);
  });
  try {
    const [commit, head] = [await reader.resolve(selector.value), await reader.resolve('HEAD')];
    if (commit === undefined)
      throw refuse(
        `names no commit, branch or tag of this repository`,
        'correct the name, or fetch it first',
      );
    if (head === undefined) throw refuse('needs a commit, and the repository has none yet', 'commit first');
    const base = await reader.mergeBase(commit, head);
    const before = await declaredAt(base, { reader, root, stack, host });
    return { commit: base, addresses: differing(resources, before) };
  } catch (error) {
    throw unreadable(error);
  } finally {
    await reader.close();
  }
}

/** The resources of the stack in a commit; none if it did not exist or was not valid. */
async function declaredAt(
  commit: string,
  about: Pick<ChangedInput, 'stack' | 'host'> & {
    readonly reader: Parameters<typeof CommitStacks.open>[0];
    readonly root: string;
  },
): Promise<readonly DesiredResource[]> {
  const { reader, root, stack, host } = about;
  const stacks = await CommitStacks.open(reader, commit, { host, isRepository: false });
  try {
    const file = await realpath(join(stack.directory, basename(stack.file)));
    const path = slashes(relative(await realpath(root), file));
    const here = await stacks.read(path);
    const elsewhere = here === undefined ? await stacks.fileOf(stack.name) : undefined;
    const found = here ?? (elsewhere === undefined ? undefined : await stacks.read(elsewhere));
    return found?.resources ?? [];
  } finally {
    await stacks.close();
  }
}

function differing(
  resources: readonly DesiredResource[],
  before: readonly DesiredResource[],
): ReadonlySet<AddressText> {
  const textOf = ({ metadata, spec }: DesiredResource) =>
    canonicalText([{ ...metadata } as Json, { ...spec }]);
  const known = new Map(before.map((resource) => [formatAddress(resource.address), textOf(resource)]));
  return new Set(
    resources
      .filter((resource) => known.get(formatAddress(resource.address)) !== textOf(resource))
      .map(({ address }) => formatAddress(address)),
  );
}
