/**
 * The state that every crash begins from, made once and copied: the service's database, the stack's directory with its
 * ledger, and the approved plan. The address of the service is the same for all copies, for it is part of what is approved.
 */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import type { ServedRequest } from '../../../src/server/start-server.ts';
import type { Ran } from '../captured-host.ts';
import { type FaultyProxy, startFaultyProxy } from '../cli/faulty-proxy.ts';
import { type EmbeddedService, startService } from '../rig/embedded-service.ts';
import { type StackFolder, stackIn } from '../rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../rig/temporary-folder.ts';
import { after, before, secrets, seed, stackAt } from './mixed-stack.ts';

/** One CI job: whoever runs it again may take over the lock of its earlier try. */
export const env = { ...secrets, TRUEUP_RUN_ID: 'job-1' };

export class CrashScene {
  readonly wire: FaultyProxy & { close(): Promise<void> };
  /** the arguments that apply what was approved */
  readonly approved: readonly string[];
  readonly digest: string;
  readonly #origin: string;
  readonly #upstream: { url: string };

  private constructor(made: {
    wire: CrashScene['wire'];
    plan: PlanJson;
    origin: string;
    upstream: { url: string };
  }) {
    this.wire = made.wire;
    this.digest = made.plan.digest;
    this.approved = ['--ack', made.plan.acknowledge.join(',')];
    this.#origin = made.origin;
    this.#upstream = made.upstream;
  }

  static async make(): Promise<CrashScene> {
    const upstream = { url: '' };
    const wire = await startFaultyProxy(() => upstream.url);
    const origin = makeFolder();
    const server = await startService({ data: join(origin, 'service.db'), seed, relaxed: true });
    upstream.url = server.url;
    const stack = stackIn({ directory: origin, stack: stackAt(wire.url), env });
    await stack.declare(...before);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(...after);
    await stack.run(['plan', '--out', 'approved.json'], 0);
    await server.close();
    const plan = JSON.parse(await readFile(join(origin, 'approved.json'), 'utf8')) as PlanJson;
    return new CrashScene({ wire, plan, origin, upstream });
  }

  /** A copy of everything, served. */
  async enter(): Promise<CrashCopy> {
    const directory = makeFolder();
    await cp(this.#origin, directory, { recursive: true });
    const server = await startService({ data: join(directory, 'service.db'), relaxed: true });
    this.#upstream.url = server.url;
    this.wire.reset();
    this.wire.guardBy(undefined);
    const stack = stackIn({ directory, stack: stackAt(this.wire.url), env });
    return new CrashCopy(stack, server);
  }

  async close(): Promise<void> {
    await this.wire.close();
    removeFolder(this.#origin);
  }
}

export class CrashCopy {
  readonly directory: string;
  /** all that the service answered, whether or not the answer arrived */
  readonly served: readonly ServedRequest[];
  readonly #stack: StackFolder;
  readonly #server: EmbeddedService;

  constructor(stack: StackFolder, server: EmbeddedService) {
    this.directory = stack.directory;
    this.#stack = stack;
    this.#server = server;
    this.served = server.requests;
  }

  run(args: readonly string[], code: number): Promise<Ran> {
    return this.#stack.run(args, code);
  }

  /** What the service holds and what the ledger says of it, without ids and moments. */
  async state(): Promise<unknown> {
    const workspaces = await this.#get(
      '/api/v2/organizations/acme/workspaces?sort=name&page%5Bsize%5D=100',
      secrets.API_TOKEN,
    );
    const names = new Map(workspaces.map(({ id, attributes }) => [id, `<${String(attributes['name'])}>`]));
    const parts = await Promise.all(
      workspaces.map(async ({ id }) => ({
        tags: sortedByKey(await this.#get(`/api/v2/workspaces/${id}/tag-bindings`, secrets.API_TOKEN)),
        consumers: (
          await this.#get(`/api/v2/workspaces/${id}/relationships/remote-state-consumers`, secrets.API_TOKEN)
        ).map((consumer) => consumer.id),
      })),
    );
    const { records } = (await this.#stack.ledger()) as { records: Record<string, StoredRecord> };
    const whole = {
      workspaces: workspaces.map((workspace, index) => ({ ...workspace, ...parts[index] })),
      mount: this.#mount(),
      records: Object.entries(records).toSorted().map(witnessed),
    };
    return JSON.parse(anonymous(JSON.stringify(whole), names), (_, value: unknown) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.toSorted() : value,
    );
  }

  async leave(): Promise<void> {
    await this.#server.close();
    removeFolder(this.directory);
  }

  async #get(path: string, token: string): Promise<Found[]> {
    const answer = await fetch(`${this.#server.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { data: Found[] }).data;
  }

  /** Past the API, which never tells a reviewer JWT. */
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

interface Found {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

function sortedByKey(bindings: readonly Found[]): unknown[] {
  return bindings
    .map(({ attributes }) => attributes)
    .toSorted((a, b) => (String(a['key']) < String(b['key']) ? -1 : 1));
}

interface StoredRecord {
  readonly origin?: string;
  readonly marks?: { readonly locked?: boolean };
}

/**
 * A record without what no witness tells once the ledger has missed it: that a lock is ours, which we then never undo
 * (rule 18), and that a role is of our making, on which nothing hangs (rule 24).
 */
function witnessed([address, record]: readonly [string, StoredRecord]): unknown {
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

/** Ids as names, moments as none, so that two runs can be compared. */
function anonymous(text: string, names: ReadonlyMap<string, string>): string {
  let told = text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<moment>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '<service>');
  for (const [id, name] of names) told = told.replaceAll(id, name);
  return told;
}
