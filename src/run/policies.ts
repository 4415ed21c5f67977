/** The policies of a stack: reads them, and adds their results to a plan. Their code is loaded only for a stack with policies. */
import type { GitContext } from '../ledger/git/git-command.ts';
import { tagsOfProject } from '../api/workspaces/projects.ts';
import { formatAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../model/diagnostic.ts';
import type { Ledger } from '../model/ledger.ts';
import type { PlanOrigin } from '../model/plan.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { LoadedPolicies } from '../policies/load-policies.ts';
import { changesToCheck, projectsToAsk } from './checked-changes.ts';
import { type Declared, projectKey } from './checked-tags.ts';
import { CommandStop } from './command-stop.ts';
import type { Connected } from './connect.ts';
import type { CliHost } from './host.ts';
import type { CheckPolicies } from './make-plan.ts';

export interface PolicyRun {
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

/** The problems of policies in files of the stack. Policies in a remote are not read, because this sends no requests. */
export async function filePolicyProblems(stack: Stack, host: CliHost): Promise<readonly Diagnostic[]> {
  const policies = (stack.policies ?? []).filter((source) => 'files' in source);
  if (policies.length === 0) return [];
  const { loadPolicies } = await import('../policies/load-policies.ts');
  const git = { directory: stack.directory, env: host.env };
  const about = { kinds: host.kinds, now: host.now(), cwd: host.cwd, git };
  return (await loadPolicies({ ...stack, policies }, about)).diagnostics;
}

interface CheckedStack {
  /** the manifests of the whole stack; with a selection from standard input, only those on it */
  readonly manifests: { readonly resources: readonly DesiredResource[] };
  readonly origin: PlanOrigin;
  readonly ledger: Pick<Ledger, 'records'>;
  readonly connected: Pick<Connected, 'targets'>;
}

/** Checks plans with the policies of the stack; undefined for a stack without any. Each call reads them again, and uses its own time. */
export function policyCheckOf(
  stack: Stack,
  { manifests: { resources: desired }, origin, ledger, connected, ...run }: PolicyRun & CheckedStack,
): CheckPolicies | undefined {
  if (stack.policies === undefined || stack.policies.length === 0) return undefined;
  const { host } = run;
  return async (made) => {
    const loaded = await loadStackPolicies(stack, run);
    const { checkPlan } = await import('../policies/check-plan.ts');
    const { asksForTags } = await import('../policies/names-tags.ts');
    const { countsOf } = await import('../policies/variables.ts');
    const isAsked = loaded.policies.some(asksForTags);
    const declared = { kinds: host.kinds, desired, ledger };
    const planning = isAsked ? await withInheritedTags(made, connected, declared) : made;
    const { plan } = planning;
    const now = host.now();
    const checked = {
      stack: plan.stack,
      commit: origin.commit,
      time: new Date(now).toISOString(),
      counts: countsOf(plan.changes, plan.unchanged),
    };
    const changes = changesToCheck(planning, declared);
    // With a selection from standard input, or after an incomplete read, other resources of the stack are not known.
    const isWhole = plan.coverage.complete && (plan.selection === undefined || plan.part !== undefined);
    const named = [...desired, ...plan.changes].map(({ address }) => formatAddress(address));
    const addresses = isWhole ? { addresses: new Set([...named, ...ledger.records.keys()]) } : {};
    const check = { changes, plan: checked, ...addresses };
    const found = await checkPlan(loaded, check, { kinds: host.kinds, now });
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

/** Reads tags of projects that the plan has not read and that have a workspace with a change, in one list for each target. */
async function withInheritedTags(
  planning: PlanResult,
  { targets }: Pick<Connected, 'targets'>,
  declared: Declared,
): Promise<PlanResult> {
  const byTarget = Map.groupBy(projectsToAsk(planning, declared), ({ target }) => target);
  const found = await Promise.all(
    targets.flatMap(async (connected) => {
      const { name } = connected.target;
      const asked = byTarget.get(name) ?? [];
      if (asked.length === 0) return [];
      const session = connected.openSession();
      return Promise.all(
        asked.map(
          async (one) => [projectKey(name, one.project), await tagsOfProject(session, one.project)] as const,
        ),
      );
    }),
  );
  const tags = new Map(found.flat());
  return { ...planning, inheritedTags: (target, project) => tags.get(projectKey(target, project)) };
}
