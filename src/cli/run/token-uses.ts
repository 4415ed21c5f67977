/**
 * Finds out, before the first write of an apply, whether a token of a secrets service may be used often enough to finish it: one that
 * ends halfway would leave a part of the plan undone. A login gets another token whenever one is used up, so only given ones matter.
 */
import { memberOf } from '../../model/json/json.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Target } from '../../model/stack/target.ts';
import type { Reader } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';

interface UsedTarget {
  readonly target: Target;
  readonly connection: { readonly reader: Reader };
}

/** @returns an exit code where a token is used up before the plan is applied; undefined where tokens last, or their service does not tell */
export async function refuseTooFewUses(
  plan: Plan,
  targets: readonly UsedTarget[],
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const why = await tooFewUses(plan, targets);
  if (why === undefined) return undefined;
  printError(terminal, 'token-uses', why);
  return exitCodes.error;
}

async function tooFewUses(plan: Plan, targets: readonly UsedTarget[]): Promise<string | undefined> {
  for (const { target, connection } of targets) {
    const calls = plan.changes
      .flatMap((change) => change.calls)
      .filter((call) => call.target === target.name);
    if (calls.length === 0 || !isGiven(target)) continue;
    const left = await usesLeft(connection.reader);
    if (left === undefined) continue;
    const read = plan.coverage.targets.find((covered) => covered.target === target.name)?.requests ?? 0;
    // Each call is a read and a write, and the plan that proves them reads what this one has read.
    const needed = calls.length * 2 + read;
    if (left < needed)
      return `the token of target ${quoted(target.name)} may be used for ${left} more requests, and this apply needs about ${needed}: nothing was written`;
  }
  return undefined;
}

/** Whether the service counts uses, and the token is one that this run was given. */
function isGiven({ service, token }: Target): boolean {
  return service === 'cluster-auth' && token !== undefined && !('login' in token);
}

/** How often the token may still be used; undefined where that is not limited, or the token may not ask. */
async function usesLeft(reader: Reader): Promise<number | undefined> {
  const answer = await reader.get('/auth/token/lookup-self').catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const uses = memberOf(memberOf(answer.body, 'data'), 'num_uses');
  if (typeof uses !== 'number' || uses === 0) return undefined;
  // The last use is told as -1.
  return Math.max(0, uses);
}
