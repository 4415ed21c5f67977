/** The mount of a target's cluster-auth method: as a name, as segments of a call, and as the path of a read. */
import type { Session } from '../../model/kind/kind.ts';
import type { Dialect, Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';

/** The specified default mount; a dialect may have another one. */
const SPECIFIED_MOUNT = 'cluster';

/** The mount without slashes at its ends; it may have slashes inside: `team/cluster`. */
export function mountName(target: Target, dialect: Dialect): string {
  return target.mount ?? dialect.defaultMount ?? SPECIFIED_MOUNT;
}

/** The mount in messages. */
export function mountText({ target, dialect }: Pick<Session, 'target' | 'dialect'>): string {
  return `the mount ${quoted(mountName(target, dialect))} of target ${quoted(target.name)}`;
}

/** Segments below the API root, not encoded: `['auth', 'cluster', 'role', 'payments-api']`. */
export function mountSegments(target: Target, dialect: Dialect, ...below: readonly string[]): string[] {
  return ['auth', ...mountName(target, dialect).split('/'), ...below];
}

/** The encoded path of a read: `/auth/cluster/role/payments-api`. */
export function mountPath({ target, dialect }: Session, ...below: readonly string[]): string {
  return `/${mountSegments(target, dialect, ...below)
    .map(encodeURIComponent)
    .join('/')}`;
}
