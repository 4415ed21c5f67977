/**
 * Compares manifests with the responses of the API, by the specifications and without trueup's comparison: if that ignored a
 * field, its plans would be empty, and only this check would fail.
 */
import { expect } from 'vitest';
import { projectTagKey } from '../../../src/api/workspaces/tag-bindings.ts';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../../src/model/json.ts';
import { matchesPattern } from '../../../src/model/name-pattern.ts';
import type { Manifest, StackDraft } from './random-stacks.ts';
import { kebabCase, snakeCase } from '../../../src/model/field.ts';
import { stackName } from './stack-folder.ts';
import {
  bindingsAt,
  consumersOf,
  type LiveWorkspace,
  projectCalled,
  show,
  showMount,
  tagsOf,
} from './tenant-client.ts';
import { inTenant, mounts, type Tenant } from './world.ts';

/** Fields of a Workspace that are attributes of the same name, and the value that null means, if null is allowed. */
const attributes: Readonly<Record<string, Json | undefined>> = {
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  fileTriggersEnabled: true,
  globalRemoteState: false,
  description: null,
  workingDirectory: null,
  triggerPrefixes: [],
  triggerPatterns: [],
  engineVersion: undefined,
  autoDestroyActivityDuration: undefined,
};

const relationships = { projectId: 'project', sshKeyId: 'ssh-key', agentPoolId: 'agent-pool' };

export async function expectLive({ manifests, defaults }: StackDraft, tenant: Tenant): Promise<void> {
  for (const manifest of manifests) {
    if (manifest.spec === undefined || manifest.kind === 'ClusterAuthConfig') continue;
    const below = defaults[manifest.kind];
    const spec = inTenant(withDefaults(isJsonObject(below) ? below : {}, manifest.spec), tenant.name);
    const { name } = manifest.metadata;
    if (manifest.kind === 'ClusterAuthRole') {
      for (const mount of mountsOf(manifest, tenant))
        expectRole((await showMount(`role/${name.toLowerCase()}`, mount, tenant)) ?? {}, spec);
    } else if (manifest.kind === 'Project') await expectProject({ ...manifest, spec }, tenant);
    else await expectWorkspace({ ...manifest, spec }, tenant);
  }
}

async function expectProject({ metadata, spec = {} }: Manifest, tenant: Tenant): Promise<void> {
  const live = await projectCalled(metadata.name, tenant);
  expect(live, `project ${metadata.name}`).toBeDefined();
  if (live === undefined) return;
  const { description, autoDestroyActivityDuration: duration, defaultExecutionMode: mode } = spec;
  if (description !== undefined)
    expect(nullIfEmpty(live.attributes['description'])).toBe(nullIfEmpty(description));
  if (duration !== undefined) expect(live.attributes['auto-destroy-activity-duration']).toBe(duration);
  const own = memberOf(live.attributes['setting-overwrites'], 'default-execution-mode');
  if (mode === null) expect(own).toBe(false);
  else if (mode !== undefined) expect([live.attributes['default-execution-mode'], own]).toEqual([mode, true]);
  const { defaultAgentPoolId: pool } = spec;
  if (typeof pool === 'string') expect(relatedId(live, 'default-agent-pool')).toBe(pool);
  const found = new Map(await bindingsAt(`/api/v2/projects/${live.id}`, tenant));
  const flags = [
    ...(metadata['protect'] === true ? ['protect'] : []),
    ...(metadata['onRemove'] === 'release' ? ['release'] : []),
  ];
  expect(found.get(projectTagKey)?.replace(/:id=[0-9a-f]{8}$/, '')).toBe([stackName, ...flags].join(':'));
  found.delete(projectTagKey);
  const { tags } = spec;
  if (tags === undefined) return;
  const declared = Object.entries(isJsonObject(tags) ? tags : {}).map(([key, value]) => [key, value ?? '']);
  expect(found).toEqual(new Map(declared as [string, string][]));
}

/** Puts defaults under a spec. The execution mode has an old and a new name: that of the manifest wins, with either name. */
function withDefaults({ operations, executionMode, ...rest }: JsonObject, own: JsonObject): JsonObject {
  const hasOwnMode = own['operations'] !== undefined || own['executionMode'] !== undefined;
  const mode = executionMode === undefined ? { operations } : { executionMode };
  const defaults = JSON.parse(JSON.stringify({ ...rest, ...(hasOwnMode ? {} : mode) })) as JsonObject;
  const [below, above] = [defaults['tags'], own['tags']];
  const tags = isJsonObject(below) && isJsonObject(above) ? { tags: { ...below, ...above } } : {};
  return { ...defaults, ...own, ...tags };
}

async function expectWorkspace({ kind, metadata, spec = {} }: Manifest, tenant: Tenant): Promise<void> {
  const found = await show(`/api/v2/organizations/${tenant.name}/workspaces/${metadata.name}`, tenant);
  const live = found as unknown as LiveWorkspace;
  if (kind === 'Workspace') {
    expect(attributesAsDeclared(spec, live)).toEqual(declaredAttributes(spec));
    expectExecution(spec, live.attributes);
    expectRepository(spec['vcsRepo'], live.attributes['vcs-repo']);
    if (typeof spec['project'] === 'string')
      expect(relatedId(live, 'project')).toBe((await projectCalled(spec['project'], tenant))?.id);
  }
  await expectTags({ kind, metadata, spec }, live, tenant);
  const consumers = kind === 'Workspace' ? spec['remoteStateConsumers'] : spec['consumers'];
  if (consumers !== undefined) await expectConsumers(consumers, live, tenant);
}

function declaredAttributes(spec: JsonObject): JsonObject {
  const plain = Object.entries(attributes).flatMap(([name, fallback]) => {
    const value = spec[name];
    if (value === undefined) return [];
    return [[name, value === null || value === '' ? (fallback ?? null) : value] as const];
  });
  const related = Object.keys(relationships).flatMap((name) =>
    spec[name] === undefined ? [] : [[name, spec[name]] as const],
  );
  return {
    ...Object.fromEntries([...plain, ...related]),
    ...(Array.isArray(spec['tagNames']) ? { tagNames: lower(spec['tagNames']) } : {}),
    ...(isJsonObject(spec['lock']) ? { lock: true } : {}),
  };
}

function attributesAsDeclared(spec: JsonObject, live: LiveWorkspace): JsonObject {
  const plain = Object.keys(attributes).flatMap((name) =>
    spec[name] === undefined ? [] : [[name, ownValue(name, live, spec[name])] as const],
  );
  const related = Object.entries(relationships).flatMap(([name, relationship]) => {
    if (spec[name] === undefined) return [];
    // A workspace without its own pool shows the inherited one.
    const inherits = name === 'agentPoolId' && spec[name] === null;
    return [[name, inherits ? null : relatedId(live, relationship)] as const];
  });
  return {
    ...Object.fromEntries([...plain, ...related]),
    ...(Array.isArray(spec['tagNames']) ? { tagNames: lower(live.attributes['tag-names']) } : {}),
    ...(isJsonObject(spec['lock']) ? { lock: live.attributes['locked'] ?? null } : {}),
  };
}

/** A workspace without its own duration shows that of its project. A declared duration may be inherited, because it is in effect. */
function ownValue(name: string, { attributes: all }: LiveWorkspace, declared: Json): Json {
  const isInherited = all['inherits-project-auto-destroy'] === true && typeof declared !== 'string';
  const inherits = name === 'autoDestroyActivityDuration' && isInherited;
  return inherits ? null : nullIfEmpty(all[kebabCase(name)]);
}

/** The service returns a cleared text as it was sent, so "" means the same as null. */
function nullIfEmpty(value: Json | undefined): Json {
  return value === undefined || value === '' ? null : value;
}

function expectExecution(spec: JsonObject, live: JsonObject): void {
  const { executionMode, operations } = spec;
  const mode =
    executionMode ?? (operations === undefined ? undefined : operations === false ? 'local' : 'remote');
  const own = isJsonObject(live['setting-overwrites']) ? live['setting-overwrites']['execution-mode'] : null;
  if (executionMode === null) expect(own).toBe(false);
  else if (mode !== undefined) expect([live['execution-mode'], own]).toEqual([mode, true]);
}

function expectRepository(declared: Json | undefined, live: Json | undefined): void {
  if (declared === undefined) return;
  if (declared === null) expect(live).toBeNull();
  for (const [name, value] of Object.entries(isJsonObject(declared) ? declared : {})) {
    const found = isJsonObject(live) ? live[kebabCase(name)] : undefined;
    if (value === null || value === '') expect([null, '', false, undefined]).toContain(found);
    else expect(found).toEqual(value);
  }
}

/** Expects the ownership tag, and exactly the declared tags besides those in `keep`. */
async function expectTags(manifest: Manifest, live: LiveWorkspace, tenant: Tenant): Promise<void> {
  const { kind, metadata, spec = {} } = manifest;
  const found = (await tagsOf(live.id, tenant)) ?? new Map<string, string>();
  if (kind === 'Workspace') {
    const flags = [
      ...(metadata['protect'] === true ? ['protect'] : []),
      ...(metadata['onRemove'] === 'release' ? ['release'] : []),
    ];
    // The id is that of the ledger; a tag that was set manually has none.
    expect(found.get(ownershipTagKey)?.replace(/:id=[0-9a-f]{8}$/, '')).toBe([stackName, ...flags].join(':'));
  }
  if (kind === 'RemoteStateConsumers' || spec['tags'] === undefined) return;
  const declared = isJsonObject(spec['tags']) ? spec['tags'] : {};
  for (const [key, value] of Object.entries(declared)) expect(found.get(key)).toBe(value ?? '');
  // Defaults can also keep tags with a short form, so only a separate document is checked.
  if (kind !== 'TagBindings') return;
  const kept = (Array.isArray(spec['keep']) ? spec['keep'] : []).map(String);
  const isOthers = (key: string) => kept.some((pattern) => matchesPattern(key, pattern));
  const more = [...found.keys()].filter((key) => key !== ownershipTagKey && !Object.hasOwn(declared, key));
  expect(more.filter((key) => !isOthers(key))).toEqual([]);
}

async function expectConsumers(declared: Json, live: LiveWorkspace, tenant: Tenant): Promise<void> {
  const names = (await consumersOf(live.id, tenant)).map((consumer) => String(consumer.attributes['name']));
  expect(names.toSorted()).toEqual((Array.isArray(declared) ? declared : []).map(String).toSorted());
}

/** The paths of the mounts of a document. */
function mountsOf({ metadata: { target = 'prod', targets } }: Manifest, tenant: Tenant): string[] {
  const named = Array.isArray(targets) ? targets : [target];
  return named.map((name) => (name === 'spare' ? mounts.spare : mounts.prod)(tenant.name));
}

function expectRole(live: JsonObject, spec: JsonObject): void {
  for (const field of ['boundServiceAccountNames', 'boundServiceAccountNamespaces'] as const) {
    if (spec[field] !== undefined) expect(sorted(live[snakeCase(field)])).toEqual(sorted(spec[field]));
  }
  for (const field of [
    'audience',
    'tokenNumUses',
    'tokenNoDefaultPolicy',
    'tokenTtl',
    'tokenPeriod',
  ] as const) {
    const value = spec[field];
    if (typeof value === 'number' || typeof value === 'boolean') expect(live[snakeCase(field)]).toBe(value);
    else if (value === null) expect(['', 0, false, undefined]).toContain(live[snakeCase(field)]);
  }
  const policies = spec['tokenPolicies'];
  if (Array.isArray(policies)) expect(sorted(live['token_policies'])).toEqual(sorted(policies));
}

function relatedId({ relationships: all }: LiveWorkspace, name: string): Json {
  const data = isJsonObject(all[name]) ? all[name]['data'] : null;
  return isJsonObject(data) ? (data['id'] ?? null) : null;
}

function lower(names: Json | undefined): string[] {
  return sorted(names).map((name) => name.toLowerCase());
}

function sorted(values: Json | undefined): string[] {
  return (Array.isArray(values) ? values.map(String) : []).toSorted((a, b) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
}
