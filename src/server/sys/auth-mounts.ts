/**
 * `sys/auth/…`: auth methods are listed, enabled, tuned and disabled (wire/cluster-auth 2.9).
 * Invariants: no mount's path is another's, nor begins with one; disabling ends all that hung on the mount.
 */
import { answerDone, answerError, answerOnTop, type SecretsAnswer } from '../cluster-auth/answer.ts';
import {
  CLUSTER_AUTH_METHOD,
  deleteMount,
  leaseLimitsOf,
  type Mount,
  mountsIn,
  type MountSettings,
  storeMount,
  tuneMount,
} from '../cluster-auth/mounts.ts';
import { dialectsWithMountType, type ServedDialects } from '../dialects.ts';
import { asPairs } from '../cluster-auth/values/field-coercion.ts';
import { isObject } from '../cluster-auth/values/is-object.ts';
import { DEFAULT_TOKEN_TYPE, mountDocument, tokenStoreDocument } from './mount-document.ts';
import { readMountConfig } from './mount-config.ts';
import { type ServiceCall, type ServiceHandler, textIn } from './service-call.ts';

/** Methods that can be mounted beside the one of this service, and do little: their names are known. */
const OTHER_METHODS = ['approle', 'cert', 'jwt', 'kerberos', 'ldap', 'oidc', 'radius', 'userpass'];

const TOKEN_STORE = 'token';

/** `GET sys/auth`: all mounts, by path. */
export const listMounts: ServiceHandler = (call) => answerOnTop(authMountDocuments(call));

/** All auth mounts of the namespace as documents, by path with a slash at its end. */
export function authMountDocuments({ services, namespace }: ServiceCall): Record<string, unknown> {
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

/** `GET sys/auth/:path`: the mount, or 400 where there is none. */
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
    if (/\p{Cc}/u.test(path)) return answerError(400, 'the path has signs that cannot be printed');
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

/** `DELETE sys/auth/:path`: 204, also for what is not there. */
export const disableMount: ServiceHandler = (call) => {
  if (mountPath(call) === TOKEN_STORE) return answerError(400, 'token credential backend cannot be disabled');
  const mount = mountAt(call);
  if (mount !== undefined) deleteMount(call.services.database, mount.id);
  return answerDone();
};

/** `GET sys/auth/:path/tune`: what holds for the mount, the service's own limits included. */
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

/** `POST sys/auth/:path/tune`: changes what is sent. 204, or 400. */
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

/** The specification leaves the words of errors open; a dialect of a real service has that service's own. */
function typeHint(type: string, { clusterAuth }: ServedDialects): string {
  const others = dialectsWithMountType(type);
  return clusterAuth.name !== 'neutral' || others.length === 0
    ? ''
    : `: it is the type in the dialects ${others.join(' and ')}; in "${clusterAuth.name}" it is "${clusterAuth.mountType}"`;
}

function storedType(type: string, ownType: string): string | undefined {
  if (type === ownType) return CLUSTER_AUTH_METHOD;
  return OTHER_METHODS.includes(type) ? type : undefined;
}
