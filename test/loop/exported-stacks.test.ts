/**
 * The law of exports: whatever is live, the manifests that an export writes are adopted without a change, and nothing live
 * has changed by that but the claim. `npm run loop` tries new cases, as many as it is asked for.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ownershipTagKey } from '../../src/model/resource.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { PlanJson } from '../../src/report/json/plan-schema.ts';
import type { Ran } from '../support/captured-host.ts';
import { type Deed, drift } from '../support/loop/arbitrary-drift.ts';
import { type StackDraft, stackDraft } from '../support/loop/arbitrary-stack.ts';
import { consent } from '../support/loop/converge.ts';
import { carryOut, show } from '../support/loop/carry-out.ts';
import { habits, inTenant } from '../support/loop/neighbours.ts';
import { showDraft, StackFolder } from '../support/loop/stack-folder.ts';
import { type Tenant, TenantPool } from '../support/loop/tenants.ts';
import { clusterAuthTarget, type StackFile, stackIn, workspacesTarget } from '../support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../support/rig/temporary-folder.ts';

const cases = Number(process.env['TRUEUP_CASES'] ?? 15);
const tenants = new TenantPool();
afterAll(() => tenants.close());

interface Case {
  readonly habit: number;
  /** what made the organization and the mount what they are */
  readonly made: StackDraft;
  readonly drift: readonly Deed[];
  /** defaults and owned names of the stack that takes all of it over */
  readonly taker: Pick<StackDraft, 'defaults' | 'owns'>;
  readonly group: string;
}

const arbitraryCase: fc.Arbitrary<Case> = fc
  .record({
    habit: fc.nat({ max: habits.length - 1 }),
    made: stackDraft,
    drift,
    taker: stackDraft.map(({ defaults, owns }) => ({ defaults, owns })),
    group: fc.constantFrom('per-resource', 'per-kind', 'one-file'),
  })
  .map((made) => ({
    ...made,
    [fc.toStringMethod]: () =>
      `\n===== habit ${made.habit}, made by\n${showDraft(made.made)}\n===== then ${JSON.stringify(made.drift)}\n===== taken by ${JSON.stringify(made.taker)} ${made.group}`,
  }));

describe('What an export writes of a random organization and mount', () => {
  it('is adopted without any other change, and then nothing is left to plan', async () => {
    const endings = { adopted: 0, warned: 0 };
    await fc.assert(
      fc.asyncProperty(arbitraryCase, async (one) => {
        const warned = await takeOver(one);
        fc.pre(warned !== undefined);
        endings[warned ? 'warned' : 'adopted'] += 1;
      }),
      { numRuns: cases, maxSkipsPerRun: 10, endOnFailure: process.env['TRUEUP_SHRINK'] === 'no' },
    );
    console.log(endings);
    if (cases >= 50) expect(endings.adopted).toBeGreaterThan(0.6 * cases);
  }, 3_600_000);
});

/** Undefined for a stack that cannot make anything; else whether the export warned of what it could not say. */
async function takeOver({ habit, made, drift: deeds, taker, group }: Case): Promise<boolean | undefined> {
  const tenant = await tenants.take(habit);
  const maker = await StackFolder.make(tenant);
  const directory = makeFolder();
  try {
    await maker.write(made);
    const planned = await maker.run('plan', '--format', 'json');
    if (planned.code !== 0) return undefined;
    const first = await maker.run('apply', ...consent(JSON.parse(planned.out)));
    expect(first.code, told(first)).toBe(0);
    await carryOut(deeds, tenant);
    await dropClaims(tenant);
    const stack = inTenant(stackOf(taker, tenant), tenant.name);
    const { tryRun } = stackIn({ directory, stack, env: tokensOf(tenant) });
    await mkdir(join(directory, 'out'));
    const before = await snapshot(tenant);
    const run = (...args: readonly string[]) => tryRun(args);
    const exported = await run('export', '--out', 'out', '--group', group);
    const warned = exported.err.includes('warning:');
    expect(exported.code === 0 || warned, told(exported)).toBe(true);
    if (exported.err.includes('nothing to export')) return true;
    await expectAdoptions(await run('plan', '--format', 'json'), exported);
    if (exported.err.includes('a plan is going')) return true;
    const applied = await run('apply', '--yes');
    expect(applied.code, told(exported) + told(applied)).toBe(0);
    const again = await run('plan', '--exit-code');
    expect(again.code, told(exported) + told(again)).toBe(0);
    expect(await snapshot(tenant)).toEqual(before);
    return warned;
  } finally {
    await maker.remove();
    removeFolder(directory);
  }
}

async function expectAdoptions(planned: Ran, exported: Ran): Promise<void> {
  const plan: PlanJson = JSON.parse(planned.out);
  expect(
    plan.problems.filter(({ severity }) => severity === 'error'),
    told(exported),
  ).toEqual([]);
  const foretold = (address: string) => exported.err.includes(`warning: ${address}:`);
  const others = plan.changes.filter(
    ({ address, action, fields }) =>
      !(action === 'adopt' && fields.every(({ path }) => path === '/claim')) && !foretold(address),
  );
  expect(
    others.map(({ address, action, fields }) => ({ address, action, fields })),
    told(exported),
  ).toEqual([]);
}

function told({ code, out, err }: Ran): string {
  return `exit code ${code}\n${out}${err}`;
}

const tokensOf = ({ ownerToken, serviceToken }: Tenant) => ({
  API_TOKEN: ownerToken,
  SERVICE_TOKEN: serviceToken,
});

function stackOf({ defaults, owns }: Case['taker'], { url, name }: Tenant): StackFile {
  return {
    name: 'taker',
    manifests: ['out/**/*.yaml'],
    targets: [
      workspacesTarget(url, { organization: name }),
      clusterAuthTarget(url, { mount: name, ...(owns === undefined ? {} : { owns }) }),
    ],
    spec: { defaults },
  };
}

async function workspacesOf(tenant: Tenant): Promise<readonly JsonObject[]> {
  const list = await show(`/api/v2/organizations/${tenant.name}/workspaces?page%5Bsize%5D=100`, tenant);
  return list as readonly JsonObject[];
}

/** As if nobody had ever used trueup there: the birth mark is of a stack of another name. */
async function dropClaims(tenant: Tenant): Promise<void> {
  for (const { id } of await workspacesOf(tenant)) {
    const bound = (await tagsOf(String(id), tenant)).filter(([key]) => key !== ownershipTagKey);
    const data = bound.map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }));
    const answer = await fetch(`${tenant.url}/api/v2/workspaces/${String(id)}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${tenant.ownerToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({ data: { type: 'workspaces', relationships: { 'tag-bindings': { data } } } }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

async function tagsOf(id: string, tenant: Tenant): Promise<[Json, Json][]> {
  const bound = (await show(`/api/v2/workspaces/${id}/tag-bindings`, tenant)) as readonly JsonObject[];
  return bound.flatMap(({ attributes }): [Json, Json][] =>
    isJsonObject(attributes) ? [[attributes['key'] ?? null, attributes['value'] ?? null]] : [],
  );
}

/** All that can be read of the tenant, but for the claim and the moments at which something changed. */
async function snapshot(tenant: Tenant): Promise<Json> {
  const workspaces = await Promise.all(
    (await workspacesOf(tenant)).map(async ({ id, attributes, relationships }) => {
      const path = `/api/v2/workspaces/${String(id)}`;
      const tags = (await tagsOf(String(id), tenant)).filter(([key]) => key !== ownershipTagKey);
      return {
        id: id ?? null,
        attributes: withoutMoments(attributes),
        relationships: relationships ?? null,
        tags: tags.map(([key, value]) => `${String(key)}=${String(value)}`).sort(),
        consumers: (await idsOf(`${path}/relationships/remote-state-consumers`, tenant)).sort(),
        retention: (await show(`${path}/relationships/data-retention-policy`, tenant)) ?? null,
      };
    }),
  );
  const names = await mountData(tenant, 'role?list=true');
  const keys = Array.isArray(names?.['keys']) ? names['keys'].map(String) : [];
  const roles = await Promise.all(
    keys.map(async (key) => [key, (await mountData(tenant, `role/${key}`)) ?? null] as const),
  );
  return {
    workspaces,
    roles: Object.fromEntries(roles),
    config: (await mountData(tenant, 'config')) ?? null,
  };
}

function withoutMoments(attributes: Json | undefined): Json {
  const {
    'updated-at': _,
    'latest-change-at': __,
    'auto-destroy-at': at = null,
    ...rest
  } = isJsonObject(attributes) ? attributes : {};
  return rest['auto-destroy-activity-duration'] === null ? { ...rest, at } : rest;
}

async function idsOf(path: string, tenant: Tenant): Promise<string[]> {
  const found = await show(`${path}?page%5Bsize%5D=100`, tenant);
  return Array.isArray(found) ? (found as readonly JsonObject[]).map(({ id }) => String(id)) : [];
}

async function mountData(tenant: Tenant, path: string): Promise<JsonObject | undefined> {
  const answer = await fetch(`${tenant.url}/v1/auth/${tenant.name}/${path}`, {
    headers: { 'x-service-token': tenant.serviceToken },
  });
  if (answer.status === 404) return undefined;
  return ((await answer.json()) as { data: JsonObject }).data;
}
