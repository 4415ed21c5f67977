/**
 * `sys/health` and its sisters: what anyone may know of the service (wire/cluster-auth 2.9).
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

/** The parameters by which who asks chooses the status for each state; of these this service has the first alone. */
const STATUS_PARAMETERS = [
  'activecode',
  'standbycode',
  'drsecondarycode',
  'performancestandbycode',
  'sealedcode',
  'uninitcode',
];

/** What anyone may read, by its path. */
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

/** Also asked for with HEAD. */
export const OPEN_HEAD = 'sys/health';

/** Of several the first counts; undefined for what is no status of an answer. */
function chosenStatus(value: unknown = 200): number | undefined {
  const text = String(Array.isArray(value) ? value[0] : value);
  const status = Number(text);
  return /^\+?\d+$/.test(text) && status >= 200 && status <= 599 ? status : undefined;
}
