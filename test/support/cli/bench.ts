/**
 * A place to try promises in: the embedded service on a free port, a proxy in front of it that writes down the wire,
 * and stacks in a temporary directory. Everything is gone when the test has ended.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Ledger } from '../../../src/model/stack/ledger.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import type { OrganizationSeed, Seed } from '../../../src/server/seed/seed.ts';
import { startServer } from '../../../src/server/start-server.ts';
import { type Ran, trueup } from '../captured-world.ts';
import { TestClient } from '../server/serve-for-test.ts';
import { type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts';

/** What the CLI finds in its environment. None of these values may ever be printed or kept. */
export const secrets = {
  API_TOKEN: 'planted-api-token-6b1f',
  SERVICE_TOKEN: 'planted-service-token-93ac',
  READ_API_TOKEN: 'planted-read-only-api-token-2d70',
  READ_SERVICE_TOKEN: 'planted-read-only-service-token-e815',
  REVIEWER_JWT: 'planted.reviewer.jwt-44f2',
};

const owner = 'owner-who-works-past-trueup';

function seedOf({ organization = {}, others = [], mounts = ['cluster'] }: BenchOptions): Seed {
  const { teams = [], ...more } = organization;
  return {
    users: [
      { username: 'ci', token: secrets.API_TOKEN },
      { username: 'ann', token: owner },
    ],
    organizations: [
      {
        name: 'acme',
        'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }],
        'oauth-tokens': [{ id: 'ot-git' }],
        ...more,
        teams: [
          { name: 'owners', members: ['ci', 'ann'] },
          { name: 'readers', token: secrets.READ_API_TOKEN, 'read-workspaces': true },
          ...teams,
        ],
      },
      ...others.map((name) => ({ name, teams: [{ name: 'owners', members: ['ci', 'ann'] }] })),
    ],
    mounts,
    policies: [{ name: 'read-only', rules: [{ path: 'auth/*', capabilities: ['read', 'list'] }] }],
    'service-tokens': [
      { token: secrets.SERVICE_TOKEN, policies: ['root'] },
      { token: secrets.READ_SERVICE_TOKEN, policies: ['read-only'] },
    ],
  };
}

export interface BenchOptions {
  /** what stands in the organization `acme` besides */
  readonly organization?: Partial<OrganizationSeed>;
  /** further organizations that the same tokens see */
  readonly others?: readonly string[];
  readonly mounts?: readonly string[];
}

export interface Bench {
  /** between the CLI and the service */
  readonly wire: FaultyProxy;
  /** an owner of the organization who works past trueup, and past the proxy */
  readonly byHand: TestClient;
  /** the same for the mount `cluster`: the `data` of the answer */
  byHandMount(method: string, path: string, body?: object, mount?: string): Promise<Record<string, unknown>>;
  /** the ids of the live workspaces of this name: none, one, or too many */
  idsOf(name: string): Promise<string[]>;
  /** @throws when there is no such workspace, or more than one */
  idOf(name: string): Promise<string>;
  /** tags bound to the workspace itself, the claim among them */
  tagsOf(name: string): Promise<Record<string, unknown>>;
  /** method and path of each write so far, ids as `ws-…` */
  written(): string[];
  /** a stack in a directory of its own, pointed at the proxy */
  checkout(stack?: StackOptions): Promise<Checkout>;
}

export interface StackOptions {
  readonly name?: string;
  readonly renamedFrom?: string | undefined;
  /** more members for the target of workspaces (`acme`), or of cluster auth (`prod`) */
  readonly workspaces?: object;
  readonly clusterAuth?: object;
  /** more members of `spec` */
  readonly spec?: object;
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const server = await startServer({ data: ':memory:', seed: seedOf(options) });
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
      return Object.fromEntries(resources.map(({ attributes }) => [attributes['key'], attributes['value']]));
    },
    written: () => wire.writes().map(({ method, path }) => `${method} ${path.replace(/ws-\w+/, 'ws-…')}`),
    checkout: (stack = {}) => makeCheckout(wire, stack),
  };
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

export interface Checkout {
  readonly directory: string;
  /** the stack's manifests are these from now on */
  declare(...documents: readonly object[]): Promise<void>;
  write(file: string, text: string): Promise<void>;
  /** runs a command in this process, expects its exit code, and gives all that it wrote */
  run(args: readonly string[], code: number): Promise<Ran>;
  /** the same for a command whose exit code is what the test is about */
  tryRun(args: readonly string[]): Promise<Ran>;
  /** `plan --format json` and its exit code */
  plan(code?: number): Promise<PlanJson>;
  /** applies with every guard of the very plan acknowledged, as somebody who has read it would */
  insist(): Promise<Ran>;
  /** declares these, applies them, and forgets what was seen on the wire */
  begin(...documents: readonly object[]): Promise<void>;
  /** the ledger's file as it stands */
  ledger(): Promise<StoredLedger>;
  loseLedger(): Promise<void>;
  /** the same directory with another stack file: some of the stack is otherwise from now on */
  become(stack: StackOptions): Promise<Checkout>;
}

export type StoredLedger = { readonly records: Record<string, ReturnType<Ledger['records']['get']>> };

async function makeCheckout(wire: FaultyProxy, options: StackOptions): Promise<Checkout> {
  const directory = await mkdtemp(join(tmpdir(), 'trueup-e2e-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return checkoutIn(directory, wire, options);
}

async function checkoutIn(directory: string, wire: FaultyProxy, options: StackOptions): Promise<Checkout> {
  const { name = 'payments' } = options;
  const ledgerFile = join(directory, '.trueup', `${name}.ledger.json`);
  const write = async (file: string, text: string) => {
    await mkdir(join(directory, 'manifests'), { recursive: true });
    await writeFile(join(directory, file), text);
  };
  const declare = (...documents: readonly object[]) =>
    write(
      'manifests/all.yaml',
      documents.map((document) => JSON.stringify(document, null, 2)).join('\n---\n'),
    );
  const tryRun = (args: readonly string[]) => trueup(args, { cwd: directory, env: secrets });
  const run = async (args: readonly string[], code: number) => {
    const ran = await tryRun(args);
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };
  await write('trueup.yaml', stackText(wire.url, { ...options, name }));
  return {
    directory,
    declare,
    write,
    run,
    tryRun,
    plan: async (code = 0) => JSON.parse((await run(['plan', '--format', 'json'], code)).out) as PlanJson,
    insist: async () => {
      const { out } = await tryRun(['plan', '--format', 'json']);
      const { digest, acknowledge } = JSON.parse(out) as PlanJson;
      return run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 0);
    },
    begin: async (...documents) => {
      await declare(...documents);
      await run(['apply', '--yes'], 0);
      wire.reset();
    },
    ledger: async () => JSON.parse(await readFile(ledgerFile, 'utf8')) as StoredLedger,
    loseLedger: () => rm(ledgerFile),
    become: (stack) => checkoutIn(directory, wire, { ...options, ...stack }),
  };
}

function stackText(url: string, { name, renamedFrom, workspaces, clusterAuth, spec }: StackOptions): string {
  const common = { url, dialect: 'neutral', requestsPerSecond: 10_000 };
  const acme = { name: 'acme', service: 'workspaces', organization: 'acme', token: { env: 'API_TOKEN' } };
  const prod = { name: 'prod', service: 'cluster-auth', mount: 'cluster', token: { env: 'SERVICE_TOKEN' } };
  return JSON.stringify({
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name, ...(renamedFrom === undefined ? {} : { renamedFrom }) },
    spec: {
      manifests: ['manifests/*.yaml'],
      targets: [
        { ...acme, ...common, ...workspaces },
        { ...prod, ...common, ...clusterAuth },
      ],
      ...spec,
    },
  });
}

/** The ledger of the stack `payments` as version 1 wrote it: without what its targets were. */
export async function toVersion1(stack: Checkout, approved?: object): Promise<void> {
  const { records } = await stack.ledger();
  const kept = approved === undefined ? records : [records, approved];
  const checksum = createHash('sha256').update(JSON.stringify(kept)).digest('hex');
  const text = { version: 1, stack: 'payments', serial: 7, checksum, ...(approved && { approved }), records };
  await stack.write(join('.trueup', 'payments.ledger.json'), JSON.stringify(text));
}
