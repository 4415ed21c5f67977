/** Checks of what must be true after every storm. Each violation is a sentence. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kebabCase, snakeCase } from '../../../src/model/field.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import type { SeenRequest } from '../cli/faulty-proxy.ts';
import type { StackDraft } from './random-stacks.ts';
import { snapshot } from './snapshot.ts';
import { stackName } from './stack-folder.ts';
import { show, showMount } from './tenant-client.ts';
import { billing, bystander, mounts, neighbourId, secretsOf, type Tenant } from './world.ts';

/** Whether a workspace is not declared by a stack of a storm: without owner, or of another stack. */
export function isStranger(id: string, tenant: Tenant): boolean {
  return strangerIds(tenant).includes(id);
}

function strangerIds(tenant: Tenant): string[] {
  return [bystander, billing].map((name) => neighbourId(name, tenant));
}

/** Writes to resources that are not ours. */
export function foreignWrites(writes: readonly SeenRequest[], tenant: Tenant): string[] {
  const ours = [
    new RegExp(`^/api/v2/organizations/${tenant.name}/workspaces$`),
    new RegExp(`^/api/v2/workspaces/(?!${strangerIds(tenant).join('|')})[\\w-]+(/|$)`),
    new RegExp(`^/v1/auth/${tenant.name}(-spare)?/(config|role/(pay|other-)[^/]*)$`),
  ];
  return writes
    .filter(({ path }) => !ours.some((pattern) => pattern.test(path)))
    .map(({ method, path }) => `${method} ${path} writes what is not ours`);
}

/** The state of these workspaces, without consumers, which others may add. */
export async function strangersOf(tenant: Tenant): Promise<unknown> {
  const { workspaces } = await snapshot(tenant);
  return workspaces
    .filter(({ id }) => isStranger(id, tenant))
    .map(({ attributes, tags }) => ({ attributes, tags }));
}

/**
 * Compares the ledger with the service: recorded ids must exist, with their names and the recorded values. A resource that is kept but no
 * longer declared may have changed since, because the ledger has the last written values.
 */
export async function ledgerErrors(
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
  const errors = await Promise.all(
    Object.entries(records)
      .filter(([address]) => isDeclared(address))
      .map(async ([address, { id, fields }]) => {
        const [kind = '', target = '', name = ''] = address.split('/');
        if (kind === 'Workspace') return workspaceErrors(address, { id: id ?? 'none', name, fields }, tenant);
        if (kind === 'ClusterAuthRole') {
          const mount = (target === 'spare' ? mounts.spare : mounts.prod)(tenant.name);
          return differing(
            address,
            fields,
            (await showMount(`role/${name}`, mount, tenant)) ?? {},
            snakeCase,
          );
        }
        return [];
      }),
  );
  return errors.flat();
}

async function workspaceErrors(
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

/** Booleans and numbers that differ; other fields need the comparison of their kind. */
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

/** Secrets in the output of the runs, or in the files that trueup stores with the stack. */
export async function printedSecrets(
  printed: readonly string[],
  directory: string,
  tenant: Tenant,
): Promise<string[]> {
  const kept = join(directory, '.trueup');
  const files = await readdir(kept, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  return secretsOf(tenant)
    .filter((secret) => [...printed, ...texts].some((text) => text.includes(secret)))
    .map((secret) => `"${secret}" is printed`);
}
