/** All readable data of a tenant without times of changes, to compare two states. */
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { consumersOf, type LiveWorkspace, show, showMount, tagsOf, workspacesOf } from './tenant-client.ts';
import { mounts, type Tenant } from './world.ts';

export interface WorkspaceSnapshot extends LiveWorkspace {
  /** with the ownership tag */
  readonly tags: Readonly<Record<string, string>>;
  /** ids */
  readonly consumers: readonly string[];
  readonly retention: Json;
}

export interface Snapshot {
  readonly workspaces: readonly WorkspaceSnapshot[];
  readonly mounts: readonly Json[];
}

export async function snapshot(tenant: Tenant): Promise<Snapshot> {
  const workspaces = await Promise.all((await workspacesOf(tenant)).map((one) => ofWorkspace(one, tenant)));
  const paths = Object.values(mounts).map((path) => path(tenant.name));
  return { workspaces, mounts: await Promise.all(paths.map((path) => ofMount(path, tenant))) };
}

async function ofWorkspace(
  { id, attributes, relationships }: LiveWorkspace,
  tenant: Tenant,
): Promise<WorkspaceSnapshot> {
  const tags = [...((await tagsOf(id, tenant)) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    id,
    attributes: withoutTimes(attributes),
    relationships: relationships ?? null,
    tags: Object.fromEntries(tags),
    consumers: (await consumersOf(id, tenant)).map((consumer) => consumer.id).sort(),
    retention: (await show(`/api/v2/workspaces/${id}/relationships/data-retention-policy`, tenant)) ?? null,
  };
}

/** The time of an automatic destroy is also removed if the service computed it from a duration. */
function withoutTimes(attributes: JsonObject): JsonObject {
  const { 'updated-at': _, 'latest-change-at': __, 'auto-destroy-at': at = null, ...rest } = attributes;
  return rest['auto-destroy-activity-duration'] === null ? { ...rest, at } : rest;
}

async function ofMount(path: string, tenant: Tenant): Promise<Json> {
  const list = await showMount('role?list=true', path, tenant);
  const keys = Array.isArray(list?.['keys']) ? list['keys'].map(String) : [];
  const roles = await Promise.all(
    keys.map(async (key) => [key, (await showMount(`role/${key}`, path, tenant)) ?? null] as const),
  );
  return { roles: Object.fromEntries(roles), config: (await showMount('config', path, tenant)) ?? null };
}
