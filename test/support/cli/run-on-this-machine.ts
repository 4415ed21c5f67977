/** The identity of a run on this machine, in the given environment. */
import { randomUUID } from 'node:crypto';
import { identifyRun } from '../../../src/run/origin.ts';
import type { RunIdentity } from '../../../src/model/ledger.ts';
import { thisMachine } from '../../../src/run/host.ts';

export function runOnThisMachine(env: Readonly<Record<string, string | undefined>>): RunIdentity {
  return identifyRun({ env, machine: thisMachine, newId: randomUUID });
}
