/**
 * Other users during a storm. The gentle writer only adds consumers and tags that no manifest declares, and not in the one window
 * in which the service can lose them; none of them may be lost. The rough writer makes any change at any time.
 */
import { isJsonObject } from '../../../src/model/json.ts';
import { isStranger } from './invariants.ts';
import type { HandAction } from './random-actions.ts';
import type { StackDraft } from './random-stacks.ts';
import { bindTags, carryOut, consumersOf, sendAsOther, show, tagsOf, workspacesOf } from './tenant-client.ts';
import type { Dice, OtherWriter } from './weather.ts';
import { billing, bystander, neighbourId, type Tenant } from './world.ts';

/** Does each action at a random request. */
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

/** The number of the list after which the writer acts: mostly the second one, which the first apply reads. */
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
    // The plan that uses this list does not have these changes; the apply reads the resources again later.
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

/** Whether the stack declares the tags, or the consumers, of a workspace. */
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

/** Adds a tag to the current ones. False if the workspace does not exist, or cannot have more tags. */
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

/** undefined if the workspace does not exist any more, or shares its state with everyone. */
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
