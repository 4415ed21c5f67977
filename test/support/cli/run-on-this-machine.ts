/** Who a run on this machine would be, in the given environment. */
import { randomUUID } from 'node:crypto';
import { identifyRun } from '../../../src/cli/run/identify-run.ts';
import type { RunIdentity } from '../../../src/model/stack/ledger.ts';
import { thisMachine } from '../../../src/cli/this-machine.ts';

export function runOnThisMachine(env: Readonly<Record<string, string | undefined>>): RunIdentity {
  return identifyRun({ env, machine: thisMachine, newId: randomUUID });
}
