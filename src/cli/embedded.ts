/**
 * The one place that starts the embedded service. `url: embedded` uses a `trueup serve` that runs on the same data file,
 * or else serves that file itself for as long as the command runs (RULES 35).
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Stack } from '../model/target.ts';

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
  return join(directory, '.trueup', 'embedded.db');
}

/** What stands beside a data file: where it is served now, and the tokens of its owner. */
const beside = {
  url: (data: string) => `${data}.url`,
  tokens: (data: string) => `${data}.tokens.json`,
};

/** Makes sure that the stack's organizations and mounts exist, and that someone serves them. */
export async function openEmbedded(stack: Stack): Promise<Embedded> {
  const data = embeddedDataFile(stack.directory);
  await mkdir(dirname(data), { recursive: true });
  const tokens = await ensureTenants(stack, data);
  const running = await findRunning(data);
  if (running !== undefined) return { url: running, ...tokens, close: async () => {} };
  const { startServer } = await import('../server/start-server.ts');
  const server = await startServer({ data });
  return { url: server.url, ...tokens, close: () => server.close() };
}

interface Tokens {
  readonly ownerToken: string;
  readonly serviceToken: string;
}

async function ensureTenants(stack: Stack, data: string): Promise<Tokens> {
  const embedded = stack.targets.filter((target) => target.url === 'embedded');
  const known = await readTokens(data);
  const { ensureTenants: ensure } = await import('../server/ensure-tenants.ts');
  const tokens = ensure(
    data,
    {
      organizations: embedded.flatMap(({ organization }) => organization ?? []),
      mounts: embedded.flatMap(({ mount }) => mount ?? []),
    },
    known,
  );
  if (known === undefined) {
    await writeFile(beside.tokens(data), `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 });
    await chmod(beside.tokens(data), 0o600);
  }
  return tokens;
}

async function readTokens(data: string): Promise<Tokens | undefined> {
  const text = await readFile(beside.tokens(data), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
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

/** Tells later commands where a data file is served. Returns how to take it back. */
export async function announce(data: string, url: string): Promise<() => Promise<void>> {
  if (data === ':memory:') return async () => {};
  await writeFile(beside.url(data), `${url}\n`);
  return () => rm(beside.url(data), { force: true });
}
