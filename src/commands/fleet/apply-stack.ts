/**
 * Applies one stack with `trueup ci apply` in its own process. It applies only what was approved, and guards and policies still stop it.
 */
import { type Json, memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import { type ApplyGrant, type ApplyMessage, fleetVariables } from '../../run/fleet-process.ts';
import type { CheckRates } from './rates/check-rates.ts';
import { parseOutput, problemOf } from './check-stack.ts';
import { type EndedProcess, runForStack, type StackWork } from './stack-process.ts';
import type { ApplyEnd, OpenPlan, Wait } from './apply/apply-records.ts';
import type { ApplySettings } from './apply/settings.ts';

/** Shorter than a job may take (`queueSettings`). The next attempt applies what is left. */
const longestApply = '25m';

/** Milliseconds that an apply has to end its requests and write its ledger, before it is killed. */
export const killDelay = 30_000;

interface ApplyWork extends StackWork {
  readonly settings: ApplySettings;
  readonly grant: ApplyGrant;
  readonly rates: CheckRates;
  /** Whether this attempt is still the newest one; undefined while the database does not answer. */
  mayWrite(): Promise<boolean | undefined>;
  /** Records that the writes of an approved plan begin. */
  begins(): Promise<void>;
}

/** How an apply ended, or why it waits and nothing was written. */
export type ApplyResult =
  | { readonly is: 'ended'; readonly end: ApplyEnd }
  | { readonly is: 'waits'; readonly wait: Omit<Wait, 'commit' | 'until'> };

export async function applyStack({
  settings,
  grant,
  rates,
  mayWrite,
  begins,
  ...work
}: ApplyWork): Promise<ApplyResult> {
  const { codeHost } = settings;
  let people: readonly string[] = [];
  const answer = async (message: ApplyMessage) => {
    if (message.do === 'may-write') return { id: message.id, mayWrite: await mayWrite() };
    people = message.by;
    // Until the plan is approved, other requests come first.
    rates.purpose = 'apply';
    await begins();
    return undefined;
  };
  const variables = [...settings.variables].map(([name, of]) => [name, grantedValue(of, work)] as const);
  const ended = await runForStack({
    ...{ ...work, killDelay, files: settings.files },
    command: ['ci', 'apply'],
    args: argumentsOf(work, settings),
    variables: {
      ...Object.fromEntries(variables),
      [fleetVariables.apply]: JSON.stringify(grant),
      [fleetVariables.codeHostToken]: codeHost && grantedValue(codeHost.secret, work),
    },
    answer: async (message) => ('address' in message ? rates.answer(message) : answer(message)),
  });
  return resultOf(ended, people, work.signal);
}

/** @throws CommandStop when the variable is not set for the worker */
function grantedValue(name: string, { env }: StackWork): string {
  const value = env[name];
  if (value === undefined || value === '')
    throw new CommandStop(
      'usage',
      `the environment variable ${quoted(name)} of the worker, which "apply" in fleet.yaml names, is not set`,
    );
  return value;
}

function argumentsOf({ repository, path }: StackWork, { codeHost }: ApplySettings): string[] {
  const place =
    codeHost === undefined
      ? []
      : [
          ...['--service', codeHost.is, '--url', codeHost.url],
          ...[codeHost.is === 'github' ? '--repository' : '--project', codeHost.repository],
          ...(codeHost.author === undefined ? [] : ['--author', codeHost.author]),
        ];
  return [
    ...['--format', 'json', '--timeout', longestApply],
    // The path is relative: messages and comments repeat it, and this checkout exists for this process only.
    ...['--branch', repository.ref, ...place, '--', path],
  ];
}

function resultOf(
  { code, output, errors }: EndedProcess,
  people: readonly string[],
  { aborted: isStopped }: AbortSignal,
): ApplyResult {
  const answer = parseOutput(output);
  const problem = problemOf(answer, errors);
  const reason = failureIn(answer) ?? problem.message ?? `the apply ended with exit code ${code}`;
  const about = { reason, code: problem.code, people, ...changesIn(answer) };
  const plan = openPlanIn(answer);
  switch (code) {
    case exitCodes.done:
      return { is: 'ended', end: { ...about, outcome: 'applied', reason: undefined, code: undefined } };
    case exitCodes.partial:
      // An apply that reached its deadline made progress, so it continues at once.
      return {
        is: 'ended',
        end: { ...about, outcome: isStopped || problem.code === 'deadline' ? 'interrupted' : 'partial' },
      };
    case exitCodes.blocked:
      return { is: 'waits', wait: { for: 'guard', reason, plan } };
    case exitCodes.locked:
      return { is: 'waits', wait: { for: 'lock', reason } };
    default:
      // Any other end, such as running out of memory, is a failure: the next attempt may end in the same way.
      if (isStopped) return { is: 'ended', end: { ...about, outcome: 'interrupted' } };
      if (problem.code === 'not-approved') return { is: 'waits', wait: { for: 'approval', reason, plan } };
      if (problem.code === 'fleet-freeze') return { is: 'waits', wait: { for: 'freeze', reason, plan } };
      return { is: 'ended', end: { ...about, outcome: 'failed' } };
  }
}

/** Why the first change failed, in the words of the service or of trueup. */
function failureIn(answer: ReturnType<typeof parseOutput>): string | undefined {
  const outcomes = memberOf(answer, 'outcomes');
  if (!Array.isArray(outcomes)) return undefined;
  const notApplied = ['failed', 'unknown', 'stale'];
  const failed = outcomes.filter((one: Json) => notApplied.includes(String(memberOf(one, 'outcome'))));
  const [first] = failed;
  const detail = memberOf(first, 'detail');
  if (typeof detail !== 'string') return undefined;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return `${memberOf(first, 'address')}: ${detail.slice(0, longestMessage)}${more}`;
}

/** How much of a plan is kept for a page: changes, guards, and characters of each text. */
const [maxChanges, maxGuards, longestMessage] = [100, 20, 500];

/** The plan that was refused, from an answer in the format of `trueup plan --format json`. */
function openPlanIn(answer: ReturnType<typeof parseOutput>): OpenPlan | undefined {
  const [digest, changes, guards] = ['digest', 'changes', 'guards'].map((name) => memberOf(answer, name));
  if (typeof digest !== 'string' || !Array.isArray(changes) || !Array.isArray(guards)) return undefined;
  const text = (value: Json, name: string) => String(memberOf(value, name) ?? '').slice(0, longestMessage);
  return {
    digest,
    count: changes.length,
    changes: changes
      .slice(0, maxChanges)
      .map((one: Json) => ({ action: text(one, 'action'), address: text(one, 'address') })),
    guards: guards.slice(0, maxGuards).map((one: Json) => ({
      id: text(one, 'id'),
      effect: text(one, 'effect'),
      message: text(one, 'message'),
    })),
  };
}

/** How many changes were carried out. */
function changesIn(answer: ReturnType<typeof parseOutput>): { readonly changes?: number } {
  const applied = memberOf(memberOf(answer, 'summary'), 'applied');
  return typeof applied === 'number' ? { changes: applied } : {};
}
