/** Services and stacks of any size for the benchmarks. The service runs in this process, separate from the measured ones. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Seed, WorkspaceSeed } from '../src/server/seed/seed-schema.ts';
import { type EmbeddedService, smallSeed, startService } from '../test/support/rig/embedded-service.ts';
import { type StackFile, stackText, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { makeFolder, removeFolder, writeFiles } from '../test/support/rig/temporary-folder.ts';
import {
  asDocuments,
  type Manifest,
  names,
  owned,
  stackName,
  workspace,
} from '../test/support/scale/counted-stack.ts';
import { env, type Measured, measure, trueup } from './processes.ts';

/** A folder with a stack, and the service of its targets. */
export interface Scene {
  readonly folder: string;
  readonly service: EmbeddedService;
  /** Runs trueup in the folder. @throws when it does not exit with 0 */
  run(...args: readonly string[]): Promise<Measured>;
  /** how many requests the last run sent */
  requests(): number;
}

/** Runs `act` with a service and a folder, which are removed afterwards. */
export async function withScene<T>(seed: Seed, act: (scene: Scene) => Promise<T>): Promise<T> {
  const service = await startService({ seed });
  const folder = makeFolder();
  const run = (...args: readonly string[]) => {
    service.requests.length = 0;
    // Drift is not a failure here.
    return measure([trueup, ...args], { cwd: folder, codes: args[0] === 'drift' ? [0, 3] : [0] });
  };
  try {
    return await act({ folder, service, run, requests: () => service.requests.length });
  } finally {
    await service.close();
    removeFolder(folder);
  }
}

/** An organization with these workspaces, and a token that may do everything. */
export function seedOf(workspaces: readonly WorkspaceSeed[] = []): Seed {
  const organization = { workspaces, 'audit-trails-token': env.SERVICE_TOKEN };
  return smallSeed({ owners: { ci: env.API_TOKEN }, organization });
}

/** Live as `declaredWorkspaces` declares them, with the ownership tag of the stack. */
export function liveWorkspaces(count: number): WorkspaceSeed[] {
  return names('ws', count).map((name, index) => {
    const seeded = owned(name);
    const tags = { ...seeded['tag-bindings'], env: 'prod', number: `${index}` };
    return { ...seeded, id: `ws-${name}`, 'tag-bindings': tags };
  });
}

export function declaredWorkspaces(count: number, prefix = 'ws'): Manifest[] {
  return names(prefix, count).map((name, index) =>
    workspace(name, { autoApply: false, tags: { env: 'prod', number: `${index}` } }),
  );
}

/** Writes a stack without limits of requests and guards. @param files the number of files for its manifests */
export function writeStack(
  { folder, service }: Pick<Scene, 'folder' | 'service'>,
  manifests: readonly Manifest[],
  { files = 100, ...more }: Partial<StackFile> & { readonly files?: number } = {},
): void {
  const guards = {
    maxDeletes: 1_000_000,
    maxDeletePercent: 100,
    maxUpdatePercent: 100,
    allow: ['adopt', 'unrecorded'],
  };
  const stack = {
    // The seeded workspaces have the tag of this stack.
    name: stackName,
    targets: [workspacesTarget(service.url)],
    manifests: ['manifests'],
    spec: { guards },
  };
  writeFiles(folder, { 'trueup.yaml': stackText({ ...stack, ...more }) });
  mkdirSync(join(folder, 'manifests'), { recursive: true });
  const byFile = Map.groupBy(manifests.entries(), ([index]) => index % files);
  const texts = [...byFile].map(([file, own]) => [
    join('manifests', `${file}.yaml`),
    asDocuments(own.map(([, manifest]) => manifest)),
  ]);
  writeFiles(folder, Object.fromEntries(texts));
}

/** Writes a stack as a template with a matrix: the services of a list in a file, in 3 environments and 10 regions. */
export function writeTemplate(scene: Pick<Scene, 'folder' | 'service'>, services: number): void {
  writeStack(scene, []);
  const regions = Array.from({ length: 10 }, (_, index) => `r${index}`);
  const rows = names('s', services).map((name) => `${name},team-${name}`);
  const template = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Workspace',
    metadata: {
      name: '${each.key}',
      each: {
        matrix: { service: { file: '../services.csv' }, env: ['dev', 'test', 'prod'], region: regions },
      },
    },
    spec: {
      description: '${each.service.key} in ${each.region}',
      autoApply: false,
      tags: { env: '${each.env}', region: '${each.region}', team: '${each.service.team}' },
    },
  };
  writeFiles(scene.folder, {
    'services.csv': ['key,team', ...rows].join('\n'),
    'manifests/all.yaml': JSON.stringify(template),
  });
}

/** Changes one setting of each workspace in the service itself. */
export async function changeLive(service: EmbeddedService, count: number): Promise<void> {
  const body = JSON.stringify({ data: { type: 'workspaces', attributes: { 'auto-apply': true } } });
  await sendEach(service, count, { method: 'PATCH', body });
}

/** Deletes the workspaces in the service itself. */
export async function deleteLive(service: EmbeddedService, count: number): Promise<void> {
  await sendEach(service, count, { method: 'DELETE' });
}

async function sendEach({ url }: EmbeddedService, count: number, request: RequestInit): Promise<void> {
  const headers = { authorization: `Bearer ${env.API_TOKEN}`, 'content-type': 'application/vnd.api+json' };
  const left = names('ws', count).values();
  const send = async () => {
    for (const name of left) {
      const answer = await fetch(`${url}/api/v2/workspaces/ws-${name}`, { ...request, headers });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 10 }, send));
}
