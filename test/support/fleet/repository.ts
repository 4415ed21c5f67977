/** A repository of fleet.yaml, with default values for most members. */
import type { FleetRepository } from '../../../src/commands/fleet/fleet-file.ts';

export function fleetRepository(
  given: Pick<FleetRepository, 'name' | 'url'> & Partial<FleetRepository>,
): FleetRepository {
  return {
    ...{ ref: 'main', stacks: ['**/trueup.yaml'], secondsOf: () => 900, ssh: undefined },
    ...{ variables: [], files: [], targets: undefined, apply: undefined },
    ...given,
  };
}
