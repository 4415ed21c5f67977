/**
 * The property of exports: for any live state, exported manifests are adopted without a change, and the live state changes only by
 * the ownership tag. `npm run loop` tries any number of new cases.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { projectTagKey } from '../../src/api/workspaces/tag-bindings.ts';
import { ownershipTagKey } from '../../src/model/resource.ts';
import type { PlanJson } from '../../src/report/json/plan-schema.ts';
import type { CommandResult } from '../support/captured-host.ts';
import { stackIn } from '../support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../support/rig/temporary-folder.ts';
import type { HandAction } from '../support/simulation/random-actions.ts';
import { driftWithProjects, stackWithProjects } from '../support/simulation/random-projects.ts';
import type { StackDraft } from '../support/simulation/random-stacks.ts';
import { snapshot } from '../support/simulation/snapshot.ts';
import {
  consent,
  envOf,
  errorsIn,
  planIn,
  showDraft,
  shown,
  stackFile,
  StackFolder,
} from '../support/simulation/stack-folder.ts';
import {
  bindingsAt,
  bindProjectTags,
  bindTags,
  carryOut,
  projectsOf,
  tagsOf,
  workspacesOf,
} from '../support/simulation/tenant-client.ts';
import { organizationSettings, type Tenant, TenantPool } from '../support/simulation/world.ts';

const cases = Number(process.env['TRUEUP_CASES'] ?? 15);
const tenants = new TenantPool();
afterAll(() => tenants.close());

interface Case {
  readonly settingsIndex: number;
  /** the stack that made the organization and the mount */
  readonly made: StackDraft;
  readonly drift: readonly HandAction[];
  /** defaults and owned names of the stack that takes over all of them */
  readonly taker: Pick<StackDraft, 'defaults' | 'owns'>;
  readonly group: string;
}

const arbitraryCase: fc.Arbitrary<Case> = fc
  .record({
    settingsIndex: fc.nat({ max: organizationSettings.length - 1 }),
    made: stackWithProjects,
    drift: driftWithProjects,
    taker: stackWithProjects.map(({ defaults, owns }) => ({ defaults, owns })),
    group: fc.constantFrom('per-resource', 'per-kind', 'one-file'),
  })
  .map((made) => ({
    ...made,
    [fc.toStringMethod]: () =>
      `\n===== settings ${made.settingsIndex}, made by\n${showDraft(made.made)}\n===== then ${JSON.stringify(made.drift)}\n===== taken by ${JSON.stringify(made.taker)} ${made.group}`,
  }));

describe('The export of a random organization and mount', () => {
  it('is adopted without any other change, and then a plan is empty', async () => {
    const endings = { adopted: 0, warned: 0 };
    await fc.assert(
      fc.asyncProperty(arbitraryCase, async (one) => {
        const warned = await takeOver(one);
        fc.pre(warned !== undefined);
        endings[warned ? 'warned' : 'adopted'] += 1;
      }),
      { numRuns: cases, maxSkipsPerRun: 10, endOnFailure: process.env['TRUEUP_SHRINK'] !== 'yes' },
    );
    console.log(endings);
    if (cases >= 50) expect(endings.adopted).toBeGreaterThan(0.6 * cases);
  }, 3_600_000);
});

/** @returns whether the export warned about values that it cannot write, or undefined if the stack cannot be applied */
async function takeOver({
  settingsIndex,
  made,
  drift: actions,
  taker,
  group,
}: Case): Promise<boolean | undefined> {
  const tenant = await tenants.take(settingsIndex);
  const maker = new StackFolder(tenant);
  const directory = makeFolder();
  try {
    maker.write(made);
    const planned = await maker.run('plan', '--format', 'json');
    if (planned.code !== 0) return undefined;
    const first = await maker.run('apply', ...consent(planIn(planned)));
    expect(first.code, shown(first)).toBe(0);
    await carryOut(actions, tenant);
    await dropOwnership(tenant);
    const stack = { ...stackFile(tenant, taker), name: 'taker', manifests: ['out/**/*.yaml'] };
    const { tryRun } = stackIn({ directory, stack, env: envOf(tenant) });
    await mkdir(join(directory, 'out'));
    const before = await stateOf(tenant);
    const run = (...args: readonly string[]) => tryRun(args);
    const exported = await run('export', '--out', 'out', '--group', group);
    const warned = exported.err.includes('warning:');
    expect(exported.code === 0 || warned, shown(exported)).toBe(true);
    if (exported.err.includes('nothing to export')) return true;
    await expectAdoptions(await run('plan', '--format', 'json'), exported);
    if (exported.err.includes('a plan would')) return true;
    const applied = await run('apply', '--yes');
    expect(applied.code, shown(exported) + shown(applied)).toBe(0);
    const again = await run('plan', '--exit-code');
    expect(again.code, shown(exported) + shown(again)).toBe(0);
    expect(await stateOf(tenant)).toEqual(before);
    return warned;
  } finally {
    maker.remove();
    removeFolder(directory);
  }
}

async function expectAdoptions(planned: CommandResult, exported: CommandResult): Promise<void> {
  const plan: PlanJson = JSON.parse(planned.out);
  expect(errorsIn(plan), shown(exported)).toEqual([]);
  const isWarnedOf = (address: string) => exported.err.includes(`warning: ${address}:`);
  const others = plan.changes.filter(
    ({ address, action, fields }) =>
      !(action === 'adopt' && fields.every(({ path }) => path === '/claim')) && !isWarnedOf(address),
  );
  expect(
    others.map(({ address, action, fields }) => ({ address, action, fields })),
    shown(exported),
  ).toEqual([]);
}

/** Removes ownership tags, as if trueup was never used there. The creator mark is of another stack. */
async function dropOwnership(tenant: Tenant): Promise<void> {
  for (const { id } of await workspacesOf(tenant)) {
    const tags = [...((await tagsOf(id, tenant)) ?? [])].filter(([key]) => !ownershipTags.includes(key));
    expect(await bindTags(id, tags, tenant)).toBe(true);
  }
  for (const { id } of await projectsOf(tenant)) {
    const tags = [...((await bindingsAt(`/api/v2/projects/${id}`, tenant)) ?? [])];
    const kept = tags.filter(([key]) => key !== projectTagKey);
    if (kept.length < tags.length) expect(await bindProjectTags(id, kept, tenant)).toBe(true);
  }
}

/** Workspaces also show the tag of their project. */
const ownershipTags: readonly string[] = [ownershipTagKey, projectTagKey];

/** The live state without ownership tags. */
async function stateOf(tenant: Tenant) {
  const { workspaces, mounts } = await snapshot(tenant);
  const without = (tags: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(tags).filter(([key]) => !ownershipTags.includes(key)));
  const projects = (await projectsOf(tenant)).map(async ({ id, attributes, relationships }) => {
    const { 'updated-at': _, ...settings } = attributes;
    const tags = Object.fromEntries((await bindingsAt(`/api/v2/projects/${id}`, tenant)) ?? []);
    return { id, settings, relationships, tags: without(tags) };
  });
  return {
    workspaces: workspaces.map(({ tags, ...rest }) => ({ ...rest, tags: without(tags) })),
    mounts,
    projects: await Promise.all(projects),
  };
}
