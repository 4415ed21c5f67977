/**
 * Decides which token source a new stack names, and whether this run may use a token that was found. A found token is used only for
 * the address that it belongs to, and only with consent.
 */
import { join } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { ClientSettings, SecretSource } from '../../model/stack.ts';
import { missingFileToShow, variableToShow } from '../../redaction/mask-text.ts';
import { shellWord } from '../../report/view/printable.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import { agrees, type Asking } from './questions.ts';

export interface ChosenToken {
  /** the source in the stack file; absent for the embedded service, which has its own token */
  readonly source?: SecretSource;
  /** the environment with the token in the variable that the stack names; absent if the run has no token, and does not connect */
  readonly env?: Asking['host']['env'];
  /** why `env` is absent, as a clause */
  readonly missing?: string;
  /** a shell line that sets the variable; absent if it is set, or the token is in a file */
  readonly exportLine?: string;
  /** sentences about tokens that were found and are not used */
  readonly notes: readonly string[];
}

export interface TokenWish {
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  /** false: the run does not connect, and needs no token */
  readonly connect: boolean;
}

interface TokenPlace {
  readonly url: string;
  /** the variable that the service's own command line uses */
  readonly usual: string;
  readonly found: readonly FoundToken[];
  /** Converts the path of a file in a flag to the path in the stack file. */
  readonly fileName: (path: string) => string;
}

/** @throws CommandStop if an answer is missing or not valid */
export async function chooseToken(
  { tokenEnv, tokenFile, connect }: TokenWish,
  place: TokenPlace,
  asking: Asking,
): Promise<ChosenToken> {
  const { env } = asking.host;
  refuseTokens(tokenEnv, tokenFile);
  const usable = connect ? { env } : {};
  if (tokenFile !== undefined) return { source: { file: place.fileName(tokenFile) }, ...usable, notes: [] };
  if (tokenEnv !== undefined) {
    const isSet = (env[tokenEnv]?.trim() ?? '') !== '';
    const how = isSet
      ? usable
      : { exportLine: promptLine(tokenEnv), missing: `the variable ${tokenEnv} is not set` };
    return { source: { env: tokenEnv }, ...how, notes: [] };
  }
  const origin = originOf(place.url);
  const matching = place.found.find((token) => token.origin !== undefined && token.origin === origin);
  const variable = matching?.variable ?? freeVariable(place, env);
  const source = { env: variable };
  const notes = matching === undefined ? place.found.map(whyUnused) : [];
  if (matching === undefined) {
    const missing = `no token for ${place.url} was found`;
    return { source, exportLine: promptLine(variable), notes, missing };
  }
  const exportLine =
    matching.variable === undefined
      ? { exportLine: ['export ', variable, '="', matching.expansion, '"'].join('') }
      : {};
  const mayUse = connect && (await askToUse(matching, place.url, asking));
  const use = mayUse
    ? { env: { ...env, [variable]: matching.value } }
    : { missing: `you declined to use the token in ${matching.from}` };
  return { source, ...exportLine, ...use, notes };
}

/** Refuses a token that was passed as the name of its source: it would be written into the stack. @throws CommandStop without the token */
function refuseTokens(tokenEnv: string | undefined, tokenFile: string | undefined): void {
  const never = 'never the token itself, which would be written into the stack';
  if (tokenEnv !== undefined && variableToShow(tokenEnv) !== quoted(tokenEnv))
    throw new CommandStop('usage', `--token-env: give the name of a variable, ${never}`);
  if (tokenFile !== undefined && missingFileToShow(tokenFile) !== quoted(tokenFile))
    throw new CommandStop('usage', `--token-file: give the path of a file, ${never}`);
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new CommandStop('usage', 'give "--token-env" or "--token-file", and not both');
}

async function askToUse({ from }: FoundToken, url: string, asking: Asking): Promise<boolean> {
  if (asking.takesDefaults) return true;
  if (!asking.canAsk)
    throw new CommandStop(
      'answer-needed',
      `nothing was written: pass "--yes" to use the token in ${from} for ${quoted(url)}, or "--no-connect" to write the files only`,
    );
  return agrees(`Use the token in ${from} to read from ${url}?`, asking);
}

/** The usual variable, unless it holds the token of another address, because `trueup plan` would send that token. */
function freeVariable({ usual, url }: TokenPlace, env: Asking['host']['env']): string {
  if ((env[usual]?.trim() ?? '') === '') return usual;
  const host = new URL(url).host.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return `TOKEN_${host}`.replace(/_+$/, '');
}

function whyUnused({ from, origin }: FoundToken): string {
  const name = from.startsWith('~') ? from : variableToShow(from);
  return origin === undefined
    ? `the token in ${name} is not used: it is not known which address it belongs to`
    : `the token in ${name} is not used: it belongs to ${quoted(origin)}`;
}

/** A shell line that reads the token from the keyboard: the token is neither shown nor kept in the history of the shell. */
function promptLine(variable: string): string {
  return `read -rs ${variable} && export ${variable}`;
}

// Finds the tokens that the command lines of the services use on this machine, and the address that each belongs to. A token is
// used for that address only: scheme, host and port must be the same.

interface FoundToken {
  readonly value: string;
  /** where it was found, as a user would write it: a variable, or a file below `~` */
  readonly from: string;
  /** the only address that it may be sent to, such as `https://app.example.com`; undefined if that is not known */
  readonly origin: string | undefined;
  /** the variable that holds it, if a stack can name it */
  readonly variable?: string;
  /** a shell expression that expands to the token, for use in double quotes */
  readonly expansion: string;
}

/** Scheme, host and port, normalized; undefined if it is not an http(s) address, or has a user name or a password. */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, username, password, origin } = new URL(address);
  return /^https?:$/.test(protocol) && username === '' && password === '' ? origin : undefined;
}

/** The origin for a host name, with or without a port; undefined for any other text. */
function originOfHost(host: string): string | undefined {
  return /[/\\?#@\s]/.test(host) ? undefined : originOf(`https://${host}`);
}

/** The addresses that the environment sets for a client, in the order in which the client reads them. */
export function addressesIn(
  { addresses, hosts }: Pick<ClientSettings, 'addresses' | 'hosts'>,
  env: CliHost['env'],
): string[] {
  const valuesOf = (names: readonly string[]) =>
    names.map((name) => env[name]?.trim() ?? '').filter((value) => value !== '');
  return [...valuesOf(addresses), ...valuesOf(hosts).map((host) => `https://${host}`)];
}

/** All tokens of these clients. Also makes them known secrets of the run, so that none is ever printed. */
export async function findTokens(
  clients: readonly ClientSettings[],
  { env, secrets }: Pick<CliHost, 'env' | 'secrets'>,
): Promise<FoundToken[]> {
  const files = Map.groupBy(clients, ({ tokenFile }) => tokenFile);
  const stored = await Promise.all([
    ...clients.map((client) => storedTokens(client, env)),
    ...[...files].map(([file, readers]) => tokenInFile(file, readers, env)),
  ]);
  const inVariables = clients.flatMap((client) => [ownToken(client, env), ...hostTokens(client, env)]);
  const found = [...inVariables, ...stored.flat()].filter(({ value }) => value !== '');
  for (const { value, from } of found) secrets.keep(value, from);
  return found;
}

/** The address that a client sends its token to; undefined if the environment names none, or a host that contradicts it. */
function clientOrigin(client: ClientSettings, env: CliHost['env']): string | undefined {
  const [first = client.defaultAddress ?? '', ...others] = addressesIn(client, env);
  const origin = originOf(first);
  // The first of several addresses counts. If the client also has host variables, all addresses must be the same.
  return client.hosts.length > 0 && others.some((other) => originOf(other) !== origin) ? undefined : origin;
}

function ownToken(client: ClientSettings, env: CliHost['env']): FoundToken {
  const { token: variable } = client;
  const value = env[variable]?.trim() ?? '';
  const origin = clientOrigin(client, env);
  return { value, from: variable, origin, variable, expansion: `$${variable}` };
}

/** The variable `PREFIX_app_example_com` holds the token of app.example.com; `__` in its name means a hyphen. */
function hostTokens({ hostToken }: ClientSettings, env: CliHost['env']): FoundToken[] {
  if (hostToken === undefined) return [];
  const prefix = hostToken.replace(/HOST$/, '');
  const names = Object.keys(env).filter((name) => name.startsWith(prefix));
  return names.map((name) => {
    const host = name.slice(prefix.length).replaceAll('__', '-').replaceAll('_', '.');
    const isPlain = /^\w+$/.test(name);
    return {
      value: env[name]?.trim() ?? '',
      from: name,
      origin: originOfHost(host),
      expansion: isPlain ? `$${name}` : `$(printenv ${shellWord(name)})`,
    };
  });
}

async function storedTokens({ credentials }: ClientSettings, env: CliHost['env']): Promise<FoundToken[]> {
  const text = await homeText(credentials, env);
  if (credentials === undefined || text === undefined) return [];
  const hosts = memberOf(parsed(text), 'credentials');
  if (!isJsonObject(hosts)) return [];
  const script = 'JSON.parse(fs.readFileSync(process.argv[1])).credentials[process.argv[2]].token';
  return Object.entries(hosts).flatMap(([host, entry]) => {
    const value = memberOf(entry, 'token');
    if (typeof value !== 'string') return [];
    return {
      value: value.trim(),
      from: `~/${credentials}`,
      origin: originOfHost(host),
      expansion: `$(node -p '${script}' ~/${credentials} ${shellWord(host)})`,
    };
  });
}

/** Several clients may read the same file. If they would send its token to different addresses, its address is not known. */
async function tokenInFile(
  file: string | undefined,
  readers: readonly ClientSettings[],
  env: CliHost['env'],
): Promise<FoundToken[]> {
  const text = await homeText(file, env);
  if (file === undefined || text === undefined) return [];
  const origins = new Set(readers.flatMap((client) => clientOrigin(client, env) ?? []));
  const [origin] = origins.size === 1 ? origins : [];
  return [{ value: text.trim(), from: `~/${file}`, origin, expansion: `$(cat ~/${file})` }];
}

/** The text of a file below the home directory; undefined if it does not exist or cannot be read. */
async function homeText(file: string | undefined, env: CliHost['env']): Promise<string | undefined> {
  const home = env['HOME'] || env['USERPROFILE'];
  if (file === undefined || home === undefined) return undefined;
  return readRegularText(join(home, file), megabyte).catch(() => undefined);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
