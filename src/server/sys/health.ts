/**
 * `sys/health` and its sisters: what anyone may know of the service (wire/cluster-auth 2.9).
 * This service is never sealed, and has no standby.
 */
import { answerBare, type SecretsAnswer } from '../cluster-auth/answer.ts';
import type { Services } from '../services.ts';
import { asUuid } from './mount-document.ts';

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

/** What anyone may read, by its path. */
export const OPEN_READS: Readonly<Record<string, (services: Services) => SecretsAnswer>> = {
  'sys/health': ({ dialects, now }) =>
    answerBare(200, {
      initialized: true,
      sealed: false,
      standby: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      server_time_utc: Math.trunc(now().getTime() / 1000),
      version: dialects.clusterAuth.version,
      ...CLUSTER,
    }),
  'sys/seal-status': ({ dialects }) =>
    answerBare(200, { ...SEAL, version: dialects.clusterAuth.version, ...CLUSTER }),
  'sys/leader': () => answerBare(200, { ha_enabled: false }),
};
