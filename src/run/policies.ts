/** The policies of a stack: reads them, and adds to a plan what they say. Their code is loaded only for a stack that has some. */
import type { GitContext } from '../ledger/git/git-command.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import type { PlanOrigin } from '../model/plan.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import type { PolicyRef, PolicySource } from '../model/policy-source.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import type { LoadedPolicies } from '../policies/load-policies.ts';
import type { LoosenedPolicies } from '../policies/loosened.ts';
import { checkedChanges } from './checked-changes.ts';
import { branchOfJob } from './ci/job.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';
import type { CheckPolicies } from './make-plan.ts';

interface PolicyRun {
  readonly host: CliHost;
  /** the clone */
  readonly at: GitContext;
}

/** @throws CommandStop with the problems: without valid policies nothing is decided */
export async function loadStackPolicies(stack: Stack, { host, at }: PolicyRun): Promise<LoadedPolicies> {
  const { loadPolicies } = await import('../policies/load-policies.ts');
  const git = { ...at, secrets: host.secrets };
  const loaded = await loadPolicies(stack, { kinds: host.kinds, now: host.now(), cwd: host.cwd, git });
  if (hasErrors(loaded.diagnostics)) throw CommandStop.ofProblems(loaded.diagnostics);
  return loaded;
}

/** Of policies in files of the stack: those in a remote are not read, because nothing else is asked for this. */
export async function filePolicyProblems(stack: Stack, host: CliHost): Promise<readonly Diagnostic[]> {
  const policies = (stack.policies ?? []).filter((source) => 'files' in source);
  if (policies.length === 0) return [];
  const { loadPolicies } = await import('../policies/load-policies.ts');
  const git = { directory: stack.directory, env: host.env };
  const about = { kinds: host.kinds, now: host.now(), cwd: host.cwd, git };
  return (await loadPolicies({ ...stack, policies }, about)).diagnostics;
}

/** Undefined for a stack without policies. Each call reads them again, and takes the time of the call. */
export function policyCheckOf(
  stack: Stack,
  {
    desired,
    origin,
    ...run
  }: PolicyRun & { readonly desired: readonly DesiredResource[]; readonly origin: PlanOrigin },
): CheckPolicies | undefined {
  if (stack.policies === undefined || stack.policies.length === 0) return undefined;
  const { host } = run;
  return async (planning) => {
    const loaded = await loadStackPolicies(stack, run);
    const { checkPlan } = await import('../policies/check-plan.ts');
    const { countsOf } = await import('../policies/variables.ts');
    const { plan } = planning;
    const now = host.now();
    const checked = {
      stack: plan.stack,
      commit: origin.commit,
      time: new Date(now).toISOString(),
      counts: countsOf(plan.changes, plan.unchanged),
    };
    const changes = checkedChanges(planning, { kinds: host.kinds, desired });
    const found = await checkPlan(loaded, { changes, plan: checked }, { kinds: host.kinds, now });
    const problems = sortDiagnostics([...plan.problems, ...loaded.diagnostics, ...found.problems]);
    const guards = [...found.guards, ...plan.guards];
    const blocking = guards.filter(({ effect }) => effect !== 'warns');
    const warning = guards.filter(({ effect }) => effect === 'warns');
    return {
      ...planning,
      plan: { ...plan, guards: [...blocking, ...warning], policies: found.policies, problems },
    };
  };
}

// What changed between two versions of a stack, for `ci`.

export type { LoosenedPolicies };

interface PolicyVersion {
  readonly stack: Stack;
  readonly commit: string;
  /** of the stack file, from the root of the repository */
  readonly path: string;
}

/**
 * What the files of policies loosen between two commits, and what held before or holds at the later one.
 * @throws LedgerError when a commit cannot be read
 */
export async function policiesBetween(
  before: PolicyVersion,
  after: PolicyVersion,
  { host, at }: PolicyRun,
): Promise<LoosenedPolicies> {
  if (!hasPolicies(before.stack)) return nothingLoosened;
  const { policyTextsAt } = await import('../policies/read-sources.ts');
  const git = { ...at, secrets: host.secrets };
  const texts = { before: await policyTextsAt(before, git), after: await policyTextsAt(after, git) };
  const { loosenedPolicies } = await import('../policies/loosened.ts');
  const found = await loosenedPolicies(texts, before.commit, { kinds: host.kinds, now: host.now() });
  // The branch may be ahead of the commit that is applied, with policies that nobody has compared.
  const own: PolicySource = { texts: texts.after, commit: after.commit, earlier: true };
  const branch = branchOfJob(host.env);
  const isOwn = ({ ref }: PolicyRef) =>
    branch !== undefined && [branch, `refs/heads/${branch}`].includes(ref);
  const mayBeAhead = after.stack.policies?.some((source) => 'git' in source && isOwn(source.git)) === true;
  return mayBeAhead && texts.after.length > 0 ? { ...found, sources: [...found.sources, own] } : found;
}

/** Settings that hold, with the policies of an earlier commit that the stack has loosened since. @throws LedgerError */
export async function withEarlierPolicies(
  settled: { readonly stack: Stack; readonly loosened: readonly LoosenedSetting[] },
  [before, after]: readonly [PolicyVersion | undefined, PolicyVersion],
  run: PolicyRun,
) {
  if (before === undefined) return settled;
  const { sources, loosened } = await policiesBetween(before, after, run);
  return {
    stack: withPolicySources(settled.stack, sources),
    loosened: [...settled.loosened, ...loosened],
  };
}

/** The same where the files of both commits are in folders. @param commit of the one before */
export async function policiesInFolders(
  [before, after]: readonly [StackInFolder, StackInFolder],
  commit: string,
  host: CliHost,
): Promise<LoosenedPolicies> {
  if (!hasPolicies(before.stack)) return nothingLoosened;
  const { policyTextsIn } = await import('../policies/read-sources.ts');
  const textsOf = ({ stack, root }: StackInFolder) => {
    const { directory } = stack;
    return policyTextsIn(stack, root, { cwd: directory, git: { directory, env: host.env } });
  };
  const texts = { before: await textsOf(before), after: await textsOf(after) };
  const { loosenedPolicies } = await import('../policies/loosened.ts');
  return loosenedPolicies(texts, commit, { kinds: host.kinds, now: host.now() });
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
