/**
 * `sys/health` and similar paths: the state of the service, without a token (wire/cluster-auth 2.9).
 * This service is never sealed, and has no standby.
 */
import { answerBare, answerError, type SecretsAnswer } from './answer.ts';
import type { Services } from '../kernel/services.ts';
import { asUuid } from './mounts.ts';

const CLUSTER = { cluster_name: 'embedded', cluster_id: asUuid('embedded') };

const SEAL = {
  type: 'shamir',
  initialized: true,
  sealed: false,
  t: 1,
  n: 1,
  progress: 0,
  nonce: '',
  recovery_seal: false,
  commit_date: '',
  migration: false,
  storage_type: 'inmem',
};

type Query = Readonly<Record<string, unknown>>;

/** The parameters with which a client chooses the HTTP status for each state. This service is always in the first one, active. */
const STATUS_PARAMETERS = [
  'activecode',
  'standbycode',
  'drsecondarycode',
  'performancestandbycode',
  'sealedcode',
  'uninitcode',
];

/** The reads that need no token, by path. */
export const OPEN_READS: Readonly<Record<string, (services: Services, query: Query) => SecretsAnswer>> = {
  'sys/health': ({ dialects, now }, query) => {
    const chosen = STATUS_PARAMETERS.map((name) => chosenStatus(query[name]));
    const [status] = chosen;
    if (status === undefined || chosen.includes(undefined)) return answerError(400);
    return answerBare(status, {
      initialized: true,
      sealed: false,
      standby: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      server_time_utc: Math.trunc(now().getTime() / 1000),
      version: dialects.clusterAuth.version,
      ...CLUSTER,
    });
  },
  'sys/seal-status': ({ dialects }) =>
    answerBare(200, { ...SEAL, version: dialects.clusterAuth.version, ...CLUSTER }),
  'sys/leader': () => answerBare(200, { ha_enabled: false }),
};

/** The path that also accepts HEAD. */
export const OPEN_HEAD = 'sys/health';

/** The status in a parameter, or in the first of several; undefined for an invalid status. */
function chosenStatus(value: unknown = 200): number | undefined {
  const text = String(Array.isArray(value) ? value[0] : value);
  const status = Number(text);
  return /^\+?\d+$/.test(text) && status >= 200 && status <= 599 ? status : undefined;
}
