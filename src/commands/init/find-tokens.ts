/**
 * Finds the tokens that the command lines of the services use on this machine, and the address that each belongs to. A token is
 * used for that address only: scheme, host and port must be the same.
 */
import { join } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { ClientSettings } from '../../model/stack.ts';
import { shellWord } from '../../report/view/printable.ts';
import type { CliHost } from '../../run/host.ts';

export interface FoundToken {
  readonly value: string;
  /** where it was found, as a user would write it: a variable, or a file below `~` */
  readonly from: string;
  /** the one address that it may be sent to, such as `https://app.example.com`; undefined when it cannot be determined */
  readonly origin: string | undefined;
  /** the variable that holds it, if a stack can name it */
  readonly variable?: string;
  /** what a shell replaces by the token, without showing it; belongs into double quotes */
  readonly expansion: string;
}

/** Scheme, host and port, normalized; undefined for what is no http(s) address, or holds a user name or a password. */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, username, password, origin } = new URL(address);
  return /^https?:$/.test(protocol) && username === '' && password === '' ? origin : undefined;
}

/** The same for a host name with or without a port, and nothing else. */
function originOfHost(host: string): string | undefined {
  return /[/\\?#@\s]/.test(host) ? undefined : originOf(`https://${host}`);
}

/** The addresses that the environment gives to a client, in order. */
export function addressesIn(
  { addresses, hosts }: Pick<ClientSettings, 'addresses' | 'hosts'>,
  env: CliHost['env'],
): string[] {
  const valuesOf = (names: readonly string[]) =>
    names.map((name) => env[name]?.trim() ?? '').filter((value) => value !== '');
  return [...valuesOf(addresses), ...valuesOf(hosts).map((host) => `https://${host}`)];
}

/** All tokens of these clients. The run knows them as secrets from then on, so that none is ever printed. */
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

/** The address that a client sends its token to; undefined when the environment names none, or a host that contradicts the address. */
function clientOrigin(client: ClientSettings, env: CliHost['env']): string | undefined {
  const [first = client.defaultAddress ?? '', ...others] = addressesIn(client, env);
  const origin = originOf(first);
  // The first of several addresses counts; a host name beside it must be the same place.
  return client.hosts.length > 0 && others.some((other) => originOf(other) !== origin) ? undefined : origin;
}

function ownToken(client: ClientSettings, env: CliHost['env']): FoundToken {
  const { token: variable } = client;
  const value = env[variable]?.trim() ?? '';
  const origin = clientOrigin(client, env);
  return { value, from: variable, origin, variable, expansion: `$${variable}` };
}

/** `PREFIX_app_example_com` is the token of app.example.com, and `__` is a hyphen. */
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

/** Several clients may read the same file: if they would send its token to different places, it belongs to none of them. */
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

/** A file below the home directory; undefined when there is none, or it cannot be read. */
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
