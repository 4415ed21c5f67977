/** A stack with an embedded service that counts the requests of each command, by method and route. */
import type { OrganizationSeed, WorkspaceSeed } from '../../../src/server/seed/seed-schema.ts';
import type { ServedRequest } from '../../../src/server/start-server.ts';
import type { CommandResult } from '../captured-host.ts';
import { type SeenRequest, startFaultyProxy } from '../cli/faulty-proxy.ts';
import { smallSeed, startService } from '../rig/embedded-service.ts';
import { clusterAuthTarget, type StackFile, stackIn, workspacesTarget } from '../rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../rig/temporary-folder.ts';
import { type Lack, lacking } from '../simulation/limited-service.ts';

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly adopt?: boolean };
  readonly spec: object;
}

export interface Counted extends CommandResult {
  /** the number of requests by line, such as `GET /workspaces/:workspace_id` */
  readonly requests: Readonly<Record<string, number>>;
}

export interface CountedStack {
  readonly directory: string;
  /** replaces the manifests of the stack; writes JSON, which is YAML */
  declare(manifests: readonly Manifest[]): Promise<void>;
  run(...args: readonly string[]): Promise<Counted>;
  /** sends a request without trueup. @param path below the root of the API */
  send(method: string, path: string, body?: object): Promise<void>;
  close(): Promise<void>;
}

export interface CountedOptions {
  readonly organization?: Partial<OrganizationSeed>;
  /** the dialect of workspaces; the dialect under test by default */
  readonly dialect?: string;
  /** further members of the target of workspaces */
  readonly target?: object;
  /** requests per second: the clock of the commands moves only with requests, at this rate */
  readonly perSecond?: number;
  /** what the service lacks; requests are then counted at the proxy in front of it */
  readonly lacks?: readonly Lack[];
  /** opens a proxy, which the stack uses instead of the service */
  readonly through?: (url: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
}

export const stackName = 'scale';
const token = 'scale-token';
const serviceToken = 'scale-service-token';

/** A workspace that the stack has created earlier. */
export function owned(name: string): WorkspaceSeed {
  return { name, 'tag-bindings': { 'trueup-stack': stackName }, 'source-name': `trueup/${stackName}` };
}

export function workspace(name: string, spec: object = {}, metadata: { adopt?: boolean } = {}): Manifest {
  return { kind: 'Workspace', metadata: { name, ...metadata }, spec };
}

export function role(name: string): Manifest {
  const spec = { boundServiceAccountNames: ['a'], boundServiceAccountNamespaces: ['b'] };
  return { kind: 'ClusterAuthRole', metadata: { name }, spec };
}

/** `count` names in the order that the service lists them in. */
export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(5, '0')}`);
}

/** The counted requests that write. */
export function writes(requests: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(requests).filter(([line]) => !/^(GET|LIST) /.test(line)));
}

export async function openCountedStack(options: CountedOptions = {}): Promise<CountedStack> {
  const { organization = {}, through, lacks, dialect, perSecond } = options;
  const seed = smallSeed({ owners: { scale: token }, serviceToken, organization });
  const service = await startService({ seed, ...(dialect === undefined ? {} : { dialects: [dialect] }) });
  const limited = lacks && (await startFaultyProxy(() => service.url));
  limited?.setHandler(lacking(...(lacks ?? [])));
  const counted = () => limited?.seen ?? service.requests;
  const began = Date.now();
  /** the number of requests of earlier commands */
  let asked = 0;
  const passage = limited ?? (await through?.(service.url));
  const stack = stackIn({
    directory: makeFolder(),
    ...(perSecond && { now: () => began + ((asked + counted().length) / perSecond) * 1000 }),
    stack: stackAt(passage?.url ?? service.url, {
      ...(dialect === undefined ? {} : { dialect }),
      ...options.target,
    }),
    env: { API_TOKEN: token, SERVICE_TOKEN: serviceToken },
  });
  return {
    directory: stack.directory,
    declare: (manifests) => stack.write('manifests.yaml', asDocuments(manifests)),
    run: async (...args) => {
      asked += counted().length;
      service.requests.length = 0;
      limited?.reset();
      const ran = await stack.tryRun(args);
      return { ...ran, requests: limited ? countByPath(limited.seen) : countByRoute(service.requests) };
    },
    send: (method, path, body) => send(`${service.url}/api/v2${path}`, method, body),
    close: async () => {
      await passage?.close();
      await service.close();
      removeFolder(stack.directory);
    },
  };
}

export function asDocuments(manifests: readonly Manifest[]): string {
  return manifests
    .map((manifest) => `---\n${JSON.stringify({ apiVersion: 'trueup.dev/v1', ...manifest })}\n`)
    .join('');
}

function stackAt(url: string, target: object): StackFile {
  return {
    name: stackName,
    targets: [workspacesTarget(url, target), clusterAuthTarget(url)],
    // These tests count requests, so guards must not block.
    spec: {
      guards: {
        maxDeletes: 100_000,
        maxDeletePercent: 100,
        maxUpdatePercent: 100,
        allow: ['adopt', 'unrecorded'],
      },
    },
  };
}

function countByRoute(
  served: readonly Pick<ServedRequest, 'method' | 'route' | 'url'>[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, route, url } of served) {
    // All paths of a mount have one route.
    const place = route === '/v1/*' ? url : route.replace('/api/v2', '');
    const line = `${method} ${place}`;
    counts[line] = (counts[line] ?? 0) + 1;
  }
  return counts;
}

/** Counts recorded requests as `countByRoute` does. */
function countByPath(seen: readonly SeenRequest[]): Record<string, number> {
  const routed = seen.map(({ method, path }) => {
    const route = path
      .replace(/\?.*/, '')
      .replace(/organizations\/[^/]+/, 'organizations/:organization_name')
      .replace(/workspaces\/ws-[^/]+/, 'workspaces/:workspace_id')
      .replace(/projects\/prj-[^/]+/, 'projects/:project_id');
    return { method, route, url: path };
  });
  return countByRoute(routed);
}

async function send(url: string, method: string, body: object | undefined): Promise<void> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
}
