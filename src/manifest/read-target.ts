/**
 * Reads the targets of a stack and checks the rules that no schema can express, for each target and for all of them together.
 */
import { isJsonObject, type Json, type JsonObject, type Path } from '../model/json.ts';
import { patternsOverlap } from '../model/name-pattern.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { orList, quoted } from '../model/quoted.ts';
import {
  type Dialect,
  formatIdentity,
  identityOf,
  type Service,
  type Target,
  type TokenSource,
} from '../model/stack.ts';
import { pathText, type Problem, quotedMasked } from './problem.ts';
import type { TargetDocument } from './schema/target-schema.ts';

interface ReadTargetResult {
  /** absent when there are problems */
  readonly target?: Target;
  readonly problems: readonly Problem[];
}

/** Fields that apply to one service only. */
const serviceOf: Readonly<Record<string, Service>> = {
  organization: 'workspaces',
  auditToken: 'workspaces',
  ownership: 'workspaces',
  deletes: 'workspaces',
  readBeforeWrite: 'workspaces',
  mount: 'cluster-auth',
  namespace: 'cluster-auth',
  owns: 'cluster-auth',
  exclusive: 'cluster-auth',
};

/**
 * @param about.base path of the target in the stack
 * @param about.invalid members that the schema found wrong or missing; they are not reported again
 */
export function readTarget(
  value: Json,
  about: {
    readonly base: Path;
    readonly invalid: readonly string[];
    readonly dialects: ReadonlyMap<string, Dialect>;
  },
): ReadTargetResult {
  const { base, invalid, dialects } = about;
  if (!isJsonObject(value) || ['service', 'url', 'name', ''].some((name) => invalid.includes(name)))
    return { problems: [] };
  // without its invalid members the value has the type that the schema says
  const written = omit(value, invalid) as unknown as TargetDocument;
  const known = [...dialects.values()].filter(({ service }) => service === written.service);
  const dialect = known.find(({ name }) => name === (written.dialect ?? 'neutral'));
  const problems = [
    ...fieldsOfOtherService(written, base),
    ...checkUrl(written.url, [...base, 'url']),
    ...checkDialect(written, base, known),
    ...checkToken(written, base),
    ...checkLogin(written, base),
    ...checkPlace(written, base, dialect),
    ...(written.namespace === undefined ? [] : checkNamespace(written.namespace, [...base, 'namespace'])),
  ].filter(({ path }) => !invalid.includes(path[base.length] ?? ''));
  if (problems.length > 0 || invalid.length > 0) return { problems };
  return { target: toTarget(written, dialect?.defaultMount), problems };
}

function omit(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function toTarget(written: TargetDocument, defaultMount: string | undefined): Target {
  const { name, service, token, mount, auditToken, ...rest } = written;
  const mounted = mount ?? defaultMount;
  return {
    ...rest,
    name,
    service,
    url: written.url.replace(/\/+$/, ''),
    dialect: written.dialect ?? 'neutral',
    // the schema allows exactly one member in each
    ...(token === undefined ? {} : { token: token as TokenSource }),
    ...(auditToken === undefined ? {} : { auditToken: auditToken as Target['auditToken'] & object }),
    ...(service === 'cluster-auth' && mounted !== undefined ? { mount: mounted } : {}),
  };
}

function fieldsOfOtherService(written: TargetDocument, base: Path): Problem[] {
  return Object.keys(written)
    .filter((name) => (serviceOf[name] ?? written.service) !== written.service)
    .map((name) => ({
      code: 'not-for-service',
      path: [...base, name],
      side: 'key',
      message: `${quoted(name)} is for targets of service ${quoted(serviceOf[name] ?? '')}, and ${quoted(written.name)} is of ${quoted(written.service)}`,
      fix: `remove ${quoted(name)}`,
    }));
}

function checkUrl(url: string, path: Path): Problem[] {
  if (url === 'embedded') return [];
  const problem = (message: string, fix: string): Problem[] => [
    { code: 'url', path, message: `${quoted(pathText(path))} ${message}`, fix },
  ];
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return problem(
      'must be "embedded" or an http(s) address',
      'write an address such as https://app.example.com',
    );
  if (parsed.username !== '' || parsed.password !== '')
    return problem('holds a user name or password', 'remove it, and give a "token"');
  if (parsed.search !== '' || parsed.hash !== '')
    return problem('holds a query or fragment', 'end it before "?" and "#"');
  const api = /\/(api\/v2|v1)\/*$/.exec(parsed.pathname)?.[1];
  if (api !== undefined)
    return problem(`ends with the path of the API, ${quoted(`/${api}`)}`, `remove ${quoted(`/${api}`)}`);
  return [];
}

function checkDialect(
  { url, dialect, service }: TargetDocument,
  base: Path,
  known: readonly Dialect[],
): Problem[] {
  const path = [...base, 'dialect'];
  const names = known.map(({ name }) => name);
  if (dialect === undefined) {
    if (url === 'embedded') return [];
    const choices = known.map(({ name, spokenBy }) => `${quotedMasked(name)} for ${spokenBy}`);
    return [{ ...missing(path, `add ${orList(choices)}`), allowed: orList(names.map(quotedMasked)) }];
  }
  if (names.includes(dialect)) return [];
  const meant = nearestWord(dialect, names);
  return [
    {
      code: 'unknown-dialect',
      path,
      message: `targets of service ${quoted(service)} have no such dialect`,
      found: quotedMasked(dialect),
      allowed: orList(names.map(quotedMasked)),
      ...(meant === undefined ? {} : { fix: `did you mean ${quoted(meant)}?` }),
    },
  ];
}

function checkToken({ url, token, service }: TargetDocument, base: Path): Problem[] {
  const path = [...base, 'token'];
  if (token === undefined && url !== 'embedded')
    return [missing(path, 'add "token: { env: NAME }" or "token: { file: PATH }"')];
  if (token?.login === undefined || service === 'cluster-auth') return [];
  const message = 'a login is for targets of service "cluster-auth"';
  return [
    { code: 'not-for-service', path: [...path, 'login'], side: 'key', message, fix: 'give "env" or "file"' },
  ];
}

function checkPlace(
  { service, organization, mount }: TargetDocument,
  base: Path,
  dialect: Dialect | undefined,
): Problem[] {
  if (service === 'workspaces')
    return organization === undefined
      ? [missing([...base, 'organization'], 'add the name of the organization')]
      : [];
  const path = [...base, 'mount'];
  if (mount === undefined)
    return dialect === undefined || dialect.defaultMount !== undefined
      ? []
      : [missing(path, 'add the name of the mount')];
  return checkMount(mount, path);
}

function checkLogin({ token }: TargetDocument, base: Path): Problem[] {
  const mount = token?.login?.mount;
  return mount === undefined ? [] : checkMount(mount, [...base, 'token', 'login', 'mount']);
}

function missing(path: Path, fix: string): Problem {
  return { code: 'missing-field', path, side: 'key', message: `${quoted(pathText(path))} is missing`, fix };
}

// Checks the name of a mount, of a target or of its login: it becomes part of the paths of requests.

/** A name may contain slashes. An empty segment, `.` or `..` would lead elsewhere. */
function checkMount(mount: string, path: Path): Problem[] {
  const bare = mount.replace(/^\/+|\/+$/g, '').replace(/^auth\//, '');
  const problem = (message: string, fix: string): Problem[] => [
    { code: 'mount', path, message: `${quoted(pathText(path))} ${message}`, found: quotedMasked(mount), fix },
  ];
  if (bare.split('/').some((segment) => ['', '.', '..'].includes(segment)))
    return problem(
      'must be the name of a mount, without empty segments, "." or ".."',
      'write the name below "auth/"',
    );
  if (bare === mount) return [];
  return problem('must be the name below "auth/", without slashes around it', `write ${quoted(bare)}`);
}

/** A namespace may be in another one. An empty segment, `.` or `..` is not a name. */
function checkNamespace(namespace: string, path: Path): Problem[] {
  const bare = namespace.replace(/^\/+|\/+$/g, '');
  if (bare === '' || !bare.split('/').some((segment) => ['', '.', '..'].includes(segment))) return [];
  const message = `${quoted(pathText(path))} must be the path of a namespace`;
  return [
    {
      code: 'namespace',
      path,
      message,
      found: quotedMasked(namespace),
      fix: 'write it as "team" or "org/team"',
    },
  ];
}

// Checks that no two targets of a stack are the same place: resources that are declared for one would be undeclared for
// the other. Two targets may share a place only when both have `owns` and no name can match the patterns of both.

/** @param targets as the stack lists them; undefined where one could not be read */
export function checkPlaces(targets: readonly (Target | undefined)[]): Problem[] {
  return targets.flatMap((again, at) => {
    if (again === undefined) return [];
    const problems = targets
      .slice(0, at)
      .map((first, index) => first && checkPair([first, index], [again, at]));
    return problems.find((problem) => problem !== undefined) ?? [];
  });
}

const identityText = (target: Target) => formatIdentity(identityOf(target));

type IndexedTarget = readonly [target: Target, index: number];

function checkPair([first, firstAt]: IndexedTarget, [again, at]: IndexedTarget): Problem | undefined {
  // Two targets with the same name are reported as duplicates.
  if (first.name === again.name || identityText(first) !== identityText(again)) return undefined;
  const base = ['spec', 'targets'];
  const where = identityText(first);
  const both = `targets ${quoted(first.name)} and ${quoted(again.name)} are the same place: ${where}`;
  const problem = (path: Path, related: Path, texts: Pick<Problem, 'message' | 'fix'>): Problem => ({
    code: 'one-place',
    path: [...base, `${at}`, ...path],
    ...texts,
    related: [{ message: 'the other one', path: [...base, `${firstAt}`, ...related] }],
  });
  if (first.owns === undefined || again.owns === undefined)
    return problem(['name'], ['name'], { message: both, fix: fixFor(again) });
  const shared = firstOverlap(first.owns, again.owns);
  if (shared === undefined) return undefined;
  const [theirs, ours] = shared;
  const message = `${both}, and a name can match both ${quoted(first.owns[theirs] ?? '')} and ${quoted(again.owns[ours] ?? '')}`;
  const fix = 'narrow one of the two, so that no name matches both';
  return problem(['owns', `${ours}`], ['owns', `${theirs}`], { message, fix });
}

function fixFor({ service }: Target): string {
  return service === 'workspaces'
    ? 'keep one of them, and name it in the manifests of both'
    : 'keep one of them, or give each an "owns" that matches no name of the other one';
}

/** The indexes of the first two patterns, one of each list, that the same name can match. */
function firstOverlap(
  one: readonly string[],
  other: readonly string[],
): readonly [one: number, other: number] | undefined {
  const found = one.flatMap((pattern, index) => {
    const match = other.findIndex((candidate) => patternsOverlap(pattern, candidate));
    return match === -1 ? [] : [[index, match] as const];
  });
  return found[0];
}

// The embedded service of a stack has one dialect for each API: targets with `url: embedded` of one service must agree.

/** @param targets as the stack lists them; undefined where one could not be read */
export function checkEmbeddedDialects(targets: readonly (Target | undefined)[]): Problem[] {
  return targets.flatMap((target, at) => {
    if (target?.url !== 'embedded') return [];
    const firstAt = targets.findIndex(
      (other) => other?.url === 'embedded' && other.service === target.service,
    );
    const first = targets[firstAt];
    if (first === undefined || first.dialect === target.dialect) return [];
    return {
      code: 'embedded-dialects',
      path: ['spec', 'targets', `${at}`, 'dialect'],
      message:
        `target ${quoted(target.name)} uses the dialect ${quoted(target.dialect)} with the embedded service, and ${quoted(first.name)} uses ` +
        quoted(first.dialect),
      fix: 'use one dialect for both, or run a separate service for one of them ("trueup serve")',
      related: [{ message: 'the other one', path: ['spec', 'targets', `${firstAt}`] }],
    };
  });
}

// A rule that no schema can express: a stack must not both raise and allow the same guard, or the same code of the lint.

/**
 * @param section `guards` or `lint`
 * @param written that section of `spec`, as written
 */
export function checkLevels(section: 'guards' | 'lint', written: Json | undefined): Problem[] {
  if (!isJsonObject(written)) return [];
  const what = section === 'guards' ? 'guard' : 'code';
  const raised = listOf(written['raise']);
  return listOf(written['allow']).flatMap((id, index) => {
    const at = raised.indexOf(id);
    if (at === -1) return [];
    return {
      code: 'raised-and-allowed',
      path: ['spec', section, 'allow', `${index}`],
      message: `the ${what} ${quoted(String(id))} is both raised and allowed`,
      fix: 'leave it in one of the two lists',
      related: [{ message: 'raised here', path: ['spec', section, 'raise', `${at}`] }],
    };
  });
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
