/**
 * `sys/health` and its sisters: what anyone may know of the service (wire/cluster-auth 2.9).
 * This service is never sealed, and has no standby.
 */
import { answerBare, type SecretsAnswer } from '../cluster-auth/answer.ts';
import type { Services } from '../services.ts';
import { asUuid } from './mount-document.ts';

const CLUSTER = { cluster_name: 'embedded', cluster_id: asUuid('embedded') };

/** The answer at a path that needs no token; undefined at others. */
export function openAnswer(path: string, services: Services): SecretsAnswer | undefined {
  const { version } = services.dialects.clusterAuth;
  switch (path) {
    case 'sys/health':
      return answerBare(200, {
        initialized: true,
        sealed: false,
        standby: false,
        replication_performance_mode: 'disabled',
        replication_dr_mode: 'disabled',
        server_time_utc: Math.trunc(services.now().getTime() / 1000),
        version,
        ...CLUSTER,
      });
    case 'sys/seal-status':
      return answerBare(200, { ...SEAL, version, ...CLUSTER });
    case 'sys/leader':
      return answerBare(200, { ha_enabled: false });
    default:
      return undefined;
  }
}

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
