/** What changed in the policies between two versions of a stack, for plans and applies in CI. Loads code only for stacks with policies. */
import type { LoosenedSetting } from '../../model/guard.ts';
import type { PolicyRef, PolicySource, PolicyText } from '../../model/policy-source.ts';
import type { Stack } from '../../model/stack.ts';
import type { LoosenedPolicies } from '../../policies/loosened.ts';
import type { CliHost } from '../host.ts';
import type { PolicyRun } from '../policies.ts';
import { branchOfJob } from './job.ts';

export type { LoosenedPolicies };

interface PolicyVersion {
  readonly stack: Stack;
  readonly commit: string;
  /** the path of the stack file, from the root of the repository */
  readonly path: string;
}

/**
 * What the files of policies loosen between two commits, and the policies of both commits that hold in addition to the stack's own.
 * @throws LedgerError when a commit cannot be read
 */
export async function policiesBetween(
  before: PolicyVersion,
  after: PolicyVersion,
  { host, at }: PolicyRun,
): Promise<LoosenedPolicies> {
  if (!hasPolicies(before.stack)) return nothingLoosened;
  const { policyTextsAt } = await import('../../policies/read-sources.ts');
  const git = { ...at, secrets: host.secrets };
  const texts = { before: await policyTextsAt(before, git), after: await policyTextsAt(after, git) };
  const { loosenedPolicies } = await import('../../policies/loosened.ts');
  const found = await loosenedPolicies(texts, before.commit, { kinds: host.kinds, now: host.now() });
  // The branch may be ahead of the commit that is applied, with policies that were not compared here.
  const own: PolicySource = { texts: texts.after, commit: after.commit, earlier: true };
  const branch = branchOfJob(host.env);
  const isJobBranch = ({ ref }: PolicyRef) =>
    branch !== undefined && [branch, `refs/heads/${branch}`].includes(ref);
  const mayBeAhead =
    after.stack.policies?.some((source) => 'git' in source && isJobBranch(source.git)) === true;
  return mayBeAhead && texts.after.length > 0 ? { ...found, sources: [...found.sources, own] } : found;
}

/** Adds the policies of an earlier commit that the stack has loosened since. @throws LedgerError */
export async function withEarlierPolicies(
  settings: { readonly stack: Stack; readonly loosened: readonly LoosenedSetting[] },
  [before, after]: readonly [PolicyVersion | undefined, PolicyVersion],
  run: PolicyRun,
) {
  if (before === undefined) return settings;
  const { sources, loosened } = await policiesBetween(before, after, run);
  return {
    stack: withPolicySources(settings.stack, sources),
    loosened: [...settings.loosened, ...loosened],
  };
}

/** Like `policiesBetween`, for two commits whose files are in folders. @param commit the earlier commit */
export async function policiesInFolders(
  [before, after]: readonly [StackInFolder, StackInFolder],
  commit: string,
  host: CliHost,
): Promise<LoosenedPolicies> {
  if (!hasPolicies(before.stack)) return nothingLoosened;
  const texts = { before: await policyTextsOf(before, host), after: await policyTextsOf(after, host) };
  const { loosenedPolicies } = await import('../../policies/loosened.ts');
  return loosenedPolicies(texts, commit, { kinds: host.kinds, now: host.now() });
}

/** The texts of the policies of a stack; none if it has no policies. @throws LedgerError */
export async function policyTextsOf(
  { stack, root }: StackInFolder,
  { env }: CliHost,
): Promise<readonly PolicyText[]> {
  if (!hasPolicies(stack)) return [];
  const { policyTextsIn } = await import('../../policies/read-sources.ts');
  const { directory } = stack;
  return policyTextsIn(stack, root, { cwd: directory, git: { directory, env } });
}

export interface StackInFolder {
  readonly stack: Stack;
  /** the top of the folder with the files of its commit */
  readonly root: string;
}

function hasPolicies({ policies = [] }: Stack): boolean {
  return policies.length > 0;
}

const nothingLoosened: LoosenedPolicies = { loosened: [], sources: [] };

export function withPolicySources(stack: Stack, sources: readonly PolicySource[]): Stack {
  return sources.length === 0 ? stack : { ...stack, policies: [...(stack.policies ?? []), ...sources] };
}
