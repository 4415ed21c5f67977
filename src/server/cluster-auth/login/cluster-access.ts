/**
 * How the cluster of a mount is reached, and by whom: from the config, and from the files of the pod where the service
 * runs in one (wire/cluster-auth 2.2, 3).
 * Invariant: the pod's files are used only while the config does not disable them; the CA of the config wins over the
 * pod's, and so does its reviewer JWT.
 */
import type { Services } from '../../services.ts';
import { type Config, findConfig } from '../config.ts';
import type { Coerced } from '../values/field-coercion.ts';
import type { KeyRules } from '../../dialects.ts';
import type { ClusterApi } from './call-cluster.ts';

/** What a login needs of a config. */
export interface ClusterAccess {
  readonly api: ClusterApi;
  /** Who asks the cluster; empty where it is the JWT of the login itself. */
  readonly reviewer: string;
  readonly pemKeys: readonly string[];
  readonly keyRules: KeyRules;
  /** The issuer that a JWT must have; empty where it is not compared. */
  readonly issuer: string;
  /** What annotations begin with that tell of the account; undefined where they are not asked for. */
  readonly annotationPrefix: string | undefined;
}

/** Reads the config of a mount. The problem is the text of a 500: no config, or a file of the pod that cannot be read. */
export function loadClusterAccess(services: Services, mount: string): Coerced<ClusterAccess> {
  const config = findConfig({ services, mount });
  if (config === undefined) return { ok: false, problem: 'could not load backend configuration' };
  const authorities = authoritiesOf(config, services);
  if (!authorities.ok) return authorities;
  return {
    ok: true,
    value: {
      api: {
        base: config.cluster_host.replace(/\/$/, ''),
        authorities: authorities.value,
        patienceMs: services.clusterPatienceMs,
      },
      reviewer: config.token_reviewer_jwt || podToken(config, services),
      pemKeys: config.pem_keys,
      keyRules: services.dialects.clusterAuth.keys,
      issuer: config.disable_iss_validation
        ? ''
        : config.issuer || services.dialects.clusterAuth.defaultIssuer,
      annotationPrefix: config.use_annotations_as_alias_metadata
        ? services.dialects.clusterAuth.aliasAnnotations
        : undefined,
    },
  };
}

/** Whom TLS trusts: undefined are the authorities of this machine, an empty text is nobody. */
function authoritiesOf(config: Config, { dialects, pod }: Services): Coerced<string | undefined> {
  if (config.cluster_ca_cert !== '') return { ok: true, value: config.cluster_ca_cert };
  const { insteadOfCa } = dialects.clusterAuth;
  if (config.disable_local_ca_jwt) return { ok: true, value: insteadOfCa === 'pod' ? '' : undefined };
  const file = pod.caCert();
  if ('text' in file) return { ok: true, value: file.text };
  return insteadOfCa === 'pod-or-keys'
    ? { ok: true, value: undefined }
    : { ok: false, problem: file.problem };
}

/** Empty without a pod: then a login asks for itself. */
function podToken(config: Config, { pod }: Services): string {
  const file = config.disable_local_ca_jwt ? undefined : pod.token();
  return file !== undefined && 'text' in file ? file.text.trim() : '';
}
