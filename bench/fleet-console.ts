/**
 * Measures how long each page of the fleet console takes on the server, with 5,000 stacks: the median and the slowest of 20 requests.
 * `node bench/fleet-console.ts`
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { startConsole } from '../src/commands/fleet/console/start-console.ts';
import { fleetTables, jobSchema } from '../src/commands/fleet/tables.ts';
import { migrate } from '../src/ledger/postgres-connection.ts';
import { seedFleet } from '../test/support/fleet/seed-console.ts';
import { findPostgres, startPostgres } from '../test/support/ledger/postgres-server.ts';

const stacks = 5000;
const checks = Number(process.argv[2] ?? 100);

const pages = [
  ...['/', '/?is=attention', '/?text=stack-0999', '/?page=100'],
  ...[
    '/stack?repository=data&path=teams%2Fteam-0%2Fstack-0000%2Ftrueup.yaml',
    '/activity',
    '/activity?person=bob',
  ],
  ...['/activity.csv', '/capacity', '/health', '/metrics'],
];

async function measure(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await migrate(client, fleetTables);
  await client.query(
    `create schema ${jobSchema}; create table ${jobSchema}.job (name text, state text, created_on timestamptz, data jsonb)`,
  );
  await seedFleet(client, stacks, { checks });
  const served = await startConsole({
    ...{ host: '127.0.0.1', port: 0, jobSchema, metricsToken: undefined },
    ...{ secret: () => undefined, now: Date.now, newId: randomUUID },
    fleet: () => ({ name: 'acme', console: undefined, addressOf: () => undefined }),
    read: (work) => work(client as unknown as pg.PoolClient),
    healthProblem: () => undefined,
    onFailure: (error) => console.error(error),
  });
  console.log(`${stacks} stacks, ${checks} checks of each`);
  for (const page of pages) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < 21; round += 1) {
      const began = performance.now();
      const answer = await fetch(new URL(page, served.url));
      bytes = (await answer.text()).length;
      if (answer.status !== 200) throw new Error(`${page}: ${answer.status}`);
      if (round > 0 || page !== '/') times.push(performance.now() - began);
      else console.log(`the very first page ${(performance.now() - began).toFixed(0)} ms`);
    }
    times.sort((one, other) => one - other);
    const [median = 0, slowest = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
    console.log(
      `${median.toFixed(0).padStart(5)} ms  ${slowest.toFixed(0).padStart(5)} ms  ${String(Math.ceil(bytes / 1024)).padStart(4)} kB  ${page}`,
    );
  }
  await served.close();
  await client.end();
}

const bin = findPostgres();
if (bin === undefined) throw new Error('PostgreSQL is not installed');
const server = startPostgres(bin);
try {
  await measure(server.newDatabase());
} finally {
  server.stop();
}
