/** One case from its beginning to its end: a live state is made, a stack is planned and applied to it, and planned again. */
import { isRead } from '../cli/faulty-proxy.ts';
import { expect } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import type { Ran } from '../captured-host.ts';
import type { Deed } from './arbitrary-drift.ts';
import type { StackDraft } from './arbitrary-stack.ts';
import { carryOut, show } from './carry-out.ts';
import { expectLive } from './expect-live.ts';
import { bystander } from './neighbours.ts';
import { type LedgerFate, showDraft, StackFolder } from './stack-folder.ts';
import type { Tenant, TenantPool } from './tenants.ts';

export interface Step {
  /** what others do first */
  readonly drift: readonly Deed[];
  readonly ledger: LedgerFate;
  readonly stack: StackDraft;
}

export interface Case {
  /** of the organization */
  readonly habit: number;
  readonly steps: readonly Step[];
}

export interface Tools {
  readonly tenants: TenantPool;
  isPlan(value: unknown): boolean;
}

/** `converged`, `invalid` (no valid stack: not what this is about), or the code of the problem that the plan told. */
export type Ending = string;

/** What a plan may refuse although the stack itself is valid, because of what is live or what is not known any more. */
export const refusals: ReadonlySet<string> = new Set([
  // somebody shares the state with everyone, and the manifest has a list without saying "globalRemoteState"
  'consumers-while-global',
  // somebody took the name, took the claim, or the ledger that knew better is lost
  'exists-unclaimed',
  'claimed-by-another-stack',
  'claimed-by-another-id',
  'reviewer-jwt-would-be-wiped',
  // somebody gave the repository an expression for tags, and the manifest asks for file triggers without a word on it
  'regex-with-file-triggers',
  // the manifest has a part of a repository, and there is none
  'vcs-repo-incomplete',
  // a role's live values that the manifest does not mention do not fit what it declares
  'ttl-over-maximum',
  'batch-periodic',
  'batch-counted',
  // a tombstone for what is protected, or is not ours
  'protected',
  'not-ours',
  // a schedule that would destroy what is protected
  'protected-destroy',
]);

/** The ending of the last step; the steps before it make the live state, and an apply proves itself on the way. */
export async function converge({ habit, steps }: Case, tools: Tools): Promise<Ending> {
  const tenant = await tools.tenants.take(habit);
  const folder = await StackFolder.make(tenant);
  try {
    let ending: Ending = 'invalid';
    for (const [index, step] of steps.entries()) {
      await carryOut(step.drift, tenant);
      await folder.takeLedger(step.ledger);
      await folder.write(step.stack);
      if (step.ledger === 'recovered') await recover({ folder, tenant, tools });
      ending = await applyStack({ folder, tenant, tools });
      const isLast = index === steps.length - 1;
      if (isLast && ending === 'converged') await expectNothingLeft(step.stack, { folder, tenant, tools });
    }
    return ending;
  } finally {
    await folder.remove();
  }
}

interface Place {
  readonly folder: StackFolder;
  readonly tenant: Tenant;
  readonly tools: Tools;
}

/** Of invalid manifests nothing is recovered, and the plan reports them. */
async function recover({ folder, tenant }: Place): Promise<void> {
  tenant.requests.length = 0;
  const { code, out, err } = await folder.run('recover', '--yes');
  expect([0, 7], `exit code ${code}\n${out}${err}`).toContain(code);
  expect(writesIn(tenant)).toEqual([]);
}

async function applyStack(place: Place): Promise<Ending> {
  const { folder, tenant } = place;
  const plan = await planStack(place);
  if (plan === undefined) return 'invalid';
  const before = await untouched(tenant);
  const sent = tenant.requests.length;
  const applied = await folder.run('apply', ...consent(plan));
  expect(applied.out, 'the same plan again').toContain(`digest ${plan.digest}`);
  expect(await untouched(tenant)).toEqual(before);
  const [problem] = problemsOf(plan);
  if (problem === undefined) {
    expect(applied.code, told(applied)).toBe(0);
    // No service here keeps anything else than it was sent, or hides what it keeps.
    expect(applied.out).not.toMatch(/answered otherwise than sent|cannot be verified/);
    return 'converged';
  }
  expect(applied.code, told(applied)).not.toBe(0);
  expect(writesIn(tenant, sent)).toEqual([]);
  return problem.code;
}

/** By the plan's own word, and by what the API answers. */
async function expectNothingLeft(stack: StackDraft, { folder, tenant }: Place): Promise<void> {
  const again = await folder.run('plan', '--exit-code');
  expect(again.code, told(again)).toBe(0);
  await expectLive(stack, tenant);
}

/** What `plan` prints; undefined when the manifests are not valid. */
async function planStack({ folder, tenant, tools }: Place): Promise<PlanOutput | undefined> {
  tenant.requests.length = 0;
  const planned = await folder.run('plan', '--format', 'json');
  if (planned.code === 7 && tenant.requests.length === 0) return undefined;
  expect(writesIn(tenant)).toEqual([]);
  const plan = JSON.parse(planned.out) as PlanOutput;
  expect(tools.isPlan(plan), told(planned)).toBe(true);
  const problems = problemsOf(plan);
  expect(problems.filter(({ code }) => !refusals.has(code))).toEqual([]);
  expect(planned.code === 0, told(planned)).toBe(problems.length === 0);
  return plan;
}

/** Who has read the plan lets its guards pass; one that no guard blocks needs no more than a yes. */
export function consent({ digest, acknowledge }: Pick<PlanOutput, 'digest' | 'acknowledge'>): string[] {
  return acknowledge.length === 0
    ? ['--yes']
    : ['--approve', digest, '--again', '--ack', acknowledge.join(',')];
}

interface PlanOutput {
  readonly digest: string;
  readonly acknowledge: readonly string[];
  readonly problems: readonly { readonly code: string; readonly severity: string }[];
}

function problemsOf({ problems }: PlanOutput) {
  return problems.filter(({ severity }) => severity === 'error');
}

function writesIn({ requests }: Tenant, from = 0): string[] {
  return requests
    .slice(from)
    .flatMap(({ method, url }) => (isRead({ method, path: url }) ? [] : [`${method} ${url}`]));
}

/** What nobody but its owner may ever change. */
function untouched(tenant: Tenant): Promise<Json | undefined> {
  return show(`/api/v2/organizations/${tenant.name}/workspaces/${bystander}`, tenant);
}

function told({ code, out, err }: Ran): string {
  return `exit code ${code}\n${out}${err}`;
}

export function showCase({ habit, steps }: Case): string {
  const shown = steps.flatMap(({ drift, ledger, stack }, index) => [
    `===== step ${index + 1}, by hand: ${drift.length === 0 ? 'nothing' : ''}`,
    ...drift.map((deed) => JSON.stringify(deed)),
    `===== step ${index + 1}, applied${ledger === 'kept' ? '' : ` with its ledger ${ledger}`}:`,
    showDraft(stack),
  ]);
  return ['', `===== an organization of habit ${habit}`, ...shown].join('\n');
}
