/** One case of the random tests in `test/loop`: makes a live state, plans and applies a stack, and plans again. */
import { expect } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { isRead } from '../cli/faulty-proxy.ts';
import { expectLive } from './expect-live.ts';
import type { CommandResult } from '../captured-host.ts';
import type { HandAction } from './random-actions.ts';
import type { StackDraft } from './random-stacks.ts';
import {
  consent,
  errorsIn,
  type LedgerFate,
  type PlanOutput,
  refusals,
  showDraft,
  shown,
  StackFolder,
} from './stack-folder.ts';
import { carryOut, show } from './tenant-client.ts';
import { bystander, type Tenant, type TenantPool } from './world.ts';

export interface Step {
  /** changes by others before the stack is applied */
  readonly drift: readonly HandAction[];
  readonly ledger: LedgerFate;
  readonly stack: StackDraft;
}

export interface Case {
  /** the index in `organizationSettings` of the settings that the organization has */
  readonly settingsIndex: number;
  readonly steps: readonly Step[];
}

export interface Tools {
  readonly tenants: TenantPool;
  isPlan(value: unknown): boolean;
}

/** `converged`, `invalid` (not a valid stack), or the code of the problem that the plan reported. */
export type Ending = string;

/** @returns the ending of the last step. The steps before it make the live state, and each apply is checked. */
export async function converge({ settingsIndex, steps }: Case, tools: Tools): Promise<Ending> {
  const tenant = await tools.tenants.take(settingsIndex);
  const folder = new StackFolder(tenant);
  try {
    let ending: Ending = 'invalid';
    for (const { drift, ledger, stack } of steps) {
      await carryOut(drift, tenant);
      await folder.takeLedger(ledger);
      folder.write(stack);
      if (ledger === 'recovered') await recover({ folder, tenant, tools });
      ending = await applyStack({ folder, tenant, tools });
    }
    const last = steps.at(-1);
    if (last !== undefined && ending === 'converged') {
      const again = await folder.run('plan', '--exit-code');
      expect(again.code, shown(again)).toBe(0);
      await expectLive(last.stack, tenant);
    }
    return ending;
  } finally {
    folder.remove();
  }
}

interface Place {
  readonly folder: StackFolder;
  readonly tenant: Tenant;
  readonly tools: Tools;
}

/**
 * Nothing is recovered for invalid manifests, which the plan reports. After an apply without its ledger the tags have several stack
 * ids; then the stack takes over all of them.
 */
async function recover({ folder, tenant }: Place): Promise<void> {
  tenant.requests.length = 0;
  let ran = await folder.run('recover', '--yes');
  if (ran.code === 9) ran = await folder.run('recover', '--yes', '--adopt-repository');
  expect([0, 7], shown(ran)).toContain(ran.code);
  expect(writesIn(tenant)).toEqual([]);
}

/**
 * Whether an apply exited with 6 only because it changed the duration of a project, from which the service computes times of the
 * workspaces in it. Then an update of such a time is stale, or the plan expected a value that the workspace had only inherited from the
 * former duration. The next plan and apply fix that.
 */
function isStaleByProject({ changes }: PlanOutput, { code, out }: CommandResult): boolean {
  const changesDuration = changes.some(
    ({ address, fields = [] }) =>
      address.startsWith('Project/') && fields.some(({ path }) => path === '/autoDestroyActivityDuration'),
  );
  return (
    code === 6 &&
    changesDuration &&
    /^ +autoDestroy\w+ (changed since| sent )|its resources are destroyed/m.test(out)
  );
}

async function applyStack(place: Place, isRepeated = false): Promise<Ending> {
  const { folder, tenant } = place;
  const plan = await planStack(place);
  if (plan === undefined) return 'invalid';
  const before = await bystanderOf(tenant);
  const sent = tenant.requests.length;
  const applied = await folder.run('apply', ...consent(plan));
  expect(applied.out, 'the same plan again').toContain(`digest ${plan.digest}`);
  expect(await bystanderOf(tenant)).toEqual(before);
  const [problem] = errorsIn(plan);
  if (problem === undefined) {
    if (isStaleByProject(plan, applied) && !isRepeated) return applyStack(place, true);
    expect(applied.code, shown(applied)).toBe(0);
    // The service stores the values that it receives, and shows them.
    expect(applied.out).not.toMatch(/with another value than sent|cannot be verified/);
    return 'converged';
  }
  expect(applied.code, shown(applied)).not.toBe(0);
  expect(writesIn(tenant, sent)).toEqual([]);
  return problem.code;
}

/** The output of `plan`; undefined if the manifests are not valid. */
async function planStack({ folder, tenant, tools }: Place): Promise<PlanOutput | undefined> {
  tenant.requests.length = 0;
  const planned = await folder.run('plan', '--format', 'json');
  if (planned.code === 7 && tenant.requests.length === 0) return undefined;
  expect(writesIn(tenant)).toEqual([]);
  const plan = JSON.parse(planned.out) as PlanOutput;
  expect(tools.isPlan(plan), shown(planned)).toBe(true);
  const errors = errorsIn(plan);
  expect(errors.filter(({ code }) => !refusals.has(code))).toEqual([]);
  expect(planned.code === 0, shown(planned)).toBe(errors.length === 0);
  return plan;
}

function writesIn({ requests }: Tenant, from = 0): string[] {
  return requests
    .slice(from)
    .flatMap(({ method, url }) => (isRead({ method, path: url }) ? [] : [`${method} ${url}`]));
}

/** The workspace that only its owner may change. */
function bystanderOf(tenant: Tenant): Promise<Json | undefined> {
  return show(`/api/v2/organizations/${tenant.name}/workspaces/${bystander}`, tenant);
}

export function showCase({ settingsIndex, steps }: Case): string {
  const texts = steps.flatMap(({ drift, ledger, stack }, index) => [
    `===== step ${index + 1}, by hand: ${drift.length === 0 ? 'nothing' : ''}`,
    ...drift.map((action) => JSON.stringify(action)),
    `===== step ${index + 1}, applied${ledger === 'kept' ? '' : ` with its ledger ${ledger}`}:`,
    showDraft(stack),
  ]);
  return ['', `===== an organization with the settings ${settingsIndex}`, ...texts].join('\n');
}
