/** `trueup serve`: runs the embedded service alone, to try things and to test pipelines. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { dialectNames } from '../api/dialects.ts';
import { quoted } from '../model/quoted.ts';
import { addExamples, type CommandEnd, type CommonOptions } from '../run/command-options.ts';
import {
  type DataFileOwner,
  embeddedDataFile,
  ensureOwner,
  prepareDataFile,
  printFailure,
  publishUrl,
  readPublishedUrl,
  readSeedFile,
  removePublishedUrl,
} from '../run/embedded-service.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import type { CommandContext } from '../run/terminal.ts';
import { adminTokenFile, newAdminToken, readTlsFiles, writeAdminToken } from './serve-files.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .option('--port <number>', 'port to listen on (default: any free one)', parsePort)
    .option('--data <file>', 'database file, or :memory: (default: .trueup/embedded.db)')
    .option('--seed <file>', 'YAML with the organizations, tokens, mounts and so on to start with')
    .option(
      '--relaxed-writes',
      'answers before a write is on the disk: faster, and a power cut may lose the newest',
    )
    .option('--in-pod <folder>', 'behaves as in a pod whose "ca.crt" and "token" are in this folder')
    .option(
      '--dialect <name...>',
      `what it speaks, at most one for each of the two APIs: ${dialectWords()} (default: neutral)`,
    )
    .option(
      '--edition <name>',
      'which edition of the workspaces API: all, hosted or self-hosted (default: the first that the dialect has)',
    )
    .option(
      '--rate-limit <number>',
      'requests a second that each user may send to the workspaces API (default: any number)',
      parseRate,
    )
    .option('--tls-cert <file>', 'speaks TLS with this certificate, in PEM; needs --tls-key')
    .option('--tls-key <file>', "the certificate's key, in PEM")
    .option('--admin', 'serves /admin/ too: faults, and a clock that can be moved, for tests')
    .option(
      '--admin-token-file <file>',
      'where --admin writes the token of /admin/ (default: beside the data file)',
    )
    .action(async (options: CommonOptions & ServeOptions) => {
      end(await serve(options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup serve', 'serve both APIs on a free port, with data in .trueup/embedded.db'],
    [
      'trueup serve --data :memory: --seed seed.yaml --port 8200',
      'for tests: the data is gone when it stops',
    ],
  );
}

/** The names of real services, by API. */
function dialectWords(): string {
  return (['workspaces', 'cluster-auth'] as const)
    .map(
      (service) =>
        `${dialectNames(service)
          .filter((name) => name !== 'neutral')
          .join(' or ')} for ${service}`,
    )
    .join(', ');
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (!Number.isInteger(rate) || rate < 1 || rate > 1_000_000)
    throw new InvalidArgumentError('a rate is a number from 1 to 1000000');
  return rate;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}

interface ServeOptions {
  readonly port?: number;
  readonly data?: string;
  readonly seed?: string;
  readonly dialect?: readonly string[];
  readonly relaxedWrites?: boolean;
  readonly inPod?: string;
  readonly edition?: string;
  readonly rateLimit?: number;
  readonly admin?: boolean;
  readonly adminTokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Resolves after a signal, when the service has closed. */
async function serve(options: ServeOptions, { host }: CommandContext): Promise<ExitCode> {
  // A file name alone does not serve /admin/: that needs --admin.
  if (options.adminTokenFile !== undefined && options.admin !== true)
    throw new CommandStop('usage', '--admin-token-file needs --admin: add --admin, or leave the file out');
  const { tlsCert: cert, tlsKey: key } = options;
  if ((cert === undefined) !== (key === undefined))
    throw new CommandStop('usage', '--tls-cert and --tls-key go together: name both files, or neither');
  // A dialect or an edition that is not served is reported before any file is opened.
  const { chooseDialects } = await import('../server/kernel/dialects.ts');
  const { chooseEdition } = await import('../server/kernel/workspaces-dialects.ts');
  chooseEdition(options.edition, chooseDialects(options.dialect ?? []).workspaces);
  // The server checks the shape of the seed and reports its mistakes.
  const seed = options.seed === undefined ? undefined : await readSeedFile(options.seed, host.cwd);
  const tls = cert && key ? await readTlsFiles({ cert, key }, host.cwd) : undefined;
  const data = options.data === inMemory ? inMemory : await dataFileOf(options, host);
  const adminFile = adminTokenPath(options, data, host);
  const hold = await holdFile(data, host.machine().pid);
  try {
    await serveUntilStopped(data, { ...options, seed, adminFile, tls }, host);
  } catch (error) {
    const why = portProblem(error, options.port);
    throw why === undefined ? error : new CommandStop('port-unavailable', why);
  } finally {
    hold.release();
  }
  return exitCodes.done;
}

const inMemory = ':memory:';

function dataFileOf(options: ServeOptions, host: CliHost): Promise<string> {
  return prepareDataFile(resolve(host.cwd, options.data ?? embeddedDataFile('.')));
}

/** Where the admin token is written; undefined without `--admin`. */
function adminTokenPath(options: ServeOptions, data: string, host: CliHost): string | undefined {
  if (options.admin !== true) return undefined;
  if (options.adminTokenFile !== undefined) return resolve(host.cwd, options.adminTokenFile);
  if (data !== inMemory) return adminTokenFile(data);
  throw new CommandStop(
    'admin-token-place',
    'with data in memory there is no data file to put the admin token beside: name a file with --admin-token-file',
  );
}

/** Only one `serve` may use a data file at a time; data in memory is never shared. @throws CommandStop */
async function holdFile(data: string, pid: number): Promise<{ release(): void }> {
  if (data === inMemory) return { release: () => {} };
  const { holdDataFile } = await import('../server/kernel/served-data-file.ts');
  const hold = holdDataFile(data, pid);
  if (!('heldBy' in hold)) {
    await removePublishedUrl(data);
    return hold;
  }
  const url = await readPublishedUrl(data);
  const who = [url && `at ${url}`, hold.heldBy.pid && `by process ${hold.heldBy.pid}`].filter(Boolean);
  throw new CommandStop(
    'data-file-served',
    `the data file ${quoted(data)} is served already${who.length > 0 ? `: ${who.join(' ')}` : ''}`,
  );
}

const portMessages: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use already',
  EACCES: 'is one that this user may not open',
};

/** Why the port cannot be used, and what to do; undefined for other errors. */
function portProblem(error: unknown, port: number | undefined): string | undefined {
  const { code = '', syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const reason = syscall === 'listen' ? portMessages[code] : undefined;
  if (reason === undefined || port === undefined) return undefined;
  return `port ${port} ${reason}: choose another with --port, or leave --port out to get any free one`;
}

type ServedOptions = Omit<ServeOptions, 'seed'> & {
  readonly seed: unknown;
  readonly adminFile: string | undefined;
  readonly tls: Awaited<ReturnType<typeof readTlsFiles>> | undefined;
};

async function serveUntilStopped(data: string, options: ServedOptions, host: CliHost): Promise<void> {
  const { startServer } = await import('../server/start-server.ts');
  const { chooseDialects } = await import('../server/kernel/dialects.ts');
  const { port = 0, seed, dialect: dialects = [], relaxedWrites: relaxed = false, inPod } = options;
  const { edition, rateLimit, adminFile, tls } = options;
  const admin = adminFile === undefined ? undefined : { file: adminFile, token: newAdminToken(host) };
  const server = await startServer({
    data,
    port,
    dialects,
    relaxed,
    ...(inPod === undefined ? {} : { inPod: resolve(host.cwd, inPod) }),
    ...(edition === undefined ? {} : { edition }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(admin === undefined ? {} : { admin }),
    ...(tls === undefined ? {} : { tls }),
    ...(seed === undefined ? {} : { seed: seed as Record<string, never> }),
    onFailure: printFailure(host),
  });
  try {
    const curl = curlLine(server.url, options.tlsCert);
    const { workspaces, clusterAuth } = chooseDialects(dialects);
    const about = { url: server.url, curl, workspaces, clusterAuth, certificate: options.tlsCert };
    const hint = data === inMemory ? memoryHint(seed) : useHint(await ensureOwner(data), about);
    const removeToken = admin && (await writeAdminToken(admin.file, admin.token));
    const unpublish = await publishUrl(data, server.url);
    const adminHint = admin === undefined ? [] : adminTokenHint(admin.file, server.url, curl);
    // Listens first: a signal may arrive right after the line that says the service is ready.
    const stopped = new Promise<void>((stop) => host.onStop(stop));
    host.stdout.write([`trueup serves ${server.url} from ${data}`, ...hint, ...adminHint, ''].join('\n'));
    await stopped;
    await unpublish();
    await removeToken?.();
  } finally {
    await server.close();
  }
}

/** The beginning of a curl command that reads a header from its input. */
function curlLine(url: string, certificate: string | undefined): string {
  const trust = certificate === undefined ? '' : ` --cacert ${shellQuoted(certificate)}`;
  return `curl -sS --noproxy '*'${trust} -H @- ${url}`;
}

/** The values for the curl commands and the targets in the hint. */
interface HintContext {
  readonly url: string;
  readonly curl: string;
  readonly workspaces: { readonly name: string };
  readonly clusterAuth: { readonly name: string; readonly mountType: string };
  readonly certificate: string | undefined;
}

/** How to authenticate, how to create what is missing, and the targets to copy. Shows no token, here or in the list of processes. */
function useHint({ ownerToken, serviceToken, ...existing }: DataFileOwner, about: HintContext): string[] {
  const [organization = 'acme', mount = about.clusterAuth.mountType] = [
    existing.organizations[0],
    existing.mounts[0],
  ];
  const curlWith = (file: string) =>
    `  sed 's/^/Authorization: Bearer /' ${shellQuoted(file)} | ${about.curl}`;
  const attributes = { name: organization, email: `${organization}@example.com` };
  const newOrganization = JSON.stringify({ data: { type: 'organizations', attributes } });
  return [
    `A token of an owner is in ${ownerToken}. To try it:`,
    `${curlWith(ownerToken)}/api/v2/account/details`,
    ...(existing.organizations.length > 0
      ? []
      : [
          'There is no organization yet. To make one:',
          `${curlWith(ownerToken)}/api/v2/organizations -H 'Content-Type: application/vnd.api+json' -d ${shellQuoted(newOrganization)}`,
        ]),
    ...(existing.mounts.length > 0
      ? []
      : [
          'There is no mount yet. To make one:',
          `${curlWith(serviceToken)}/v1/sys/auth/${mount} -d ${shellQuoted(JSON.stringify({ type: about.clusterAuth.mountType }))}`,
        ]),
    ...(about.certificate === undefined
      ? []
      : [`Commands that use it need NODE_EXTRA_CA_CERTS=${shellQuoted(about.certificate)}.`]),
    'To use it, put these into "spec.targets" of a stack file:',
    ...targetBlock('workspaces', about, [
      `dialect: ${about.workspaces.name}`,
      `organization: ${JSON.stringify(organization)}`,
      `token: { file: ${JSON.stringify(ownerToken)} }`,
    ]),
    ...targetBlock('cluster-auth', about, [
      `dialect: ${about.clusterAuth.name}`,
      `mount: ${JSON.stringify(mount)}`,
      `token: { file: ${JSON.stringify(serviceToken)} }`,
    ]),
  ];
}

/** One target of a stack file. JSON strings are also valid YAML. */
function targetBlock(service: string, { url }: HintContext, more: readonly string[]): string[] {
  const [first, ...rest] = [`name: ${service}`, `service: ${service}`, `url: ${url}`, ...more];
  return [`    - ${first}`, ...rest.map((line) => `      ${line}`)];
}

function adminTokenHint(file: string, url: string, curl: string): readonly string[] {
  return [
    `The admin token for ${url}/admin/ is in ${file} while this runs. To try it:`,
    `  sed 's/^/Authorization: Bearer /' ${shellQuoted(file)} | ${curl}/admin/clock`,
  ];
}

function memoryHint(seed: unknown): readonly string[] {
  return seed === undefined ? ['No token works: data in memory has only the tokens of a seed (--seed).'] : [];
}

/** Quotes a text as one word of a shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
