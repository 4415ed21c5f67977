/** The console of a fleet on a free port. */
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { ConsoleSettings } from '../../../src/commands/fleet/console/settings.ts';
import { startConsole } from '../../../src/commands/fleet/console/start-console.ts';
import { openReader } from '../../../src/commands/fleet/database.ts';
import { jobSchema } from '../../../src/commands/fleet/tables.ts';
import type { CliHost } from '../../../src/run/host.ts';

interface ConsoleSetup {
  readonly settings?: ConsoleSettings | undefined | ((url: string) => ConsoleSettings | undefined);
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  readonly healthProblem?: () => string | undefined;
  readonly metricsToken?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface TestConsole {
  readonly url: string;
  /** errors that the console reported to the worker */
  readonly failures: readonly unknown[];
  get(
    path: string,
    headers?: Readonly<Record<string, string | readonly string[]>>,
    method?: string,
  ): Promise<Answer>;
}

/** @param connectionString of a database with the tables of a fleet; this function adds the queue of jobs */
export async function openConsole(connectionString: string, setup: ConsoleSetup = {}): Promise<TestConsole> {
  const host = { env: { TRUEUP_FLEET_URL: connectionString }, secrets: { keep: () => {} } };
  const reader = openReader(host as unknown as CliHost);
  onTestFinished(() => reader.close());
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    `create schema if not exists ${jobSchema}; create table if not exists ${jobSchema}.job (name text, state text, created_on timestamptz, data jsonb)`,
  );
  await client.end();
  const failures: unknown[] = [];
  const { settings, healthProblem = () => undefined, metricsToken, env = {}, now = Date.now } = setup;
  const console = await startConsole({
    ...{ host: '127.0.0.1', port: 0, jobSchema, metricsToken, healthProblem },
    fleet: () => ({
      name: 'acme',
      console: typeof settings === 'function' ? settings(console.url) : settings,
      addressOf: (name) => `https://git.example.com/acme/${name}.git`,
    }),
    ...{ now, newId: randomUUID, secret: (variable) => env[variable] },
    read: (work) => reader.run(work),
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(() => console.close());
  return {
    ...{ url: console.url, failures },
    get: (path, headers = {}, method = 'GET') => send(new URL(path, console.url), headers, method),
  };
}

/** Sends any header, also those that `fetch` refuses. */
function send(
  url: URL,
  headers: Readonly<Record<string, string | readonly string[]>>,
  method: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    const asked = request(url, { method, headers: given, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}
