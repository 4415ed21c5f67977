/**
 * Finds out, before the first write of an apply, whether a token of a secrets service may be used often enough to finish it: one that
 * ends halfway would leave a part of the plan undone. A login gets another token whenever one is used up, so only given ones matter.
 */
import { counted, quoteSome } from '../../model/counted.ts';
import { memberOf } from '../../model/json/json.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { parseAddress } from '../../model/resource/address.ts';
import type { Target } from '../../model/stack/target.ts';
import type { Reader } from '../../model/wire.ts';
import { movedTargets } from '../../plan/ledger/moved-targets.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import type { PlanRequest } from './make-plan.ts';

interface UsedTarget {
  readonly target: Target;
  readonly connection: { readonly reader: Reader; requests(): number };
}

/** A token that may be used a few times only, when it was asked about. */
export interface LimitedToken {
  /** the targets that it is sent to; they share its uses */
  readonly targets: readonly UsedTarget[];
  readonly uses: number;
  /** requests to these targets until then */
  readonly sent: number;
}

/**
 * To be asked before the plan is made, which may use up a token. Targets that the plan does not read get no request.
 * @returns the tokens whose service limits their uses and says so
 */
export async function findLimitedTokens(
  targets: readonly UsedTarget[],
  { stack, resources, ledger }: Pick<PlanRequest, 'stack' | 'resources' | 'ledger'>,
): Promise<readonly LimitedToken[]> {
  const moved = movedTargets(ledger, stack.targets).map(({ target }) => target.name);
  const addresses = [
    ...resources.map(({ address }) => address),
    ...[...ledger.records.keys()].map(parseAddress),
  ];
  const named = new Set(addresses.map(({ target }) => target));
  const asked = targets.filter(
    ({ target }) =>
      isGiven(target) &&
      !moved.includes(target.name) &&
      (named.has(target.name) || target.exclusive === true),
  );
  const tokens = Map.groupBy(asked, tokenOf);
  const limited = [...tokens.values()].map(async (sharing): Promise<LimitedToken[]> => {
    const uses = await usesLeft(sharing[0]?.connection.reader);
    return uses === undefined ? [] : [{ targets: sharing, uses, sent: requestsOf(sharing) }];
  });
  return (await Promise.all(limited)).flat();
}

/** @returns an exit code, with the reason printed, where a token is used up before the plan is applied */
export function refuseTooFewUses(
  plan: Plan,
  tokens: readonly LimitedToken[],
  terminal: Terminal,
): ExitCode | undefined {
  const why = tokens.map((token) => tooFewUses(plan, token)).find((reason) => reason !== undefined);
  if (why === undefined) return undefined;
  printError(terminal, 'token-uses', why);
  return exitCodes.error;
}

function tooFewUses(plan: Plan, { targets, uses, sent }: LimitedToken): string | undefined {
  const names = targets.map(({ target }) => target.name);
  const token = `the token of ${names.length === 1 ? 'target' : 'targets'} ${quoteSome(names)}`;
  const left = Math.max(0, uses - (requestsOf(targets) - sent));
  const needed = usesToApply(plan, names);
  if (needed > left)
    return `${token} may be used for ${counted(left, 'more request')}, and this apply needs about ${needed}: nothing was written`;
  const isIncomplete = plan.coverage.targets.some(
    ({ target, unread, incomplete }) => names.includes(target) && (unread === true || incomplete.length > 0),
  );
  return left === 0 && isIncomplete
    ? `${token} could be used for ${counted(uses, 'request')} when this apply began, and to read what it is used for needs more: nothing was written`
    : undefined;
}

/** Requests to these targets from the plan on: each call is a read and a write, and the plan that proves them reads everything, also what was created. */
function usesToApply({ changes, coverage }: Plan, names: readonly string[]): number {
  const calls = changes.flatMap((change) => change.calls).filter(({ target }) => names.includes(target));
  if (calls.length === 0) return 0;
  const created = changes.filter(
    ({ action, address }) => action === 'create' && names.includes(address.target),
  );
  const reads = coverage.targets
    .filter(({ target }) => names.includes(target))
    .reduce((sum, { requests }) => sum + requests, 0);
  return calls.length * 2 + reads + created.length;
}

/** Whether the service counts uses, and the token is one that this run was given. */
function isGiven({ service, token }: Target): boolean {
  return service === 'cluster-auth' && token !== undefined && !('login' in token);
}

/** Equal for targets that are sent the same token. */
function tokenOf({ target: { url, token } }: UsedTarget): string {
  return JSON.stringify([url, token]);
}

function requestsOf(targets: readonly UsedTarget[]): number {
  return targets.reduce((sum, { connection }) => sum + connection.requests(), 0);
}

/** How often the token may still be used; undefined where that is not limited, or the token may not ask. */
async function usesLeft(reader: Reader | undefined): Promise<number | undefined> {
  const answer = await reader?.get('/auth/token/lookup-self').catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const uses = memberOf(memberOf(answer.body, 'data'), 'num_uses');
  if (typeof uses !== 'number' || uses === 0) return undefined;
  // In the answer to its last request it is -1.
  return Math.max(0, uses);
}
