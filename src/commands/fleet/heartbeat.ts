/** Records in the database that a worker is alive. It has its own timer, because the loop of the worker may wait for git. */
import type { CliHost } from '../../run/host.ts';
import type { OpenDatabase } from './database.ts';
import type { KeptFleet } from './kept-fleet.ts';
import { noteQuotas } from './rates/quotas.ts';
import type { Shard } from './schedule.ts';
import { forgetWorker, heartbeatSeconds, noteWorker } from './workers.ts';

interface HeartbeatOptions {
  readonly host: Pick<CliHost, 'clean' | 'machine' | 'newId' | 'version'>;
  readonly database: Pick<OpenDatabase, 'run' | 'transaction'>;
  readonly file: KeptFleet;
  readonly concurrency: number;
  readonly shard: Shard | undefined;
  running(): number;
}

interface Heartbeat {
  /** removes the row of the worker, which ends in an orderly way */
  stop(): Promise<void>;
}

/** The first heartbeat is recorded when this returns. Without a database none is recorded, and the worker is shown as silent. */
export async function startHeartbeat(options: HeartbeatOptions): Promise<Heartbeat> {
  const { host, database, file, concurrency, shard, running } = options;
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
