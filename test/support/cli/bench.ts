/**
 * A test bench: the embedded service on a free port, a proxy in front of it that records requests, and stacks in
 * temporary directories. All of it is removed at the end of the test.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import type { PolicyCapability } from '../../../src/server/cluster-auth/policy-rules.ts';
import type { OrganizationSeed, Seed } from '../../../src/server/seed/seed-schema.ts';
import type { CommandResult } from '../captured-host.ts';
import { smallSeed, startService } from '../rig/embedded-service.ts';
import { clusterAuthTarget, type StackFolder, stackIn, workspacesTarget } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { TestClient } from '../server/serve-for-test.ts';
import { type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts';

/** Secrets in the environment of the CLI. None of these values may ever be printed or stored. */
export const secrets = {
  API_TOKEN: 'planted-api-token-6b1f',
  SERVICE_TOKEN: 'planted-service-token-93ac',
  READ_API_TOKEN: 'planted-read-only-api-token-2d70',
  READ_SERVICE_TOKEN: 'planted-read-only-service-token-e815',
  REVIEWER_JWT: 'planted.reviewer.jwt-44f2',
};

const owner = 'owner-who-works-past-trueup';

const readOnlyRules = [{ path: 'auth/*', capabilities: ['read', 'list'] as const }];

function seedOf({
  organization = {},
  people = {},
  others = [],
  mounts = ['cluster'],
  readOnly = readOnlyRules,
}: BenchOptions): Seed {
  const owners = { ci: secrets.API_TOKEN, ann: owner, ...people };
  const readers = { name: 'readers', token: secrets.READ_API_TOKEN, 'read-workspaces': true };
  const small = smallSeed({
    owners,
    organization: {
      'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }],
      'oauth-tokens': [{ id: 'ot-git' }],
      ...organization,
      teams: [readers, ...(organization.teams ?? [])],
    },
  });
  const teams = [{ name: 'owners', members: Object.keys(owners) }];
  return {
    ...small,
    organizations: [...(small.organizations ?? []), ...others.map((name) => ({ name, teams }))],
    mounts,
    policies: [{ name: 'read-only', rules: readOnly }],
    'service-tokens': [
      { token: secrets.SERVICE_TOKEN, policies: ['root'] },
      { token: secrets.READ_SERVICE_TOKEN, policies: ['read-only'] },
    ],
  };
}

export interface BenchOptions {
  /** further members of the organization `acme` in the seed */
  readonly organization?: Partial<OrganizationSeed>;
  /** further owners of the organization, and their tokens */
  readonly people?: Readonly<Record<string, string>>;
  /** further organizations that the same tokens can read */
  readonly others?: readonly string[];
  readonly mounts?: readonly string[];
  /** the dialects of the service; the dialect under test by default */
  readonly dialects?: readonly string[];
  /** the edition of the service; by default that of the dialect */
  readonly edition?: string;
  /** the clock of the service */
  readonly now?: () => Date;
  /** requests per second that the service allows each user; no limit when absent */
  readonly rateLimit?: number;
  /** rules of the policy that the read-only service token has */
  readonly readOnly?: readonly {
    readonly path: string;
    readonly capabilities: readonly PolicyCapability[];
  }[];
}

export interface Bench {
  /** between the CLI and the service */
  readonly wire: FaultyProxy;
  /** a client with the token of an owner, for changes without trueup; it bypasses the proxy */
  readonly byHand: TestClient;
  /** the same for a mount. @returns the `data` of the response */
  byHandMount(method: string, path: string, body?: object, mount?: string): Promise<Record<string, unknown>>;
  /** the ids of all live workspaces with this name */
  idsOf(name: string): Promise<string[]>;
  /** @throws when there is no such workspace, or more than one */
  idOf(name: string): Promise<string>;
  /** tags bound to the workspace itself, the ownership tag among them, without the id of its stack */
  tagsOf(name: string): Promise<Record<string, unknown>>;
  /** method and path of each write so far, ids as `ws-…` */
  written(): string[];
  /** a stack in its own directory, whose targets are at the proxy */
  checkout(stack?: StackOptions): Promise<Checkout>;
}

export interface StackOptions {
  readonly name?: string;
  readonly renamedFrom?: string | undefined;
  /** further members of the target of workspaces (`acme`), or of cluster auth (`prod`) */
  readonly workspaces?: object;
  readonly clusterAuth?: object;
  /** further members of `spec` */
  readonly spec?: object;
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const { dialects = [], edition, now, rateLimit } = options;
  const more = {
    ...(edition === undefined ? {} : { edition }),
    ...(now === undefined ? {} : { now }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
  };
  const server = await startService({ seed: seedOf(options), dialects, ...more });
  onTestFinished(() => server.close());
  const wire = await openFaultyProxy(server.url);
  const byHand = new TestClient(server.url, owner);
  const idsOf = async (name: string) => {
    const { resources } = await byHand.get('/organizations/acme/workspaces?page%5Bsize%5D=100');
    return resources.flatMap(({ id, attributes }) => (attributes['name'] === name ? [id] : []));
  };
  const idOf = async (name: string) => {
    const [id, ...more] = await idsOf(name);
    if (id === undefined || more.length > 0)
      throw new Error(`${more.length + (id === undefined ? 0 : 1)} workspaces are called ${name}`);
    return id;
  };
  return {
    wire,
    byHand,
    byHandMount: (method, path, body, mount = 'cluster') =>
      sendToMount(`${server.url}/v1/auth/${mount}/${path}`, method, body),
    idsOf,
    idOf,
    tagsOf: async (name) => {
      const { resources } = await byHand.get(`/workspaces/${await idOf(name)}/tag-bindings`);
      return Object.fromEntries(
        resources.map(({ attributes: { key, value } }) => [key, withoutId(String(value))]),
      );
    },
    written: () => wire.writes().map(({ method, path }) => `${method} ${path.replace(/ws-\w+/, 'ws-…')}`),
    checkout: async (stack = {}) =>
      checkoutIn(temporaryFolder(), { wire, dropIds: () => dropIds(byHand) }, stack),
  };
}

/** Removes the stack ids from all ownership tags, as they were before stacks had ids. */
async function dropIds(byHand: TestClient): Promise<void> {
  const { resources } = await byHand.get('/organizations/acme/workspaces?page%5Bsize%5D=100');
  for (const { id } of resources) {
    const bindings = (await byHand.get(`/workspaces/${id}/tag-bindings`)).resources;
    const ownershipTag = bindings.find(({ attributes }) => attributes['key'] === 'trueup-stack');
    const value = ownershipTag && withoutId(String(ownershipTag.attributes['value']));
    if (value === undefined) continue;
    const attributes = { key: 'trueup-stack', value };
    await byHand.patch(`/workspaces/${id}/tag-bindings`, { data: [{ type: 'tag-bindings', attributes }] });
  }
}

/** The id of a stack is random. */
function withoutId(ownershipTag: string): string {
  return ownershipTag.replace(/:id=[0-9a-f]{8}$/, '');
}

async function sendToMount(url: string, method: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method,
    headers: { 'x-service-token': secrets.SERVICE_TOKEN },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
  const text = await answer.text();
  return text === '' ? {} : (JSON.parse(text) as { data: Record<string, unknown> }).data;
}

export interface Checkout extends StackFolder {
  /** plans, and applies that plan with all of its guards acknowledged, as a user who has read it would */
  applyAcknowledged(): Promise<CommandResult>;
  /** declares these documents, applies them, and clears the recorded requests */
  setUp(...documents: readonly object[]): Promise<void>;
  /** deletes the ledger, and the stack ids in ownership tags: with them, nothing is planned until the ledger is rebuilt */
  loseLedger(): Promise<void>;
  /** removes the stack ids from all ownership tags, as they were before stacks had ids */
  dropIds(): Promise<void>;
  /** rewrites the stack file with these options changed. @returns the stack in the same directory */
  reconfigure(stack: StackOptions): Promise<Checkout>;
}

interface CheckoutPlace {
  readonly wire: FaultyProxy;
  dropIds(): Promise<void>;
}

function checkoutIn(directory: string, place: CheckoutPlace, options: StackOptions): Checkout {
  const { wire, dropIds } = place;
  const { workspaces, clusterAuth, ...more } = options;
  const targets = [workspacesTarget(wire.url, workspaces), clusterAuthTarget(wire.url, clusterAuth)];
  const folder = stackIn({
    directory,
    stack: { ...more, manifests: ['manifests/*.yaml'], targets },
    env: secrets,
    manifestsFile: 'manifests/all.yaml',
  });
  return {
    ...folder,
    applyAcknowledged: async () => {
      const { out } = await folder.tryRun(['plan', '--format', 'json']);
      const { digest, acknowledge } = JSON.parse(out) as PlanJson;
      return folder.run(['apply', '--approve', digest, '--again', '--ack', acknowledge.join(',')], 0);
    },
    setUp: async (...documents) => {
      await folder.declare(...documents);
      await folder.run(['apply', '--yes'], 0);
      wire.reset();
    },
    dropIds,
    loseLedger: async () => {
      await rm(folder.ledgerFile);
      await dropIds();
    },
    reconfigure: async (stack) => checkoutIn(directory, place, { ...options, ...stack }),
  };
}

/** Rewrites the ledger of the stack `payments` in version 1, which has no identities of targets. */
export async function toVersion1(stack: Checkout, approved?: object): Promise<void> {
  await stack.dropIds();
  const { records } = await stack.ledger();
  const kept = approved === undefined ? records : [records, approved];
  const checksum = createHash('sha256').update(JSON.stringify(kept)).digest('hex');
  const text = { version: 1, stack: 'payments', serial: 7, checksum, ...(approved && { approved }), records };
  await stack.write(join('.trueup', 'payments.ledger.json'), JSON.stringify(text));
}
