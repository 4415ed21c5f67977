/** Carries deeds of other people out over the wire. What the service refuses did not happen, and that is all. */
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { claimBinding, type Deed } from './arbitrary-drift.ts';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { inTenant } from './neighbours.ts';
import type { Tenant } from './tenants.ts';

export async function carryOut(deeds: readonly Deed[], tenant: Tenant): Promise<void> {
  for (const deed of deeds) {
    if (deed.path.startsWith('workspace/')) await changeWorkspace(deed, tenant);
    else await ask(tenant, `/v1/auth/${tenant.name}/${deed.path}`, { ...deed, token: tenant.serviceToken });
  }
}

async function changeWorkspace(deed: Deed, tenant: Tenant): Promise<void> {
  const [, name = '', ...below] = deed.path.split('/');
  const id = await idOf(name, tenant);
  if (id === undefined) return;
  const body = deed.body === undefined ? undefined : await withIds(inTenant(deed.body, tenant.name), tenant);
  const token = deed.who === 'owner' ? tenant.ownerToken : tenant.otherToken;
  const path = `/api/v2/workspaces/${[id, ...below].join('/')}`;
  await ask(tenant, path, {
    method: deed.method,
    token,
    ...(body === undefined ? {} : { body: deed.keepsClaim ? await withClaim(body, id, tenant) : body }),
  });
}

async function idOf(name: string, tenant: Tenant): Promise<string | undefined> {
  const found = await show(`/api/v2/organizations/${tenant.name}/workspaces/${name}`, tenant);
  return isJsonObject(found) && typeof found['id'] === 'string' ? found['id'] : undefined;
}

/** The `data` of an answer; undefined when there is none. */
export async function show(path: string, tenant: Tenant): Promise<Json | undefined> {
  const { body } = await ask(tenant, path, { method: 'GET', token: tenant.ownerToken });
  return isJsonObject(body) ? body['data'] : undefined;
}

/** A role as the mount answers it. */
export async function showRole(name: string, mount: string, tenant: Tenant): Promise<JsonObject> {
  const path = `/v1/auth/${mount}/role/${name}`;
  const { body } = await ask(tenant, path, { method: 'GET', token: tenant.serviceToken });
  return isJsonObject(body) && isJsonObject(body['data']) ? body['data'] : {};
}

/** `workspace/<name>` as an id stands for the id of that workspace; one that is not there is left out. */
async function withIds(body: JsonObject, tenant: Tenant): Promise<JsonObject> {
  const { data } = body;
  if (!Array.isArray(data)) return body;
  const items = await Promise.all(
    (data as readonly JsonObject[]).map(async (item) => {
      const name = typeof item['id'] === 'string' ? /^workspace\/(.*)/.exec(item['id'])?.[1] : undefined;
      if (name === undefined) return item;
      const id = await idOf(name, tenant);
      return id === undefined ? undefined : { ...item, id };
    }),
  );
  return { data: items.filter((item) => item !== undefined) };
}

async function withClaim(body: JsonObject, id: string, tenant: Tenant): Promise<JsonObject> {
  const bound = await show(`/api/v2/workspaces/${id}/tag-bindings`, tenant);
  const claim = (Array.isArray(bound) ? (bound as readonly JsonObject[]) : [])
    .map(({ attributes }) => attributes)
    .find((attributes) => isJsonObject(attributes) && attributes['key'] === ownershipTagKey);
  if (!isJsonObject(claim)) return body;
  return JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === 'tag-bindings' && isJsonObject(value as Json)
      ? { data: [...(value as { data: Json[] }).data, claimBinding(String(claim['value']))] }
      : value,
  );
}

interface Asking {
  readonly method: string;
  readonly token: string;
  readonly body?: JsonObject;
}

async function ask(tenant: Tenant, path: string, { method, token, body }: Asking): Promise<{ body: Json }> {
  const answer = await fetch(`${tenant.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/vnd.api+json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status >= 500) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return { body: text === '' ? null : JSON.parse(text) };
}
