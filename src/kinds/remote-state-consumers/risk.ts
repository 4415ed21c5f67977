/**
 * Finds who gains and who loses the right to read a state. Pure; an undefined side has no consumers. If the consumers before
 * are unknown, everyone could read the state: then the risk is reported with the workspace.
 */
import type { Risk } from '../../model/plan/risk.ts';
import { quoted } from '../../model/quoted.ts';
import { consumersOf } from './edges.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function risk(
  before: RemoteStateConsumersSpec | undefined,
  after: RemoteStateConsumersSpec | undefined,
): readonly Risk[] {
  if (before !== undefined && before.consumers === undefined) return [];
  const [old, now] = [consumersOf(before ?? {}), consumersOf(after ?? {})];
  return [
    ...risksFor(
      'widens',
      now.filter((name) => !old.includes(name)),
      'may read the state',
    ),
    ...risksFor(
      'narrows',
      old.filter((name) => !now.includes(name)),
      'may read the state no more',
    ),
  ];
}

function risksFor(effect: Risk['effect'], names: readonly string[], message: string): Risk[] {
  if (names.length === 0) return [];
  const all = names.map(quoted).join(', ');
  return [{ path: ['consumers'], effect, message: `${all} ${message}` }];
}
