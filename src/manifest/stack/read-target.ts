/**
 * Reads one target of a stack and checks the rules that depend on its service: required fields, fields that do not apply, and a
 * URL without credentials, query or API path. A target that is not embedded must name a dialect (rule 2).
 */
import { isJsonObject, type Json, type JsonObject, type Path } from '../../model/json/json.ts';
import type { Dialect, Service, Target, TokenSource } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { nearestWord } from '../explain/nearest-word.ts';
import { orList, type Problem, pathText, quotedShort } from '../explain/problem.ts';
import type { TargetDocument } from '../schema/stack-schema.ts';
import { checkMount } from './check-mount.ts';
import { checkNamespace } from './check-namespace.ts';

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
    const choices = known.map(({ name, spokenBy }) => `${quotedShort(name)} for ${spokenBy}`);
    return [{ ...missing(path, `add ${orList(choices)}`), allowed: orList(names.map(quotedShort)) }];
  }
  if (names.includes(dialect)) return [];
  const meant = nearestWord(dialect, names);
  return [
    {
      code: 'unknown-dialect',
      path,
      message: `targets of service ${quoted(service)} have no such dialect`,
      found: quotedShort(dialect),
      allowed: orList(names.map(quotedShort)),
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
