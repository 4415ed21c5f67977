/**
 * `sys/auth/…` and `sys/internal/ui/mounts` (wire/cluster-auth 2.9): auth methods are listed, enabled, tuned and disabled. No
 * mount has the path of another one, or a path below it. Disabling a mount removes its config, roles and tokens.
 */
import { dialectsWithMountType, type ServedDialects } from '../kernel/dialects.ts';
import type { Services } from '../kernel/services.ts';
import { answerData, answerDone, answerError, answerOnTop, type SecretsAnswer } from './answer.ts';
import { type ServiceCall, type ServiceHandler, textIn } from './call.ts';
import { readDuration } from './durations.ts';
import { asPairs, asText, type ValueOrProblem } from './field-coercion.ts';
import { isObject } from './json-values.ts';
import {
  CLUSTER_AUTH_METHOD,
  DEFAULT_TOKEN_TYPE,
  deleteMount,
  engineDocuments,
  leaseLimitsOf,
  type Mount,
  mountDocument,
  type MountSettings,
  mountsIn,
  storeMount,
  tokenStoreDocument,
  tuneMount,
  wireType,
} from './mounts.ts';

/** The other auth methods. They can be mounted and listed, but every login with them fails. */
const OTHER_METHODS = ['approle', 'cert', 'jwt', 'kerberos', 'ldap', 'oidc', 'radius', 'userpass'];

const TOKEN_STORE = 'token';

/** `GET sys/auth`: all mounts, by path. */
export const listMounts: ServiceHandler = (call) => answerOnTop(authMountDocuments(call));

/** All auth mounts of the namespace as documents, by path with a slash at its end. */
function authMountDocuments({ services, namespace }: ServiceCall): Record<string, unknown> {
  const { clusterAuth } = services.dialects;
  return {
    [`${TOKEN_STORE}/`]: tokenStoreDocument(clusterAuth),
    ...Object.fromEntries(
      mountsIn(services.database, namespace).map((mount) => [
        `${mount.path}/`,
        mountDocument(mount, clusterAuth),
      ]),
    ),
  };
}

/** `GET sys/auth/:path`: the mount, or 400 if no mount is there. */
export const readMount: ServiceHandler = (call) => {
  const document = authMountDocuments(call)[`${mountPath(call)}/`];
  return isObject(document)
    ? answerOnTop(document)
    : answerError(400, `No auth engine at ${mountPath(call)}/`);
};

/** `POST sys/auth/:path`: enables a method there. 204, or 400. */
export const enableMount: ServiceHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { services, namespace, body } = call;
    const path = mountPath(call);
    const type = textIn(body, 'type');
    if (/\p{Cc}/u.test(path)) return answerError(400, 'the path has characters that cannot be printed');
    if (type === '') return answerError(400, 'backend type must be specified as a string');
    const config = readMountConfig({}, isObject(body['config']) ? body['config'] : {});
    if (!config.ok) return answerError(400, config.problem);
    const options = asPairs(body['options'] ?? null);
    if (!options.ok) return answerError(400, options.problem);
    const taken = [{ path: TOKEN_STORE }, ...mountsIn(services.database, namespace)].find(
      (mount) => `${path}/`.startsWith(`${mount.path}/`) || `${mount.path}/`.startsWith(`${path}/`),
    );
    if (taken !== undefined) return answerError(400, `path is already in use at ${taken.path}/`);
    const method = storedType(type, services.dialects.clusterAuth.mountType);
    if (method === undefined)
      return answerError(400, `plugin not found in the catalog: ${type}${typeHint(type, services.dialects)}`);
    const settings: MountSettings = {
      ...config.value,
      description: textIn(body, 'description'),
      options: options.value,
      local: body['local'] === true,
      seal_wrap: body['seal_wrap'] === true,
    };
    storeMount(services.database, { namespace, path, type: method, settings }, services.now());
    return answerDone();
  });

/** `DELETE sys/auth/:path`: 204, also if no mount is there. */
export const disableMount: ServiceHandler = (call) => {
  if (mountPath(call) === TOKEN_STORE) return answerError(400, 'token credential backend cannot be disabled');
  const mount = mountAt(call);
  if (mount !== undefined) deleteMount(call.services.database, mount.id);
  return answerDone();
};

/** `GET sys/auth/:path/tune`: the effective settings of the mount, including the service's own limits. */
export const readTuning: ServiceHandler = (call) => {
  const mount = mountAt(call);
  if (mount === undefined) return answerError(400, noMount(call));
  const { description = '', token_type, local, seal_wrap, options, ...more } = mount.settings;
  const limits = leaseLimitsOf(mount);
  return answerOnTop({
    ...more,
    default_lease_ttl: limits.defaultTtl,
    description,
    force_no_cache: more['force_no_cache'] ?? false,
    max_lease_ttl: limits.maxTtl,
    token_type: token_type ?? DEFAULT_TOKEN_TYPE,
  });
};

/** `POST sys/auth/:path/tune`: changes the settings that are sent. 204, or 400. */
export const writeTuning: ServiceHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const mount = mountAt(call);
    if (mount === undefined) return answerError(400, noMount(call));
    const { description } = call.body;
    const config = readMountConfig(mount.settings, call.body);
    if (!config.ok) return answerError(400, config.problem);
    const described = typeof description === 'string' ? { description } : {};
    tuneMount(call.services.database, mount.id, { ...mount.settings, ...config.value, ...described });
    return answerDone();
  });

function mountAt(call: ServiceCall): Mount | undefined {
  const path = mountPath(call);
  return mountsIn(call.services.database, call.namespace).find((mount) => mount.path === path);
}

function mountPath({ name }: ServiceCall): string {
  return name.replace(/^\/+|\/+$/g, '');
}

function noMount(call: ServiceCall): string {
  return `cannot fetch sysview for path "${mountPath(call)}/"`;
}

/** A hint at the end of an error. Only the neutral dialect has it, because the others keep the texts of the real service. */
function typeHint(type: string, { clusterAuth }: ServedDialects): string {
  const others = dialectsWithMountType(type);
  return clusterAuth.name !== 'neutral' || others.length === 0
    ? ''
    : `: it is the type in the dialects ${others.join(' and ')}; in "${clusterAuth.name}" it is "${clusterAuth.mountType}"`;
}

/** The type in the database; undefined for an unknown method. `clusterAuthType` is the dialect's name of cluster-auth mounts. */
function storedType(type: string, clusterAuthType: string): string | undefined {
  if (type === clusterAuthType) return CLUSTER_AUTH_METHOD;
  return OTHER_METHODS.includes(type) ? type : undefined;
}

// The settings of a mount in a request: its tokens and its visibility (wire/cluster-auth 2.9).
// Invariant: pure; absent members stay absent in the result, so that tuning changes only the settings that were sent.

type Body = Readonly<Record<string, unknown>>;

/** The settings in a request, or the text of a 400. */
type ReadSettings = ValueOrProblem<MountSettings>;

const LEASES = ['default_lease_ttl', 'max_lease_ttl'] as const;

/** Settings that are stored as they were sent. */
const UNCHECKED = [
  'audit_non_hmac_request_keys',
  'audit_non_hmac_response_keys',
  'passthrough_request_headers',
  'allowed_response_headers',
];

/** Reads the settings in a request. `settings` are those that the mount has now. */
function readMountConfig(settings: MountSettings, body: Body): ReadSettings {
  const leases = LEASES.map((field) => readLease(field, body));
  let read: MountSettings = Object.fromEntries(
    UNCHECKED.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  );
  for (const part of [...leases, readTokenType(body), readVisibility(body)]) {
    if (!part.ok) return part;
    read = { ...read, ...part.value };
  }
  const setsLease = LEASES.some((field) => read[field] !== undefined);
  const { defaultTtl, maxTtl } = leaseLimitsOf({ settings: { ...settings, ...read } });
  if (defaultTtl <= maxTtl || !setsLease) return { ok: true, value: read };
  return refused(
    `backend max lease TTL of ${maxTtl} would be less than backend default lease TTL of ${defaultTtl}`,
  );
}

/** Reads a lease as seconds. `system` becomes 0, which means the service's own limit. An empty text changes nothing. */
function readLease(field: (typeof LEASES)[number], body: Body): ReadSettings {
  const text = asText(body[field] ?? '');
  if (!text.ok) return text;
  if (text.value === '') return NOTHING;
  if (text.value === 'system') return { ok: true, value: { [field]: 0 } };
  const duration = readDuration(text.value);
  if ('problem' in duration) return refused(duration.problem);
  const { seconds } = duration;
  return seconds < 0
    ? refused(`cannot provide negative value '${seconds}'`)
    : { ok: true, value: { [field]: seconds } };
}

function readTokenType({ token_type = '' }: Body): ReadSettings {
  if (token_type === '') return NOTHING;
  const known = ['default-service', 'default-batch', 'service', 'batch'].find((type) => type === token_type);
  return known === undefined
    ? refused("invalid value for 'token_type'")
    : { ok: true, value: { token_type: known } };
}

function readVisibility({ listing_visibility }: Body): ReadSettings {
  if (listing_visibility === undefined) return NOTHING;
  const known = ['', 'hidden', 'unauth'].find((visibility) => visibility === listing_visibility);
  if (known === undefined) return refused(`invalid listing_visibility value "${String(listing_visibility)}"`);
  return { ok: true, value: { listing_visibility: known === '' ? undefined : known } };
}

const NOTHING: ReadSettings = { ok: true, value: {} };

function refused(problem: string): ReadSettings {
  return { ok: false, problem };
}

// `sys/internal/ui/mounts`: the mounts that the caller can see (wire/cluster-auth 2.9).
// Invariant: with a token, the caller sees the mounts below which it has any right; without one, only the public mounts.

/** `GET sys/internal/ui/mounts`, without a valid token: the public mounts. */
export function publicMounts({ database, dialects }: Services, namespace: string): SecretsAnswer {
  const shown = mountsIn(database, namespace).filter(
    ({ settings }) => settings.listing_visibility === 'unauth',
  );
  const auth = Object.fromEntries(
    shown.map((mount) => [
      `${mount.path}/`,
      {
        type: wireType(mount, dialects.clusterAuth),
        description: mount.settings.description ?? '',
        options: mount.settings.options ?? {},
      },
    ]),
  );
  return answerData({ auth, secret: {} });
}

/** The same with a token: each mount below which the token has any right. */
export const visibleMounts: ServiceHandler = (call) => {
  const below = (prefix: string, mounts: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(mounts).filter(([path]) => call.identity.hasRightsBelow(`${prefix}${path}`)),
    );
  return answerData({
    auth: below('auth/', authMountDocuments(call)),
    secret: below('', engineDocuments(call.services.dialects.clusterAuth)),
  });
};

/** `GET sys/internal/ui/mounts/:path`: the mount that serves a path, for callers with any right below it. */
export const visibleMount: ServiceHandler = (call) => {
  const path = `${call.name.replace(/\/+$/, '')}/`;
  const serving = allMounts(call)
    .filter(([prefix]) => path.startsWith(prefix))
    .toSorted(([one], [other]) => other.length - one.length)[0];
  if (serving === undefined || !call.identity.hasRightsBelow(serving[0]))
    return answerError(
      403,
      `preflight capability check returned 403, please ensure client's policies grant access to path "${path}"`,
    );
  const [prefix, document] = serving;
  return answerData({ ...(document as object), path: prefix.replace(/^auth\//, '') });
};

function allMounts(call: ServiceCall): (readonly [string, unknown])[] {
  return [
    ...Object.entries(authMountDocuments(call)).map(([path, mount]) => [`auth/${path}`, mount] as const),
    ...Object.entries(engineDocuments(call.services.dialects.clusterAuth)),
  ];
}
