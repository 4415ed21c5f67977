/**
 * Starts the embedded service for commands. With `url: embedded` a command uses the `trueup serve` that runs on the same data
 * file, or serves the file itself while it runs. Also reads the YAML seed, whose shape the service checks.
 */
import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { megabyte, type Obstacle, readRegular, readRegularText, UnfitFile } from '../files/read-file.ts';
import { makeStateFolder, replaceFile, stateFolderName } from '../files/write-file.ts';
import { findRepository, outsideMessage } from '../manifest/files/find-stack.ts';
import { checkInRepository } from '../manifest/files/read-text.ts';
import { messageOf, systemErrorMessage } from '../model/error-message.ts';
import { isJsonObject, type Json, memberOf } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack, Target } from '../model/stack.ts';
import type { DialectNames } from '../server/kernel/served-data-file.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';

export interface Embedded {
  readonly url: string;
  /** token of an owner of every organization that the stack names */
  readonly ownerToken: string;
  /** token with every capability on every mount */
  readonly serviceToken: string;
  /** by organization of the stack: its own token, for its audit trail */
  readonly organizationTokens: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The data file of a stack's embedded service, unless `serve --data` names another. */
export function embeddedDataFile(directory: string): string {
  return join(directory, stateFolderName, 'embedded.db');
}

/** Creates the folder of the data file. @returns the file's real path, so that the files beside it are found through any link */
export async function prepareDataFile(data: string): Promise<string> {
  await makeStateFolder(dirname(data));
  return realpath(data).catch(async () => join(await realpath(dirname(data)), basename(data)));
}

/** The files beside a data file: the URL at which it is served now, the tokens of its owner, and two of them in files of their own. */
const pathOf = {
  url: (data: string) => `${data}.url`,
  tokens: (data: string) => `${data}.tokens.json`,
  ownerToken: (data: string) => `${data}.owner-token`,
  serviceToken: (data: string) => `${data}.service-token`,
};

/** Makes sure that the stack's organizations and mounts exist and are served. */
export async function openEmbedded(stack: Stack, host: CliHost): Promise<Embedded> {
  const data = await prepareDataFile(embeddedDataFile(stack.directory));
  await ensureSeeded(stack, data);
  const tokens = await ensureTenants(stack, data);
  const running = await findRunning(data);
  if (running !== undefined) {
    checkDialects(stack, running);
    return { url: running.url, ...tokens, close: async () => {} };
  }
  const { startServer } = await import('../server/start-server.ts');
  const dialects = embeddedTargets(stack).map(({ dialect }) => dialect);
  const server = await startServer({ data, dialects, onFailure: printFailure(host) });
  return { url: server.url, ...tokens, close: () => server.close() };
}

/** The tokens of a data file's owner, stored beside it in a file that only the user can read. */
type Tokens = Pick<Embedded, 'ownerToken' | 'serviceToken' | 'organizationTokens'>;

function embeddedTargets(stack: Stack): readonly Target[] {
  return stack.targets.filter(({ url }) => url === 'embedded');
}

/** Refuses a running `trueup serve` with other dialects than the stack's: it would misread the requests. */
function checkDialects(stack: Stack, { url, dialects }: Running): void {
  for (const { name, service, dialect } of embeddedTargets(stack)) {
    const spoken = service === 'workspaces' ? dialects.workspaces : dialects.clusterAuth;
    if (spoken === dialect) continue;
    throw new CommandStop(
      'dialect-not-served',
      `the embedded service at ${url} speaks ${quoted(spoken)} to targets of service ${quoted(service)}, and target ${quoted(name)} ` +
        `speaks ${quoted(dialect)}: end that service, or start it with ${quoted(`--dialect ${dialect}`)}`,
    );
  }
}

function ensureTenants(stack: Stack, data: string): Promise<Tokens> {
  const embedded = embeddedTargets(stack);
  return ensureTokens(data, {
    organizations: embedded.flatMap(({ organization }) => organization ?? []),
    mounts: embedded.flatMap(({ mount }) => mount ?? []),
  });
}

async function ensureTokens(
  data: string,
  wanted: { readonly organizations: readonly string[]; readonly mounts: readonly string[] },
): Promise<Tokens> {
  const known = await readTokens(data);
  const { ensureTenants: ensure } = await import('../server/seed/prepare-data-file.ts');
  const tokens = ensure(data, wanted, known);
  const names = Object.keys(tokens.organizationTokens);
  if (known === undefined || names.some((name) => !Object.hasOwn(known.organizationTokens, name))) {
    await replaceFile(pathOf.tokens(data), `${JSON.stringify(tokens, null, 2)}\n`);
  }
  return tokens;
}

/** What a data file contains, and two files that each hold one token with all rights. */
export interface DataFileOwner {
  readonly organizations: readonly string[];
  /** paths of the mounts for cluster authentication */
  readonly mounts: readonly string[];
  /** a file with the token of an owner of all organizations, and nothing else */
  readonly ownerToken: string;
  /** a file with a token that may do everything on every mount, and nothing else */
  readonly serviceToken: string;
}

/** Makes sure that tokens with all rights on the content of the data file exist, each in its own file. */
export async function ensureOwner(data: string): Promise<DataFileOwner> {
  const { tenantsOf } = await import('../server/seed/prepare-data-file.ts');
  const tenants = tenantsOf(data);
  const tokens = await ensureTokens(data, { organizations: tenants.organizations, mounts: [] });
  const files = { ownerToken: pathOf.ownerToken(data), serviceToken: pathOf.serviceToken(data) };
  await replaceFile(files.ownerToken, `${tokens.ownerToken}\n`);
  await replaceFile(files.serviceToken, `${tokens.serviceToken}\n`);
  return { ...tenants, ...files };
}

/** Applies the seed at every start; the data file records which parts it has already. */
async function ensureSeeded(stack: Stack, data: string): Promise<void> {
  if (stack.embedded === undefined) return;
  const seed = await readOwnSeed(stack.embedded.seed, stack.directory);
  const { seedDataFile } = await import('../server/seed/prepare-data-file.ts');
  seedDataFile(data, seed);
}

/** The stored tokens. Undefined when there is no file or it is damaged: then new tokens are registered. */
async function readTokens(data: string): Promise<Tokens | undefined> {
  try {
    const tokens: Json = JSON.parse(await readRegularText(pathOf.tokens(data), megabyte));
    const [ownerToken, serviceToken] = [memberOf(tokens, 'ownerToken'), memberOf(tokens, 'serviceToken')];
    if (typeof ownerToken !== 'string' || typeof serviceToken !== 'string') return undefined;
    // Earlier versions stored no tokens of organizations.
    const organizationTokens = textMembers(memberOf(tokens, 'organizationTokens'));
    return { ownerToken, serviceToken, organizationTokens };
  } catch {
    return undefined;
  }
}

function textMembers(value: Json | undefined): Record<string, string> {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    members.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}

interface Running {
  readonly url: string;
  readonly dialects: DialectNames;
}

/** A running `serve`. It must prove that it serves this data file, because it will get our tokens. */
async function findRunning(data: string): Promise<Running | undefined> {
  const url = await readPublishedUrl(data);
  if (url === undefined) return undefined;
  const { dialectsServedAt } = await import('../server/kernel/served-data-file.ts');
  const dialects = await dialectsServedAt(data, url);
  return dialects && { url, dialects };
}

/** The URL that a `serve` of this file has published; that process may have ended. */
export async function readPublishedUrl(data: string): Promise<string | undefined> {
  const url = (await readRegularText(pathOf.url(data), megabyte).catch(() => '')).trim();
  return /^(?:http:\/\/127\.0\.0\.1|https:\/\/localhost):\d{1,5}$/.test(url) ? url : undefined;
}

/** Prints a failure of the service: it is a bug of trueup, and is reported nowhere else. */
export function printFailure(host: CliHost): (error: Error) => void {
  return (error) => host.stderr.write(`the embedded service failed: ${error.stack ?? error.message}\n`);
}

/** Publishes the URL of a data file for other commands. @returns a function that removes it again */
export async function publishUrl(data: string, url: string): Promise<() => Promise<void>> {
  if (data === ':memory:') return async () => {};
  await replaceFile(pathOf.url(data), `${url}\n`);
  return () => removePublishedUrl(data);
}

/** Also removes the URL that a killed `serve` has left. */
export function removePublishedUrl(data: string): Promise<void> {
  return rm(pathOf.url(data), { force: true });
}

// Reads the YAML seed of the embedded service. The service itself checks its shape.

const maxSeedSize = 32 * megabyte;

/**
 * Reads a seed that the command line names, which may lie anywhere.
 * @param directory the base of a relative file name
 * @throws CommandStop when it cannot be read or is not YAML; the message repeats none of its content
 */
export function readSeedFile(file: string, directory: string): Promise<unknown> {
  return readSeed(file, () => readRegular<never>(resolve(directory, file), maxSeedSize));
}

/** Reads a seed that a stack names; like manifests, it must be a file of the repository. */
async function readOwnSeed(file: string, directory: string): Promise<unknown> {
  const repository = await findRepository(directory);
  const path = resolve(directory, file);
  return readSeed(file, async () => {
    const bytes = await readRegular(path, maxSeedSize, (opened) =>
      checkInRepository(path, repository, opened),
    );
    if (bytes === 'outside') throw new Error(`it ${outsideMessage(repository).message}`);
    return bytes;
  });
}

async function readSeed(file: string, read: () => Promise<Buffer | Obstacle>): Promise<unknown> {
  try {
    const bytes = await read();
    if (typeof bytes === 'string') throw new UnfitFile(bytes, maxSeedSize);
    return load(bytes.toString('utf8'));
  } catch (cause) {
    throw new CommandStop('seed-unreadable', `the seed ${quoted(file)} cannot be read: ${whyUnread(cause)}`, {
      cause,
    });
  }
}

/** Why a seed cannot be read. The parser's message is not repeated: it quotes the file, which may be any file of the machine. */
function whyUnread(cause: unknown): string {
  if (!(cause instanceof YAMLException)) return systemErrorMessage(cause) ?? messageOf(cause);
  const { mark } = cause;
  return mark === undefined
    ? 'it is not YAML'
    : `it is not YAML, as line ${mark.line + 1}, column ${mark.column + 1} shows`;
}
