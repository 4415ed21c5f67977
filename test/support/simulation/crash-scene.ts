/**
 * The state before every crash, which is made once and copied: the service's database, the stack's directory with its
 * ledger, and the approved plan. The URL of the service is the same for all copies, because the approval covers it.
 */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import type { ServedRequest } from '../../../src/server/start-server.ts';
import type { CommandResult } from '../captured-host.ts';
import { type FaultyProxy, startFaultyProxy } from '../cli/faulty-proxy.ts';
import { type EmbeddedService, startService } from '../rig/embedded-service.ts';
import { type StackFolder, stackIn } from '../rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../rig/temporary-folder.ts';
import { after, before, stackAt } from './mixed-stack.ts';
import { type Snapshot, snapshot } from './snapshot.ts';
import { envOf } from './stack-folder.ts';
import { inTenant, startWorld, type Tenant } from './world.ts';

interface CrashOrigin {
  readonly wire: FaultyProxy & { close(): Promise<void> };
  readonly plan: PlanJson;
  readonly origin: string;
  readonly tenant: Tenant;
  readonly upstream: { url: string };
}

export class CrashScene {
  readonly wire: CrashOrigin['wire'];
  /** the arguments that apply the approved plan */
  readonly approved: readonly string[];
  readonly digest: string;
  /** The environment of one CI job, whose later attempts may take over the lock of earlier ones. */
  readonly env: Readonly<Record<string, string>>;
  readonly #made: CrashOrigin;

  private constructor(made: CrashOrigin) {
    this.wire = made.wire;
    this.digest = made.plan.digest;
    this.approved = ['--ack', made.plan.acknowledge.join(',')];
    this.env = jobOf(made.tenant);
    this.#made = made;
  }

  static async make(): Promise<CrashScene> {
    const upstream = { url: '' };
    const wire = await startFaultyProxy(() => upstream.url);
    const origin = makeFolder();
    const world = await startWorld({ acme: 0 }, { data: join(origin, 'service.db'), relaxed: true });
    const [tenant] = world.tenants;
    if (tenant === undefined) throw new Error('a world has the tenants that it was asked for');
    upstream.url = world.url;
    const stack = stackIn({ directory: origin, stack: stackAt(wire.url, tenant), env: jobOf(tenant) });
    await stack.declare(...before.map((document) => inTenant(document, tenant.name)));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(...after.map((document) => inTenant(document, tenant.name)));
    await stack.run(['plan', '--out', 'approved.json'], 0);
    await world.close();
    const plan = JSON.parse(await readFile(join(origin, 'approved.json'), 'utf8')) as PlanJson;
    return new CrashScene({ wire, plan, origin, tenant, upstream });
  }

  /** Copies the state, and serves it. */
  async enter(): Promise<CrashCopy> {
    const { origin, upstream, tenant } = this.#made;
    const directory = makeFolder();
    await cp(origin, directory, { recursive: true });
    const server = await startService({ data: join(directory, 'service.db'), relaxed: true });
    upstream.url = server.url;
    this.wire.reset();
    this.wire.setHandler(undefined);
    const stack = stackIn({ directory, stack: stackAt(this.wire.url, tenant), env: this.env });
    return new CrashCopy(stack, server, { ...tenant, url: server.url });
  }

  async close(): Promise<void> {
    await this.wire.close();
    removeFolder(this.#made.origin);
  }
}

function jobOf(tenant: Tenant): Readonly<Record<string, string>> {
  return { ...envOf(tenant), TRUEUP_RUN_ID: 'job-1' };
}

export interface CrashState extends Pick<Snapshot, 'workspaces'> {
  readonly mount: unknown;
  readonly records: unknown;
}

export class CrashCopy {
  readonly directory: string;
  /** all requests that the service has processed, also those whose response was lost */
  readonly served: readonly ServedRequest[];
  readonly #stack: StackFolder;
  readonly #server: EmbeddedService;
  readonly #tenant: Tenant;

  constructor(stack: StackFolder, server: EmbeddedService, tenant: Tenant) {
    this.directory = stack.directory;
    this.#stack = stack;
    this.#server = server;
    this.#tenant = tenant;
    this.served = server.requests;
  }

  run(args: readonly string[], code: number): Promise<CommandResult> {
    return this.#stack.run(args, code);
  }

  /** The state of the service and of the ledger, without ids and times. */
  async state(): Promise<CrashState> {
    const { workspaces } = await snapshot(this.#tenant);
    const names = new Map(workspaces.map(({ id, attributes }) => [id, `<${String(attributes['name'])}>`]));
    const { records } = (await this.#stack.ledger()) as { records: Record<string, StoredRecord> };
    const state = {
      workspaces,
      mount: this.#mount(),
      records: Object.entries(records).toSorted().map(withoutLostFacts),
    };
    return JSON.parse(anonymous(JSON.stringify(state), names), (_, value: unknown) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.toSorted() : value,
    );
  }

  async leave(): Promise<void> {
    await this.#server.close();
    removeFolder(this.directory);
  }

  /** Read from the database, because the API never returns a reviewer JWT. */
  #mount(): unknown {
    const database = new DatabaseSync(join(this.directory, 'service.db'), { readOnly: true });
    try {
      const tables = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'cluster_auth_%'")
        .all();
      return tables.map(({ name }) => [
        name,
        database.prepare(`SELECT * FROM ${String(name)} ORDER BY 1, 2`).all(),
      ]);
    } finally {
      database.close();
    }
  }
}

interface StoredRecord {
  readonly origin?: string;
  readonly marks?: { readonly locked?: boolean };
}

/**
 * A record without facts that cannot be found again if the ledger lost them: that a lock is ours, which is then never removed, and
 * that we created a role, on which nothing depends.
 */
function withoutLostFacts([address, record]: readonly [string, StoredRecord]): unknown {
  const { origin, marks, ...rest } = record;
  return [
    address,
    {
      ...rest,
      ...(address.startsWith('ClusterAuth') ? {} : { origin }),
      ...(marks?.locked ? {} : { marks }),
    },
  ];
}

/** Replaces ids by names, and removes times and signatures, so that two runs can be compared. */
function anonymous(text: string, names: ReadonlyMap<string, string>): string {
  let comparable = text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<moment>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '<service>')
    .replaceAll(/(\/webhooks\/vcs\/[^/"]+\/)[\w-]+/g, '$1<signature>');
  for (const [id, name] of names) comparable = comparable.replaceAll(id, name);
  return comparable;
}
