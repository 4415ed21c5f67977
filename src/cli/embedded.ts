/**
 * The one place that starts the embedded service. `url: embedded` uses a `trueup serve` that runs on the same data file,
 * or else serves that file itself for as long as the command runs (RULES 35).
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../ledger/replace-file.ts';
import { makeStateFolder, stateFolderName } from '../ledger/state-folder.ts';
import type { Stack } from '../model/target.ts';
import { readSeedFile } from './seed-file.ts';
import type { World } from './world.ts';

export interface Embedded {
  readonly url: string;
  /** of an owner of every organization that the stack names */
  readonly ownerToken: string;
  /** with every capability on every mount */
  readonly serviceToken: string;
  close(): Promise<void>;
}

/** Where a stack's embedded service keeps its data, unless `serve --data` says otherwise. */
export function embeddedDataFile(directory: string): string {
  return join(directory, stateFolderName, 'embedded.db');
}

/** What stands beside a data file: where it is served now, and the tokens of its owner. */
const beside = {
  url: (data: string) => `${data}.url`,
  tokens: (data: string) => `${data}.tokens.json`,
};

/** Makes sure that the stack's organizations and mounts exist, and that someone serves them. */
export async function openEmbedded(stack: Stack, world: World): Promise<Embedded> {
  const data = embeddedDataFile(stack.directory);
  await makeStateFolder(dirname(data));
  const { ownerToken, serviceToken } = await ensureTenants(stack, data);
  const tokens = { ownerToken, serviceToken };
  const running = await findRunning(data);
  if (running !== undefined) return { url: running, ...tokens, close: async () => {} };
  const { startServer } = await import('../server/start-server.ts');
  const server = await startServer({ data, onFailure: tellFailure(world) });
  return { url: server.url, ...tokens, close: () => server.close() };
}

/** What a data file was given so far. Kept beside it, readable by its owner only. */
interface Given {
  readonly ownerToken: string;
  readonly serviceToken: string;
  /** SHA-256 of the seed that was applied last: a seed is applied once, and again when it was edited */
  readonly seed?: string;
}

async function ensureTenants(stack: Stack, data: string): Promise<Given> {
  const embedded = stack.targets.filter((target) => target.url === 'embedded');
  const known = await readGiven(data);
  const { ensureTenants: ensure } = await import('../server/ensure-tenants.ts');
  const wanted = {
    organizations: embedded.flatMap(({ organization }) => organization ?? []),
    mounts: embedded.flatMap(({ mount }) => mount ?? []),
  };
  const tokens = ensure(data, wanted, known);
  const seed = await ensureSeeded(stack, data, known?.seed);
  const given: Given = {
    ownerToken: tokens.ownerToken,
    serviceToken: tokens.serviceToken,
    ...(seed === undefined ? {} : { seed }),
  };
  if (known?.ownerToken !== given.ownerToken || known.seed !== seed) {
    await replaceFile(beside.tokens(data), `${JSON.stringify(given, null, 2)}\n`);
  }
  return given;
}

async function ensureSeeded(
  stack: Stack,
  data: string,
  applied: string | undefined,
): Promise<string | undefined> {
  if (stack.embedded === undefined) return undefined;
  const { text, value } = await readSeedFile(stack.embedded.seed, stack.directory);
  const hash = createHash('sha256').update(text).digest('hex');
  if (hash === applied) return hash;
  const { seedDataFile } = await import('../server/seed-data-file.ts');
  seedDataFile(data, value);
  return hash;
}

/** Undefined also for a file that is damaged: tokens are registered anew then, as for a new data file. */
async function readGiven(data: string): Promise<Given | undefined> {
  try {
    return JSON.parse(await readFile(beside.tokens(data), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The URL of a `serve` on this data file that still answers. */
async function findRunning(data: string): Promise<string | undefined> {
  const url = (await readFile(beside.url(data), 'utf8').catch(() => '')).trim();
  if (url === '') return undefined;
  const answers = await fetch(`${url}/api/v2/ping`, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  );
  return answers ? url : undefined;
}

/** A failure of the service itself is a bug of ours, and nobody else would tell it. */
export function tellFailure(world: World): (error: Error) => void {
  return (error) => world.stderr.write(`the embedded service failed: ${error.stack ?? error.message}\n`);
}

/** Tells later commands where a data file is served. Returns how to take it back. */
export async function announce(data: string, url: string): Promise<() => Promise<void>> {
  if (data === ':memory:') return async () => {};
  await replaceFile(beside.url(data), `${url}\n`);
  return () => rm(beside.url(data), { force: true });
}
