/**
 * The code of the thread that evaluates policies: only a thread can be ended in the middle of a rule. It parses and checks the
 * expressions, evaluates them, and posts each result. A rule passes only when it gives exactly `true`.
 */
import { parentPort } from 'node:worker_threads';
import { celEnv, isCelError, parse, plan as compile } from '@bufbuild/cel';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { messageOf } from '../model/error-message.ts';
import type { JsonObject } from '../model/json.ts';
import {
  checkExpression,
  type ExpressionProblem,
  maxExpression,
  type Shape,
  tooDeepText,
} from './check-expression.ts';
import { toCel, variableShapes } from './variables.ts';

/** The expressions of one policy. */
interface RuleText {
  readonly rule: string;
  readonly message?: string;
  /** what is known of `resource.spec`, `change.before` and `change.after` */
  readonly spec?: Shape;
}

/** The variables of an evaluation; `plan.time` is RFC 3339, and a timestamp in CEL. */
interface Variables {
  readonly change: JsonObject;
  readonly resource: JsonObject | null;
  readonly plan: JsonObject;
}

export interface Job {
  readonly rules: readonly RuleText[];
  /** without `resource`, a rule that asks for it fails */
  readonly changes: readonly (Pick<Variables, 'change'> & Partial<Variables>)[];
  /** for changes without a plan of their own */
  readonly plan: JsonObject;
  /** what to evaluate: the index of a rule and that of a change */
  readonly cases: readonly (readonly [rule: number, change: number])[];
}

export interface RuleProblem extends ExpressionProblem {
  readonly rule: number;
  readonly part: 'rule' | 'message';
}

export interface CaseResult {
  /** `not-evaluated`: the worker ended before, which is not the fault of the rule */
  readonly is: 'pass' | 'violation' | 'error' | 'not-evaluated';
  /** for a violation the text of its message, if it has one; for an error the reason, as a clause */
  readonly message?: string;
}

export type Answer =
  | { readonly type: 'ready' }
  | { readonly type: 'problems'; readonly problems: readonly RuleProblem[] }
  /** in the order of the cases */
  | { readonly type: 'results'; readonly results: readonly CaseResult[] }
  | { readonly type: 'end' };

type Evaluate = (variables: Readonly<Record<string, unknown>>) => unknown;

/** Results of a rule are posted in batches of this size, so that those before the deadline are known. */
const batch = 500;
/** Characters of a message, at most. Longer messages are cut. */
const maxMessage = 500;

const env = celEnv({});

interface Compiled {
  readonly evaluate?: Evaluate;
  readonly problems: readonly ExpressionProblem[];
}

function compileText(text: string, spec: Shape | undefined): Compiled {
  if (Buffer.byteLength(text) > maxExpression)
    return { problems: [{ message: `the expression has more than ${maxExpression} bytes` }] };
  const tooDeep = tooDeepText(text);
  if (tooDeep !== undefined) return { problems: [tooDeep] };
  try {
    const parsed = parse(text);
    const problems = checkExpression(parsed.expr, {
      names: variableShapes(spec),
      hasFunction: (name) => env.funcs.find(name) !== undefined || isOperator(name),
    });
    if (problems.length > 0) return { problems };
    const evaluate = compile(env, parsed);
    return { evaluate: (variables) => evaluate(variables as Parameters<typeof evaluate>[0]), problems };
  } catch (error) {
    return { problems: [{ message: `the expression is not valid: ${messageOf(error)}` }] };
  }
}

/** Operators that are not functions of the library. */
function isOperator(name: string): boolean {
  return /^[_@!-]/.test(name);
}

function resultOf(evaluate: Evaluate, variables: Readonly<Record<string, unknown>>): unknown {
  try {
    const value = evaluate(variables);
    // CEL returns errors as values, which count as true in a condition.
    return isCelError(value) ? new Error(value.message) : value;
  } catch (error) {
    return new Error(messageOf(error));
  }
}

function evaluateCase(
  rule: Compiled,
  message: Compiled | undefined,
  variables: Record<string, unknown>,
): CaseResult {
  if (rule.evaluate === undefined) return { is: 'error', message: 'the rule is not valid' };
  const value = resultOf(rule.evaluate, variables);
  if (value === true) return { is: 'pass' };
  if (value instanceof Error) return { is: 'error', message: `the rule fails: ${clipped(value.message)}` };
  if (value !== false)
    return { is: 'error', message: `the rule gives ${typeName(value)}, and not true or false` };
  if (message === undefined) return { is: 'violation' };
  const text = message.evaluate === undefined ? undefined : resultOf(message.evaluate, variables);
  if (typeof text === 'string') return { is: 'violation', message: clipped(text) };
  const why = text instanceof Error ? text.message : `it gives ${typeName(text)}`;
  return { is: 'violation', message: `the rule is violated, and its message fails: ${clipped(why)}` };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'bigint' || typeof value === 'number' ? 'a number' : 'another type';
}

function clipped(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxMessage ? `${line.slice(0, maxMessage)}…` : line;
}

/** The plan for CEL. Its time is a text in JSON, and a timestamp in CEL. */
function planVariable(plan: JsonObject): unknown {
  const { time, ...rest } = plan;
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  const members = toCel(rest) as Record<string, unknown>;
  return Number.isNaN(at) ? members : { ...members, time: timestampFromMs(at) };
}

function work(job: Job, post: (answer: Answer) => void): void {
  const compiled = job.rules.map(({ rule, message, spec }) => ({
    rule: compileText(rule, spec),
    message: message === undefined ? undefined : compileText(message, spec),
  }));
  const problems = compiled.flatMap(({ rule, message }, index) => [
    ...rule.problems.map((problem) => ({ ...problem, rule: index, part: 'rule' as const })),
    ...(message?.problems ?? []).map((problem) => ({ ...problem, rule: index, part: 'message' as const })),
  ]);
  post({ type: 'problems', problems });
  const shared = planVariable(job.plan);
  const variables = new Map<number, Record<string, unknown>>();
  const variablesOf = (index: number) => {
    const known = variables.get(index);
    if (known !== undefined) return known;
    const { change, resource, plan } = job.changes[index] ?? { change: {} };
    const made = {
      change: toCel(change),
      ...(resource === undefined ? {} : { resource: toCel(resource) }),
      plan: plan === undefined ? shared : planVariable(plan),
    };
    variables.set(index, made);
    return made;
  };
  let results: CaseResult[] = [];
  for (const [at, [rule, change]] of job.cases.entries()) {
    const expressions = compiled[rule];
    results.push(
      expressions === undefined
        ? { is: 'error', message: 'the rule is not known' }
        : evaluateCase(expressions.rule, expressions.message, variablesOf(change)),
    );
    if (results.length < batch && job.cases[at + 1]?.[0] === rule) continue;
    post({ type: 'results', results });
    results = [];
  }
  post({ type: 'results', results });
  post({ type: 'end' });
}

const port = parentPort;
if (port !== null) {
  port.on('message', (job: Job) => work(job, (answer) => port.postMessage(answer)));
  port.postMessage({ type: 'ready' } satisfies Answer);
}
