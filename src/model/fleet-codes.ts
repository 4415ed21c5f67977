/** Codes of errors of fleets. */
import type { CodeTable } from './code-entry.ts';

export const fleetCodes = {
  'fleet-file': {
    title: 'The fleet file cannot be read, or is not valid',
    class: 'invalid',
    fix: 'correct fleet.yaml; docs/guides/fleet.md has an example',
  },
  'fleet-database': {
    title: 'The database of the fleet cannot be used, or its tables are of another version',
    class: 'failure',
    fix: 'set TRUEUP_FLEET_URL, and run "trueup fleet migrate" with the version of trueup that the workers have',
  },
  'fleet-target': {
    title: 'A stack of a fleet names a target that fleet.yaml does not allow',
    class: 'failure',
    fix: 'add its address to "targets" of the repository in fleet.yaml, or correct the stack',
  },
  'fleet-ledger': {
    title: 'A stack of a fleet keeps its ledger in a local file',
    class: 'invalid',
    fix: 'keep the ledger in git or PostgreSQL: no worker has the files of another machine',
  },
  'fleet-freeze': {
    title: 'A fleet applies nothing during a freeze',
    class: 'failure',
    fix: 'wait for its end, let one of the people in "except" of the freeze approve, or run "trueup ci apply" in CI',
  },
} as const satisfies CodeTable;
