/**
 * Who gains and who loses the right to read a state. Pure; an undefined side has no consumers. Where nobody can tell who
 * they were, everyone could read: then it is the workspace that tells what sharing with everyone becomes.
 */
import type { Risk } from '../../model/plan/risk.ts';
import { consumersOf } from './edges.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function risk(
  before: RemoteStateConsumersSpec | undefined,
  after: RemoteStateConsumersSpec | undefined,
): readonly Risk[] {
  if (before !== undefined && before.consumers === undefined) return [];
  const [old, now] = [consumersOf(before ?? {}), consumersOf(after ?? {})];
  return [
    ...told(
      'widens',
      now.filter((name) => !old.includes(name)),
      'may read the state',
    ),
    ...told(
      'narrows',
      old.filter((name) => !now.includes(name)),
      'may read the state no more',
    ),
  ];
}

function told(effect: Risk['effect'], names: readonly string[], says: string): Risk[] {
  if (names.length === 0) return [];
  const all = names.map((name) => `"${name}"`).join(', ');
  return [{ path: ['consumers'], effect, says: `${all} ${says}` }];
}
