/**
 * The config of a mount (wire/cluster-auth 5.2, 2.2, 2.3).
 * Invariants: every write replaces the whole config, so what is not sent goes back to its default, a stored reviewer JWT
 * included; a refused write changes nothing; the reviewer JWT never leaves, only whether one is set.
 */
import { type SecretsAnswer, answerData, answerDone, answerError, NOT_FOUND } from './answer.ts';
import { asBoolean, asList, asText, readFields, type SentFields } from './values/field-coercion.ts';
import type { MountHandler, MountCall } from './mount-call.ts';
import { containsPemBlock, publicKeyProblem } from './values/public-keys.ts';
import { recordChange } from './record-change.ts';

const CONFIG_FIELDS = {
  cluster_host: asText,
  cluster_ca_cert: asText,
  token_reviewer_jwt: asText,
  pem_keys: asList,
  disable_local_ca_jwt: asBoolean,
  disable_iss_validation: asBoolean,
  issuer: asText,
} as const;

type Config = Required<SentFields<typeof CONFIG_FIELDS>>;

const DEFAULTS: Config = {
  cluster_host: '',
  cluster_ca_cert: '',
  token_reviewer_jwt: '',
  pem_keys: [],
  disable_local_ca_jwt: false,
  disable_iss_validation: true,
  issuer: '',
};

interface ConfigRow {
  cluster_host: string;
  cluster_ca_cert: string;
  pem_keys: string;
  disable_local_ca_jwt: number;
  disable_iss_validation: number;
  issuer: string;
  token_reviewer_jwt_set: number;
}

/**
 * `GET config`: the specification's four fields and, as documented additions (rule 12), `issuer`,
 * `disable_iss_validation` and `token_reviewer_jwt_set`. 404 before the first write.
 */
export const readConfig: MountHandler = (call) => {
  const row = call.services.database.get<ConfigRow>(
    `SELECT cluster_host, cluster_ca_cert, pem_keys, disable_local_ca_jwt, disable_iss_validation, issuer,
       token_reviewer_jwt <> '' AS token_reviewer_jwt_set
     FROM cluster_auth_configs WHERE mount = :mount`,
    { mount: call.mount },
  );
  if (row === undefined) return NOT_FOUND;
  return answerData({
    cluster_host: row.cluster_host,
    cluster_ca_cert: row.cluster_ca_cert,
    pem_keys: JSON.parse(row.pem_keys) as string[],
    disable_local_ca_jwt: row.disable_local_ca_jwt === 1,
    disable_iss_validation: row.disable_iss_validation === 1,
    issuer: row.issuer,
    token_reviewer_jwt_set: row.token_reviewer_jwt_set === 1,
  });
};

/** `POST config`: replaces the config. 204, or 400 with the first problem; unknown fields vanish without a word. */
export const writeConfig: MountHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const sent = readFields(CONFIG_FIELDS, call.body);
    if (!sent.ok) return answerError(400, `Field validation failed: ${sent.problem}`);
    const config: Config = { ...DEFAULTS, ...sent.value };
    const problem = configProblem(config);
    if (problem !== undefined) return answerError(400, problem);
    const replaced = replaceConfig(call, config);
    recordChange(call, replaced ? 'update' : 'create');
    return answerDone();
  });

/**
 * The first rule that the config breaks. The order is the original's; its last check, a local CA file that cannot be
 * read, cannot happen here, because this service never runs inside a cluster's pod. In its place stands the
 * specification's own rule for that case, with the text older releases had for it.
 */
function configProblem(config: Config): string | undefined {
  if (config.cluster_host === '') return 'no host provided';
  if (config.cluster_ca_cert !== '' && !containsPemBlock(config.cluster_ca_cert)) {
    return 'The provided CA PEM data contains no valid certificates';
  }
  for (const key of config.pem_keys) {
    const problem = publicKeyProblem(key);
    if (problem !== undefined) return problem;
  }
  if (config.cluster_ca_cert === '' && config.pem_keys.length === 0) {
    return 'one of pem_keys or cluster_ca_cert must be set';
  }
  return undefined;
}

/** Stores the config, and tells whether it took the place of another. */
function replaceConfig(call: MountCall, config: Config): boolean {
  const { database } = call.services;
  const replaced = database.run('DELETE FROM cluster_auth_configs WHERE mount = :mount', {
    mount: call.mount,
  });
  database.insert('cluster_auth_configs', {
    ...config,
    mount: call.mount,
    pem_keys: JSON.stringify(config.pem_keys),
    disable_local_ca_jwt: Number(config.disable_local_ca_jwt),
    disable_iss_validation: Number(config.disable_iss_validation),
    updated_at: call.services.now().toISOString(),
  });
  return replaced > 0;
}
