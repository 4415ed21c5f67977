/** `trueup serve`: the embedded service by itself, for trying things and for testing pipelines. */
import { dirname, resolve } from 'node:path';
import { makeStateFolder } from '../../ledger/state-folder.ts';
import { announce, embeddedDataFile, tellFailure } from '../embedded.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Screen } from '../screen.ts';
import { readSeedFile } from '../seed-file.ts';
import type { World } from '../world.ts';

export interface ServeOptions {
  readonly port?: number;
  readonly data?: string;
  readonly seed?: string;
  readonly dialect?: string;
  readonly relaxedWrites?: boolean;
}

/** Resolves when the service was told to stop and has closed. */
export async function serve(options: ServeOptions, world: World, screen: Screen): Promise<ExitCode> {
  if (options.dialect !== undefined && options.dialect !== 'neutral') {
    printError(screen, `the embedded service does not speak "${options.dialect}": it speaks "neutral"`);
    return exitCodes.error;
  }
  const data =
    options.data === ':memory:' ? options.data : resolve(world.cwd, options.data ?? embeddedDataFile('.'));
  if (data !== ':memory:') await makeStateFolder(dirname(data));
  // The server checks the seed's shape itself and says what is wrong with it.
  const seed = options.seed === undefined ? undefined : await readSeedFile(options.seed, world.cwd);
  const { startServer } = await import('../../server/start-server.ts');
  const server = await startServer({
    data,
    port: options.port ?? 0,
    relaxed: options.relaxedWrites ?? false,
    ...(seed === undefined ? {} : { seed: seed as Record<string, never> }),
    onFailure: tellFailure(world),
  });
  const withdraw = await announce(data, server.url);
  world.stdout.write(`trueup serves ${server.url} from ${data}\n`);
  await new Promise<void>((stop) => world.onStop(stop));
  await withdraw();
  await server.close();
  return exitCodes.done;
}
