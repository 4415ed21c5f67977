/**
 * Who sends a request, and which stacks they may see. Without `spec.console` everybody on this machine sees everything. With it, the
 * headers of the listed proxies name the user, or the console logs users in itself, and teams define what users see.
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { contains, isLoopback } from './networks.ts';
import type { ConsoleSettings } from './settings.ts';

/** What a caller may see. */
export interface Viewer {
  /** name of the user, from the proxy or the login; undefined without a user */
  readonly name: string | undefined;
  /** whether the console itself has logged the user in */
  readonly canSignOut?: boolean;
  /** PostgreSQL patterns of REPOSITORY/PATH; undefined: everything, including what belongs to no stack */
  readonly scope: readonly string[] | undefined;
}

/** Why a caller is refused. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly why: string;
}

type Request = Pick<FastifyRequest['raw'], 'headers' | 'rawHeaders' | 'socket'>;

/** What a caller may see, or why it is refused. */
export function viewerOf(request: Request, settings: ConsoleSettings | undefined): Viewer | Refusal {
  const refusal = callerRefusal(request, settings);
  if (refusal !== undefined) return refusal;
  if (settings === undefined) return { name: undefined, scope: undefined };
  const { trustedHeader, teams } = settings;
  // The console logs users in itself, and does not trust headers.
  if (trustedHeader === undefined) return refused('the console takes no header with a user');
  const { user, groups } = trustedHeader;
  const [name, ...others] = valuesOf(request, user);
  const listed = valuesOf(request, groups);
  // If a proxy adds its header to that of the caller, it is not known which of them is right.
  if (others.length > 0 || listed.length > 1)
    return refused(
      'the proxy sent a header with the user or the groups twice: it must replace those of the caller',
    );
  if (name === undefined || name === '') return refused(`the proxy sent no header ${user}`);
  const own = new Set(
    (listed[0] ?? '')
      .split(',')
      .map((group) => group.trim())
      .filter(Boolean),
  );
  return { name, scope: scopeOf(own, teams) };
}

/** What the members of groups see, as `scope` of a viewer. */
export function scopeOf(
  groups: ReadonlySet<string>,
  teams: ConsoleSettings['teams'],
): readonly string[] | undefined {
  const own = Object.values(teams).filter((team) => team.groups.some((group) => groups.has(group)));
  const patterns = [...new Set(own.flatMap(({ stacks }) => stacks))];
  return patterns.includes('**') ? undefined : patterns.map(patternSql);
}

/** Why a caller is refused: it is neither on this machine nor a listed proxy, or its request has the name of another host. */
function callerRefusal(request: Request, settings: ConsoleSettings | undefined): Refusal | undefined {
  const address = request.socket.remoteAddress;
  if (settings === undefined && !isLoopback(address))
    return refused('only callers on this machine are let in: spec.console of fleet.yaml can let in others');
  const isProxy = settings === undefined || contains(settings.trustedHeader?.proxies ?? [], address);
  if (!isProxy) return refused('only the proxies that spec.console of fleet.yaml lists are let in');
  return hostRefusal(request, settings?.hosts);
}

/** Prevents DNS rebinding: a foreign page in a browser of this machine can only send its own host name, not one of this machine. */
export function hostRefusal(
  { headers, socket }: Request,
  hosts: readonly string[] = [],
): Refusal | undefined {
  if (!isLoopback(socket.remoteAddress)) return undefined;
  const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  const isKnown =
    name === 'localhost' ||
    isLoopback(name.replace(/^\[|\]$/g, '')) ||
    hosts.some((host) => host.toLowerCase() === name);
  return isKnown
    ? undefined
    : refused(
        'the host name of the request is not one of this machine: spec.console.hosts of fleet.yaml can allow it',
      );
}

/** Whether the request has the token as a bearer token. */
export function hasToken({ headers }: Pick<Request, 'headers'>, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

function refused(why: string): Refusal {
  return { status: 403, why };
}

/** All values of a header, one by one: Node joins headers of the same name. */
function valuesOf({ rawHeaders }: Request, name: string): string[] {
  return rawHeaders.flatMap((given, index) =>
    index % 2 === 0 && given.toLowerCase() === name.toLowerCase()
      ? [(rawHeaders[index + 1] ?? '').trim()]
      : [],
  );
}

/** A pattern as a regular expression of PostgreSQL. */
function patternSql(pattern: string): string {
  const parts = pattern.split(/(\*\*\/|\*\*|\*|\?)/);
  const wildcards: Readonly<Record<string, string>> = {
    '**/': '(.*/)?',
    '**': '.*',
    '*': '[^/]*',
    '?': '[^/]',
  };
  const source = parts.map(
    (part) => wildcards[part] ?? part.replace(/[^\p{L}\p{N}\s_/-]/gu, (one) => `\\${one}`),
  );
  return `^${source.join('')}$`;
}
