/** `trueup serve`: the embedded service by itself, for trying things and for testing pipelines. */
import { resolve } from 'node:path';
import {
  announce,
  embeddedDataFile,
  ensureWayIn,
  prepareDataFile,
  readAnnounced,
  tellFailure,
  withdrawAnnounced,
} from '../run/embedded-service.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import { readSeedFile } from '../run/seed-file.ts';
import type { CliHost } from '../cli-host.ts';

export interface ServeOptions {
  readonly port?: number;
  readonly data?: string;
  readonly seed?: string;
  readonly dialect?: string;
  readonly relaxedWrites?: boolean;
}

/** Resolves when the service was told to stop and has closed. */
export async function serve(options: ServeOptions, host: CliHost, terminal: Terminal): Promise<ExitCode> {
  if (options.dialect !== undefined && options.dialect !== 'neutral') {
    printError(
      terminal,
      'dialect-not-served',
      `the embedded service does not speak "${options.dialect}": it speaks "neutral"`,
    );
    return exitCodes.error;
  }
  // The server checks the seed's shape itself and says what is wrong with it.
  const seed = options.seed === undefined ? undefined : await readSeedFile(options.seed, host.cwd);
  const place = options.data === inMemory ? inMemory : await placeOfData(options, host);
  const hold = await take(place);
  if ('refused' in hold) {
    printError(terminal, 'data-file-served', hold.refused);
    return exitCodes.error;
  }
  try {
    await serveUntilStopped(place, { ...options, seed }, host);
  } catch (error) {
    const why = whyNoPort(error, options.port);
    if (why === undefined) throw error;
    printError(terminal, 'port-unavailable', why);
    return exitCodes.error;
  } finally {
    hold.release();
  }
  return exitCodes.done;
}

const inMemory = ':memory:';

function placeOfData(options: ServeOptions, host: CliHost): Promise<string> {
  return prepareDataFile(resolve(host.cwd, options.data ?? embeddedDataFile('.')));
}

/** One `serve` a file; data in memory is nobody else's anyway. */
async function take(data: string): Promise<{ release(): void } | { readonly refused: string }> {
  if (data === inMemory) return { release: () => {} };
  const { holdDataFile } = await import('../../server/data-file/hold-data-file.ts');
  const hold = holdDataFile(data, process.pid);
  if (!('heldBy' in hold)) {
    await withdrawAnnounced(data);
    return hold;
  }
  const url = await readAnnounced(data);
  const who = [url && `at ${url}`, hold.heldBy.pid && `by process ${hold.heldBy.pid}`].filter(Boolean);
  return {
    refused: `the data file "${data}" is served already${who.length > 0 ? `: ${who.join(' ')}` : ''}`,
  };
}

const portWords: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use already',
  EACCES: 'is one that this user may not open',
};

/** Why the port that was asked for is not to be had, and the way out; undefined for any other error. */
function whyNoPort(error: unknown, port: number | undefined): string | undefined {
  const { code = '', syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const says = syscall === 'listen' ? portWords[code] : undefined;
  if (says === undefined || port === undefined) return undefined;
  return `port ${port} ${says}: choose another with --port, or leave --port out to get any free one`;
}

async function serveUntilStopped(
  data: string,
  { port = 0, seed, relaxedWrites: relaxed = false }: Omit<ServeOptions, 'seed'> & { readonly seed: unknown },
  host: CliHost,
): Promise<void> {
  const { startServer } = await import('../../server/start-server.ts');
  const server = await startServer({
    data,
    port,
    relaxed,
    ...(seed === undefined ? {} : { seed: seed as Record<string, never> }),
    onFailure: tellFailure(host),
  });
  try {
    const wayIn = data === inMemory ? memoryHint(seed) : await describeWayIn(data, server.url);
    const withdraw = await announce(data, server.url);
    host.stdout.write([`trueup serves ${server.url} from ${data}`, ...wayIn, ''].join('\n'));
    await new Promise<void>((stop) => host.onStop(stop));
    await withdraw();
  } finally {
    await server.close();
  }
}

/** Where the owner's token lies, which is never shown itself, nor to be seen among the processes of the machine. */
async function describeWayIn(data: string, url: string): Promise<readonly string[]> {
  const { tokens, organizations } = await ensureWayIn(data);
  const header = String.raw`s/.*"ownerToken": *"\([^"]*\)".*/Authorization: Bearer \1/p`;
  return [
    `An owner's token lies in ${tokens}. To try it:`,
    `  sed -n ${quoted(header)} ${quoted(tokens)} | curl -sS --noproxy '*' -H @- ${url}/api/v2/account/details`,
    ...(organizations.length > 0
      ? []
      : [
          'There is no organization yet: a seed makes some (--seed), and a stack with "url: embedded" its own.',
        ]),
  ];
}

function memoryHint(seed: unknown): readonly string[] {
  return seed === undefined
    ? ['Nobody can get in: data in memory knows no tokens but those of a seed (--seed).']
    : [];
}

/** One word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
