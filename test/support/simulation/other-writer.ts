/**
 * The other people of a storm. A gentle one adds to what nobody else speaks for: consumers and tags that no manifest
 * declares, at moments that are not inside the one window that the service leaves open; none of that may be
 * lost. A rough one does anything to anything, at any moment.
 */
import { isJsonObject } from '../../../src/model/json.ts';
import { isStranger } from './invariants.ts';
import type { HandAction } from './random-actions.ts';
import type { StackDraft } from './random-stacks.ts';
import { bindTags, carryOut, consumersOf, sendAsOther, show, tagsOf, workspacesOf } from './tenant-client.ts';
import type { Dice, OtherWriter } from './weather.ts';
import { billing, bystander, neighbourId, type Tenant } from './world.ts';

/** Does each action at a request that the dice choose. */
export function roughWriter(actions: readonly HandAction[], tenant: Tenant, dice: Dice): OtherWriter {
  const due = actions.map((action, index) => ({ action, at: 1 + Math.floor(dice('action', index) * 60) }));
  return {
    before: async (_, count) => {
      await carryOut(
        due.filter(({ at }) => at === count).map(({ action }) => action),
        tenant,
      );
    },
    after: async () => {},
    losses: async () => [],
  };
}

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
      if (count === 5) await consume(neighbourId(bystander, tenant));
    },
    // A plan that is made from this list does not know; what it writes is read again only later.
    after: async ({ path }) => {
      if (!/workspaces\?.*number%5D=1$/.test(path)) return;
      lists += 1;
      for (const { id, attributes } of await workspacesOf(tenant)) {
        if (isStranger(id, tenant)) continue;
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
        return tags !== undefined && tags.get('by-storm') !== 'theirs';
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

/** Adds one to the set as it is: a careful person. False when the workspace is not there, or has no room. */
async function addTag(id: string, tenant: Tenant): Promise<boolean> {
  const before = await tagsOf(id, tenant);
  if (before === undefined || before.size >= 9) return false;
  return bindTags(id, [...before, ['by-storm', 'theirs']], tenant);
}

function addConsumer(id: string, tenant: Tenant): Promise<boolean> {
  return sendAsOther(tenant, 'POST', `/api/v2/workspaces/${id}/relationships/remote-state-consumers`, {
    data: [{ type: 'workspaces', id: neighbourId(billing, tenant) }],
  });
}

/** undefined when the workspace is not there any more, or shares its state with everyone. */
async function hasConsumer(id: string, tenant: Tenant): Promise<boolean | undefined> {
  const live = await show(`/api/v2/workspaces/${id}`, tenant);
  if (!isJsonObject(live) || !isJsonObject(live['attributes'])) return undefined;
  if (live['attributes']['global-remote-state'] === true) return undefined;
  return (await consumersOf(id, tenant)).some((consumer) => consumer.id === neighbourId(billing, tenant));
}

async function filterAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(test));
  return items.filter((_, index) => kept[index]);
}
