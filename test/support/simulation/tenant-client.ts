/** Reads of a tenant, and changes by others without trueup. A change that the service refuses is ignored. */
import { projectTagKey } from '../../../src/api/workspaces/tag-bindings.ts';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { type HandAction, ownershipBinding } from './random-actions.ts';
import { inTenant, type Tenant } from './world.ts';

/** A workspace, or a project, which has the same form. */
export interface LiveWorkspace {
  readonly id: string;
  readonly attributes: JsonObject;
  readonly relationships: JsonObject;
}

/** The `data` of a response; undefined if there is none. */
export async function show(path: string, tenant: Tenant): Promise<Json | undefined> {
  return (await ask(tenant, path, { token: tenant.ownerToken })).data;
}

export async function showMount(
  path: string,
  mount: string,
  tenant: Tenant,
): Promise<JsonObject | undefined> {
  const { data } = await ask(tenant, `/v1/auth/${mount}/${path}`, { token: tenant.serviceToken });
  return isJsonObject(data) ? data : undefined;
}

export async function workspacesOf(tenant: Tenant): Promise<readonly LiveWorkspace[]> {
  const found = await show(
    `/api/v2/organizations/${tenant.name}/workspaces?page%5Bsize%5D=100&sort=name`,
    tenant,
  );
  return (found ?? []) as unknown as readonly LiveWorkspace[];
}

export async function projectsOf(tenant: Tenant): Promise<readonly LiveWorkspace[]> {
  const found = await show(`/api/v2/organizations/${tenant.name}/projects?page%5Bsize%5D=100`, tenant);
  return (found ?? []) as unknown as readonly LiveWorkspace[];
}

export async function projectCalled(name: string, tenant: Tenant): Promise<LiveWorkspace | undefined> {
  return (await projectsOf(tenant)).find(({ attributes }) => attributes['name'] === name);
}

/** The tags of a workspace with the ownership tag; undefined if the workspace does not exist. */
export function tagsOf(id: string, tenant: Tenant): Promise<ReadonlyMap<string, string> | undefined> {
  return bindingsAt(`/api/v2/workspaces/${id}`, tenant);
}

export async function bindingsAt(
  path: string,
  tenant: Tenant,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await show(`${path}/tag-bindings`, tenant);
  if (!Array.isArray(found)) return undefined;
  return new Map(
    (found as unknown as readonly LiveWorkspace[]).map(({ attributes: { key, value } }) => [
      String(key),
      String(value ?? ''),
    ]),
  );
}

/** The consumers in the list of a workspace, without the effect of sharing with everyone. */
export async function consumersOf(id: string, tenant: Tenant): Promise<readonly LiveWorkspace[]> {
  const path = `/api/v2/workspaces/${id}/relationships/remote-state-consumers?page%5Bsize%5D=100`;
  return ((await show(path, tenant)) ?? []) as unknown as readonly LiveWorkspace[];
}

/** Replaces all tags, as another user who manages workspaces. */
export function bindTags(
  id: string,
  tags: Iterable<readonly [string, string]>,
  tenant: Tenant,
): Promise<boolean> {
  const data = [...tags].map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }));
  return sendAsOther(tenant, 'PATCH', `/api/v2/workspaces/${id}`, {
    data: { type: 'workspaces', relationships: { 'tag-bindings': { data } } },
  });
}

/** The same for a project, as the owner of the organization. */
export async function bindProjectTags(
  id: string,
  tags: Iterable<readonly [string, string]>,
  tenant: Tenant,
): Promise<boolean> {
  const data = [...tags].map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }));
  const body = { data: { type: 'projects', relationships: { 'tag-bindings': { data } } } };
  const about = { method: 'PATCH', token: tenant.ownerToken, body };
  return (await ask(tenant, `/api/v2/projects/${id}`, about)).ok;
}

/** @returns whether the service accepted it */
export async function sendAsOther(
  tenant: Tenant,
  method: string,
  path: string,
  body: JsonObject,
): Promise<boolean> {
  return (await ask(tenant, path, { method, token: tenant.otherToken, body })).ok;
}

export async function carryOut(actions: readonly HandAction[], tenant: Tenant): Promise<void> {
  for (const action of actions) {
    if (/^(workspace|project)\//.test(action.path)) await changeResource(action, tenant);
    else
      await ask(tenant, `/v1/auth/${tenant.name}/${action.path}`, { ...action, token: tenant.serviceToken });
  }
}

async function changeResource(action: HandAction, tenant: Tenant): Promise<void> {
  const [kind = '', name = '', ...below] = action.path.split('/');
  const id = kind === 'project' ? (await projectCalled(name, tenant))?.id : await idOf(name, tenant);
  if (id === undefined) return;
  const body = action.body && (await withIds(inTenant(action.body, tenant.name), tenant));
  const token = action.who === 'owner' ? tenant.ownerToken : tenant.otherToken;
  const path = `/api/v2/${kind}s/${id}`;
  await ask(tenant, [path, ...below].join('/'), {
    method: action.method,
    token,
    ...(body && { body: action.keepsOwnership ? await withOwnership(body, path, tenant) : body }),
  });
}

async function idOf(name: string, tenant: Tenant): Promise<string | undefined> {
  const found = await show(`/api/v2/organizations/${tenant.name}/workspaces/${name}`, tenant);
  return isJsonObject(found) && typeof found['id'] === 'string' ? found['id'] : undefined;
}

/** Replaces `workspace/<name>` by the id of that workspace, and leaves out missing workspaces. */
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

async function withOwnership(body: JsonObject, path: string, tenant: Tenant): Promise<JsonObject> {
  const key = path.startsWith('/api/v2/projects/') ? projectTagKey : ownershipTagKey;
  const value = (await bindingsAt(path, tenant))?.get(key);
  if (value === undefined) return body;
  return JSON.parse(JSON.stringify(body), (name, member: unknown) =>
    name === 'tag-bindings' && isJsonObject(member as Json)
      ? { data: [...(member as { data: Json[] }).data, ownershipBinding(value, key)] }
      : member,
  );
}

interface RequestOptions {
  readonly method?: string;
  readonly token: string;
  readonly body?: JsonObject;
}

async function ask(
  tenant: Tenant,
  path: string,
  { method = 'GET', token, body }: RequestOptions,
): Promise<{ readonly ok: boolean; readonly data: Json | undefined }> {
  const answer = await fetch(`${tenant.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/vnd.api+json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status >= 500) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  const document = (text === '' ? null : JSON.parse(text)) as Json;
  return { ok: answer.ok, data: isJsonObject(document) ? document['data'] : undefined };
}
