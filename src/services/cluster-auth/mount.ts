/** Where a target's cluster-auth method is mounted, as the segments of a call and as the path of a read. */
import type { Session } from '../../model/kind/kind.ts';
import type { Dialect, Target } from '../../model/stack/target.ts';

/** The spec's own place for the method; a dialect may name another. */
const SPECIFIED_MOUNT = 'cluster';

/** The mount without slashes at its ends; it may have slashes inside: `team/cluster`. */
export function mountName(target: Target, dialect: Dialect): string {
  return target.mount ?? dialect.defaultMount ?? SPECIFIED_MOUNT;
}

/** The mount as messages name it. */
export function mountWords({ target, dialect }: Pick<Session, 'target' | 'dialect'>): string {
  return `the mount "${mountName(target, dialect)}" of target "${target.name}"`;
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
