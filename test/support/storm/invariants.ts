/** What must be true after every storm, whatever happened in it. Each finding is a sentence; none is a good end. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { kebabCase, snakeCase } from '../../../src/model/field.ts';
import type { SeenRequest } from '../cli/faulty-proxy.ts';
import type { StackDraft } from '../loop/arbitrary-stack.ts';
import { show, showRole } from '../loop/carry-out.ts';
import { stackName } from '../loop/stack-folder.ts';
import { mounts, type Tenant } from '../loop/tenants.ts';
import { secrets, strangers } from './storm-service.ts';

/** Requests that went where nothing is ours. */
export function foreignWrites(writes: readonly SeenRequest[], tenant: Tenant): string[] {
  const ours = [
    new RegExp(`^/api/v2/organizations/${tenant.name}/workspaces$`),
    new RegExp(`^/api/v2/workspaces/(?!${Object.keys(strangers).join('|')})[\\w-]+(/|$)`),
    new RegExp(`^/v1/auth/${tenant.name}(-spare)?/(config|role/(pay|other-)[^/]*)$`),
  ];
  return writes
    .filter(({ path }) => !ours.some((pattern) => pattern.test(path)))
    .map(({ method, path }) => `${method} ${path} writes what is not ours`);
}

/** What the strangers are, but for the edges that others may add to them. */
export async function strangersAsTheyAre(tenant: Tenant): Promise<Json> {
  const found = await Promise.all(
    Object.keys(strangers).map(async (id) => {
      const live = await show(`/api/v2/workspaces/${id}`, tenant);
      const attributes = isJsonObject(live) && isJsonObject(live['attributes']) ? live['attributes'] : {};
      const { 'updated-at': _, ...rest } = attributes;
      return [id, rest, (await show(`/api/v2/workspaces/${id}/tag-bindings`, tenant)) ?? null] as const;
    }),
  );
  return JSON.parse(JSON.stringify(found)) as Json;
}

/**
 * The ledger against the service: ids that exist, under their names, with the values that were recorded. What the stack
 * does not declare any more, and keeps, may have moved since: that the ledger tells what we last wrote is its point.
 */
export async function ledgerLies(
  directory: string,
  { manifests }: StackDraft,
  tenant: Tenant,
): Promise<string[]> {
  const text = await readFile(join(directory, '.trueup', `${stackName}.ledger.json`), 'utf8');
  const { records } = JSON.parse(text) as {
    records: Record<string, { id?: string; fields: JsonObject }>;
  };
  const declared = new Set(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name.toLowerCase()}`));
  const isDeclared = (address: string) => {
    const [kind = '', , name = ''] = address.split('/');
    return declared.has(`${kind}/${name.toLowerCase()}`);
  };
  const lies = await Promise.all(
    Object.entries(records)
      .filter(([address]) => isDeclared(address))
      .map(async ([address, { id, fields }]) => {
        const [kind = '', target = '', name = ''] = address.split('/');
        if (kind === 'Workspace') return workspaceLies(address, { id: id ?? 'none', name, fields }, tenant);
        if (kind === 'ClusterAuthRole') {
          const mount = (target === 'spare' ? mounts.spare : mounts.prod)(tenant.name);
          return differing(address, fields, await showRole(name, mount, tenant), snakeCase);
        }
        return [];
      }),
  );
  return lies.flat();
}

async function workspaceLies(
  address: string,
  { id, name, fields }: { readonly id: string; readonly name: string; readonly fields: JsonObject },
  tenant: Tenant,
): Promise<string[]> {
  const live = await show(`/api/v2/workspaces/${id}`, tenant);
  if (!isJsonObject(live) || !isJsonObject(live['attributes']))
    return [`the ledger's ${address} has no live ${id}`];
  const attributes = live['attributes'];
  const named =
    attributes['name'] === name ? [] : [`the ledger's ${address} is called ${attributes['name']}`];
  return [...named, ...differing(address, fields, attributes, kebabCase)];
}

/** Fields that are plain on both sides and not the same; how others compare is not for this place to know. */
function differing(
  address: string,
  fields: JsonObject,
  live: JsonObject,
  wireName: (field: string) => string,
): string[] {
  const isPlain = (value: Json | undefined) => typeof value === 'boolean' || typeof value === 'number';
  return Object.entries(fields).flatMap(([field, value]) => {
    const found = live[wireName(field)];
    if (!isPlain(value) || !isPlain(found) || value === found) return [];
    return [`the ledger says ${field} of ${address} is ${value}, and it is ${found}`];
  });
}

/** Everything that a user can see of the runs: what was printed, and what is kept beside the stack. */
export async function toldSecrets(printed: readonly string[], directory: string): Promise<string[]> {
  const kept = join(directory, '.trueup');
  const files = await readdir(kept, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  return secrets
    .filter((secret) => [...printed, ...texts].some((text) => text.includes(secret)))
    .map((secret) => `"${secret}" is told`);
}
