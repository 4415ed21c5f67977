/**
 * The config of a mount (wire/cluster-auth 5.2, 2.2, 2.3).
 * Invariants: every write replaces the whole config, so a field that is not sent gets its default, even the reviewer JWT;
 * a refused write changes nothing; a read never returns the reviewer JWT, only whether one is set. Files of the pod are
 * read when they are needed and never stored.
 */
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { answerData, answerDone, answerError, NOT_FOUND, type SecretsAnswer } from './answer.ts';
import type { MountCall, MountHandler } from './call.ts';
import {
  asBoolean,
  asList,
  asText,
  type FieldReader,
  readFields,
  type SentFields,
} from './field-coercion.ts';
import { firstPemBlock, isSha1Certificate, publicKeyIn } from './public-keys.ts';

const CONFIG_FIELDS = {
  cluster_host: asText,
  cluster_ca_cert: asText,
  token_reviewer_jwt: asText,
  pem_keys: asList,
  disable_local_ca_jwt: asBoolean,
  disable_iss_validation: asBoolean,
  issuer: asText,
  use_annotations_as_alias_metadata: asBoolean,
} as const;

/** A stored config, with the specification's field names. */
export type Config = Required<SentFields<typeof CONFIG_FIELDS>>;

const DEFAULTS: Config = {
  cluster_host: '',
  cluster_ca_cert: '',
  token_reviewer_jwt: '',
  pem_keys: [],
  disable_local_ca_jwt: false,
  disable_iss_validation: true,
  issuer: '',
  use_annotations_as_alias_metadata: false,
};

/** The fields that only some dialects have. */
const DIALECT_FIELDS: readonly string[] = ['use_annotations_as_alias_metadata'];

/** The fields of a config, with the dialect's names. */
export function configFields(dialect: ClusterAuthDialect): Record<string, FieldReader<unknown>> {
  return inWireNames<FieldReader<unknown>>(CONFIG_FIELDS, dialect);
}

/**
 * `GET config`: the specification's four fields and, as documented additions, `issuer`,
 * `disable_iss_validation` and `token_reviewer_jwt_set`. 404 before the first write.
 */
export const readConfig: MountHandler = (call) => {
  const config = findConfig(call);
  if (config === undefined) return NOT_FOUND;
  const { token_reviewer_jwt: reviewer, ...shown } = config;
  const { clusterAuth } = call.services.dialects;
  return answerData(inWireNames({ ...shown, token_reviewer_jwt_set: reviewer !== '' }, clusterAuth));
};

/**
 * `POST config`: replaces the config. 204, or 200 with warnings, or 400 with the first
 * problem; unknown fields are ignored.
 */
export const writeConfig: MountHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { clusterAuth } = call.services.dialects;
    const sent = readFields(configFields(clusterAuth), call.body);
    if (!sent.ok) return answerError(400, `Field validation failed: ${sent.problem}`);
    const config: Config = { ...DEFAULTS, ...fromWireNames(sent.value, clusterAuth) };
    const problem = configProblem(config, call);
    if (problem !== undefined) return answerError(400, problem);
    replaceConfig(call, config);
    return answerDone(clusterAuth.keys.trustsSha1 ? [] : sha1Warnings(config));
  });

/** The warnings about stored certificates that were signed with SHA-1. */
function sha1Warnings({ cluster_ca_cert: ca, pem_keys: keys }: Config): string[] {
  const deprecated = 'is a certificate that was signed with SHA-1, which is deprecated';
  return [
    ...(isSha1Certificate(ca) ? [`the CA ${deprecated}`] : []),
    ...keys.flatMap((pem, index) =>
      isSha1Certificate(pem) ? [`pem_keys[${index}] ${deprecated}: no login is verified with its key`] : [],
    ),
  ];
}

interface ConfigRow {
  readonly cluster_host: string;
  readonly cluster_ca_cert: string;
  readonly token_reviewer_jwt: string;
  readonly pem_keys: string;
  readonly disable_local_ca_jwt: number;
  readonly disable_iss_validation: number;
  readonly issuer: string;
  readonly use_annotations_as_alias_metadata: number;
}

/** The stored config of the call's mount; undefined before the first write. It holds the reviewer JWT. */
export function findConfig({ services, mount }: Pick<MountCall, 'services' | 'mount'>): Config | undefined {
  const row = services.database.get<ConfigRow>(
    `SELECT cluster_host, cluster_ca_cert, token_reviewer_jwt, pem_keys, disable_local_ca_jwt, disable_iss_validation,
       issuer, use_annotations_as_alias_metadata
     FROM cluster_auth_configs WHERE mount = :mount`,
    { mount },
  );
  return (
    row && {
      ...row,
      pem_keys: JSON.parse(row.pem_keys) as string[],
      disable_local_ca_jwt: row.disable_local_ca_jwt === 1,
      disable_iss_validation: row.disable_iss_validation === 1,
      use_annotations_as_alias_metadata: row.use_annotations_as_alias_metadata === 1,
    }
  );
}

/** The members that the dialect has, with its names. */
function inWireNames<T>(
  members: Readonly<Record<string, T>>,
  { configNames, ownConfigFields }: ClusterAuthDialect,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !DIALECT_FIELDS.includes(name) || ownConfigFields.includes(name))
      .map(([name, value]) => [configNames[name] ?? name, value]),
  );
}

function fromWireNames(
  sent: Readonly<Record<string, unknown>>,
  { configNames }: ClusterAuthDialect,
): Partial<Config> {
  return Object.fromEntries(
    Object.keys(DEFAULTS).flatMap((name) => {
      const wireName = configNames[name] ?? name;
      return Object.hasOwn(sent, wireName) ? [[name, sent[wireName]]] : [];
    }),
  );
}

/** The error of the first rule that the config breaks, in the order of the real service. */
function configProblem(config: Config, { services }: MountCall): string | undefined {
  const { clusterAuth } = services.dialects;
  const { cluster_host: host, cluster_ca_cert: ca } = config;
  if (host === '') return 'no host provided';
  const lacksCa = ca === '' && config.disable_local_ca_jwt && clusterAuth.caFallback === 'pod';
  if (lacksCa) {
    const name = clusterAuth.configNames['cluster_ca_cert'] ?? 'cluster_ca_cert';
    return `${name} must be given when disable_local_ca_jwt is true`;
  }
  if (clusterAuth.checksCa && ca !== '' && firstPemBlock(ca) === undefined)
    return 'The provided CA PEM data contains no valid certificates';
  for (const pem of config.pem_keys) {
    const read = publicKeyIn(pem, clusterAuth.keys);
    if ('problem' in read) return read.problem;
  }
  return ca === '' ? missingCaProblem(config, services) : undefined;
}

/**
 * The error when neither the config nor the pod has a CA. In the specification, keys can replace the CA. The error when both
 * are missing has the text of older releases (wire/cluster-auth 1.1).
 */
function missingCaProblem(
  { pem_keys: keys, disable_local_ca_jwt: localDisabled }: Config,
  { dialects, pod }: MountCall['services'],
): string | undefined {
  const { caFallback } = dialects.clusterAuth;
  if (caFallback === 'pod-or-keys' && keys.length > 0) return undefined;
  if (caFallback === 'pod-or-system' && localDisabled) return undefined;
  const local = localDisabled ? undefined : pod.caCert();
  if (local !== undefined && 'text' in local) return undefined;
  return caFallback === 'pod-or-keys' ? 'one of pem_keys or cluster_ca_cert must be set' : local?.problem;
}

function replaceConfig(call: MountCall, config: Config): void {
  const { database } = call.services;
  database.run('DELETE FROM cluster_auth_configs WHERE mount = :mount', { mount: call.mount });
  database.insert('cluster_auth_configs', {
    ...config,
    mount: call.mount,
    pem_keys: JSON.stringify(config.pem_keys),
    disable_local_ca_jwt: Number(config.disable_local_ca_jwt),
    disable_iss_validation: Number(config.disable_iss_validation),
    use_annotations_as_alias_metadata: Number(config.use_annotations_as_alias_metadata),
    updated_at: call.services.now().toISOString(),
  });
}
