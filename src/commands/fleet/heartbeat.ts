/** Says in the database that a worker is there. Its loop may wait for git, so this has a timer of its own. */
import type { CliHost } from '../../run/host.ts';
import type { OpenDatabase } from './database.ts';
import type { KeptFleet } from './kept-fleet.ts';
import { noteQuotas } from './rates/quotas.ts';
import type { Shard } from './schedule.ts';
import { forgetWorker, heartbeatSeconds, noteWorker } from './workers.ts';

interface Beating {
  readonly host: Pick<CliHost, 'clean' | 'machine' | 'newId' | 'version'>;
  readonly database: Pick<OpenDatabase, 'run' | 'transaction'>;
  readonly file: KeptFleet;
  readonly concurrency: number;
  readonly shard: Shard | undefined;
  running(): number;
}

interface Heartbeat {
  /** removes the worker: it ends in order */
  stop(): Promise<void>;
}

/** The first one is in the table when this returns. A database that is away gets none: that the worker is silent is all there is to say. */
export async function startHeartbeat(beating: Beating): Promise<Heartbeat> {
  const { host, database, file, concurrency, shard, running } = beating;
  const { hostname, pid } = host.machine();
  const id = host.newId();
  const beat = () =>
    database
      .transaction(async (client) => {
        await noteWorker(client, {
          ...{ id, concurrency, host: hostname, pid, version: host.version },
          ...host.clean({ fleet: file.fleet.name, problem: file.problem }),
          shard: shard === undefined ? undefined : `${shard.index + 1}/${shard.of}`,
          running: running(),
        });
        await noteQuotas(client, id, file.fleet.quotas);
      })
      .catch(() => {});
  let last = beat();
  const timer = setInterval(() => {
    last = beat();
  }, heartbeatSeconds * 1000);
  timer.unref();
  await last;
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      await database.run((client) => forgetWorker(client, id)).catch(() => {});
    },
  };
}
