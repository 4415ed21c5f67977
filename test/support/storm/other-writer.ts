/**
 * The other people of a storm. A gentle one adds to what nobody else speaks for: consumers and tags that no manifest
 * declares, at moments that are not inside the one window that the service leaves open (rule 14); none of that may be
 * lost. A rough one does anything to anything, at any moment.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import type { SeenRequest } from '../cli/faulty-proxy.ts';
import type { Deed } from '../loop/arbitrary-drift.ts';
import type { StackDraft } from '../loop/arbitrary-stack.ts';
import { carryOut, show } from '../loop/carry-out.ts';
import type { Tenant } from '../loop/tenants.ts';
import type { Dice } from './dice.ts';
import { strangers } from './storm-service.ts';

export interface OtherWriter {
  /** called at each request, before it is dealt with */
  before(request: SeenRequest, count: number): Promise<void>;
  /** called when the service has answered, and the answer is not passed on yet */
  after(request: SeenRequest): Promise<void>;
  /** what it did that must still be there; each a sentence when it is not */
  losses(): Promise<string[]>;
}

/** Does each deed at a request that the dice choose. */
export function roughWriter(deeds: readonly Deed[], tenant: Tenant, dice: Dice): OtherWriter {
  const due = deeds.map((deed, index) => ({ deed, at: 1 + Math.floor(dice('deed', index) * 60) }));
  return {
    before: async (_, count) => {
      await carryOut(
        due.filter(({ at }) => at === count).map(({ deed }) => deed),
        tenant,
      );
    },
    after: async () => {},
    losses: async () => [],
  };
}

type Found = { readonly id: string; readonly attributes: JsonObject };

/** Which of the lists that are read: mostly that of the first apply, the second to be read. */
const dueAt = [1, 2, 2, 2, 2, 3, 4, 5];

export function gentleWriter(draft: StackDraft, tenant: Tenant, dice: Dice): OtherWriter {
  const tagged = new Set<string>();
  const edges = new Set<string>();
  let lists = 0;
  const tag = async (id: string) => {
    if (await addTag(id, tenant)) tagged.add(id);
  };
  const consume = async (id: string) => {
    if (await addConsumer(id, tenant)) edges.add(id);
  };
  return {
    before: async (_, count) => {
      if (count === 5) await consume('ws-bystander-storm');
    },
    // A plan that is made from this list does not know; whatever it writes is looked at once more only later.
    after: async ({ path }) => {
      if (!/workspaces\?.*number%5D=1$/.test(path)) return;
      lists += 1;
      for (const { id, attributes } of await workspacesOf(tenant)) {
        const name = String(attributes['name']);
        const isDue = (what: string) => dueAt[Math.floor(dice(what, name) * dueAt.length)] === lists;
        if (isDue('tag') && !declares(draft, name, 'TagBindings', 'tags')) await tag(id);
        if (isDue('consumer') && !declares(draft, name, 'RemoteStateConsumers', 'remoteStateConsumers'))
          await consume(id);
      }
    },
    losses: async () => {
      const lostTags = await filterAsync([...tagged], async (id) => {
        const tags = await tagsOf(id, tenant);
        return tags !== undefined && tags['by-storm'] !== 'theirs';
      });
      const lostEdges = await filterAsync(
        [...edges],
        async (id) => (await hasConsumer(id, tenant)) === false,
      );
      return [
        ...lostTags.map((id) => `the tag that somebody bound to ${id} is gone`),
        ...lostEdges.map((id) => `the consumer that somebody added to ${id} is gone`),
      ];
    },
  };
}

/** Whether the stack speaks for the tags, or for the consumers, of a workspace. */
function declares({ manifests, defaults }: StackDraft, name: string, kind: string, short: string): boolean {
  const inDefaults = isJsonObject(defaults['Workspace']) && defaults['Workspace'][short] !== undefined;
  return (
    inDefaults ||
    manifests.some(
      (manifest) =>
        [manifest.metadata.name, manifest.metadata['renamedFrom']].includes(name) &&
        (manifest.kind === kind || manifest.spec?.[short] !== undefined),
    )
  );
}

/** Those that are anybody's but the strangers'. */
async function workspacesOf(tenant: Tenant): Promise<readonly Found[]> {
  const found = await show(`/api/v2/organizations/${tenant.name}/workspaces?page%5Bsize%5D=100`, tenant);
  const all = Array.isArray(found) ? (found as unknown as Found[]) : [];
  return all.filter(({ id }) => !Object.hasOwn(strangers, id));
}

async function tagsOf(id: string, tenant: Tenant): Promise<Record<string, Json> | undefined> {
  const bound = await show(`/api/v2/workspaces/${id}/tag-bindings`, tenant);
  if (!Array.isArray(bound)) return undefined;
  return Object.fromEntries(
    (bound as unknown as Found[]).map(({ attributes }) => [
      String(attributes['key']),
      attributes['value'] ?? '',
    ]),
  );
}

/** Adds one to the set as it is: a careful person. False when the workspace is not there, or has no room. */
async function addTag(id: string, tenant: Tenant): Promise<boolean> {
  const before = await tagsOf(id, tenant);
  if (before === undefined || Object.keys(before).length >= 9) return false;
  const data = Object.entries({ ...before, 'by-storm': 'theirs' }).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }));
  return send(tenant, 'PATCH', `/api/v2/workspaces/${id}`, {
    data: { type: 'workspaces', relationships: { 'tag-bindings': { data } } },
  });
}

function addConsumer(id: string, tenant: Tenant): Promise<boolean> {
  return send(tenant, 'POST', `/api/v2/workspaces/${id}/relationships/remote-state-consumers`, {
    data: [{ type: 'workspaces', id: 'ws-billing-storm' }],
  });
}

/** undefined when the workspace is not there any more, or shares its state with everyone. */
async function hasConsumer(id: string, tenant: Tenant): Promise<boolean | undefined> {
  const live = (await show(`/api/v2/workspaces/${id}`, tenant)) as unknown as Found | undefined;
  if (live === undefined || live.attributes['global-remote-state'] === true) return undefined;
  const path = `/api/v2/workspaces/${id}/relationships/remote-state-consumers?page%5Bsize%5D=100`;
  const found = await show(path, tenant);
  return Array.isArray(found) && (found as unknown as Found[]).some((edge) => edge.id === 'ws-billing-storm');
}

async function send(tenant: Tenant, method: string, path: string, body: JsonObject): Promise<boolean> {
  const answer = await fetch(`${tenant.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.otherToken}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.ok;
}

async function filterAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(test));
  return items.filter((_, index) => kept[index]);
}
