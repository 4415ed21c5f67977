/**
 * The one place that starts the embedded service. `url: embedded` uses a `trueup serve` that runs on the same data file,
 * or else serves that file itself for as long as the command runs (rule 35).
 */
import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { replaceFile } from '../../ledger/local/replace-file.ts';
import { makeStateFolder, stateFolderName } from '../../ledger/local/state-folder.ts';
import type { Stack } from '../../model/stack/target.ts';
import { readOwnSeed } from './seed-file.ts';
import type { CliHost } from '../cli-host.ts';

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

/** Makes its folder. Returns where it really is: what stands beside it stands there, whatever path leads to it. */
export async function prepareDataFile(data: string): Promise<string> {
  await makeStateFolder(dirname(data));
  return realpath(data).catch(async () => join(await realpath(dirname(data)), basename(data)));
}

/** What stands beside a data file: where it is served now, and the tokens of its owner. */
const beside = {
  url: (data: string) => `${data}.url`,
  tokens: (data: string) => `${data}.tokens.json`,
};

/** Makes sure that the stack's organizations and mounts exist, and that someone serves them. */
export async function openEmbedded(stack: Stack, host: CliHost): Promise<Embedded> {
  const data = await prepareDataFile(embeddedDataFile(stack.directory));
  await ensureSeeded(stack, data);
  const tokens = await ensureTenants(stack, data);
  const running = await findRunning(data);
  if (running !== undefined) return { url: running, ...tokens, close: async () => {} };
  const { startServer } = await import('../../server/start-server.ts');
  const server = await startServer({ data, onFailure: tellFailure(host) });
  return { url: server.url, ...tokens, close: () => server.close() };
}

/** Of a data file's owner. Kept beside it, readable by its owner only. */
type Tokens = Pick<Embedded, 'ownerToken' | 'serviceToken'>;

function ensureTenants(stack: Stack, data: string): Promise<Tokens> {
  const embedded = stack.targets.filter((target) => target.url === 'embedded');
  return ensureOwner(data, {
    organizations: embedded.flatMap(({ organization }) => organization ?? []),
    mounts: embedded.flatMap(({ mount }) => mount ?? []),
  });
}

async function ensureOwner(
  data: string,
  wanted: { readonly organizations: readonly string[]; readonly mounts: readonly string[] },
): Promise<Tokens> {
  const known = await readTokens(data);
  const { ensureTenants: ensure } = await import('../../server/data-file/ensure-tenants.ts');
  const tokens = ensure(data, wanted, known);
  if (known?.ownerToken !== tokens.ownerToken) {
    await replaceFile(beside.tokens(data), `${JSON.stringify(tokens, null, 2)}\n`);
  }
  return tokens;
}

/** The file with a token of an owner of all organizations that the data file has, and their names. */
export async function ensureWayIn(
  data: string,
): Promise<{ readonly tokens: string; readonly organizations: readonly string[] }> {
  const { organizationsOf } = await import('../../server/data-file/ensure-tenants.ts');
  const organizations = organizationsOf(data);
  await ensureOwner(data, { organizations, mounts: [] });
  return { tokens: beside.tokens(data), organizations };
}

/** A seed is applied at every start: the data file knows what it has got of it already. */
async function ensureSeeded(stack: Stack, data: string): Promise<void> {
  if (stack.embedded === undefined) return;
  const seed = await readOwnSeed(stack.embedded.seed, stack.directory);
  const { seedDataFile } = await import('../../server/data-file/seed-data-file.ts');
  seedDataFile(data, seed);
}

/** Undefined also for a file that is damaged: tokens are registered anew then, as for a new data file. */
async function readTokens(data: string): Promise<Tokens | undefined> {
  try {
    const { ownerToken, serviceToken } = JSON.parse(await readRegularText(beside.tokens(data), megabyte));
    const whole = typeof ownerToken === 'string' && typeof serviceToken === 'string';
    return whole ? { ownerToken, serviceToken } : undefined;
  } catch {
    return undefined;
  }
}

/** The URL of a `serve` that has proved that it serves this data file: whoever listens there gets our tokens. */
async function findRunning(data: string): Promise<string | undefined> {
  const url = await readAnnounced(data);
  if (url === undefined) return undefined;
  const { isServedAt } = await import('../../server/data-file/serving-proof.ts');
  return (await isServedAt(data, url)) ? url : undefined;
}

/** Where a `serve` said last that it serves the file. It may be gone. */
export async function readAnnounced(data: string): Promise<string | undefined> {
  const url = (await readRegularText(beside.url(data), megabyte).catch(() => '')).trim();
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url) ? url : undefined;
}

/** A failure of the service itself is a bug of ours, and nobody else would tell it. */
export function tellFailure(host: CliHost): (error: Error) => void {
  return (error) => host.stderr.write(`the embedded service failed: ${error.stack ?? error.message}\n`);
}

/** Tells later commands where a data file is served. Returns how to take it back. */
export async function announce(data: string, url: string): Promise<() => Promise<void>> {
  if (data === ':memory:') return async () => {};
  await replaceFile(beside.url(data), `${url}\n`);
  return () => withdrawAnnounced(data);
}

/** For who takes the file over from a `serve` that was killed, too. */
export function withdrawAnnounced(data: string): Promise<void> {
  return rm(beside.url(data), { force: true });
}
