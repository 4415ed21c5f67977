/** Checks one stack for drift with `trueup drift --format json`: what it found, or why the check is not complete. */
import { join } from 'node:path';
import { compileSchema } from '../../manifest/schema/compile-schema.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { type DriftJson, driftSchema } from '../../report/json/drift-schema.ts';
import type { CheckRates } from './rates/check-rates.ts';
import { type EndedProcess, runForStack, type StackWork } from './stack-process.ts';

export interface CheckResult {
  /** why the check is not complete: what it read does not show whether there is drift */
  readonly error: string | undefined;
  /** code of the problem that ended the check; absent if the problem has none */
  readonly errorCode?: string | undefined;
  readonly summary: CheckSummary | undefined;
  /** absent if the process printed none; after an incomplete check it has what could be read */
  readonly report?: DriftJson | undefined;
}

interface CheckSummary {
  readonly stack: string;
  /** resources that are not as they were last applied, or whose names refer to other objects */
  readonly drifted: number;
  /** resources that the files change */
  readonly pending: number;
}

/** Characters of an error, at most. Its text comes from a stack, and every page shows it. */
const longestError = 5000;

/** Replaces NUL characters. PostgreSQL cannot store them in texts, so a check with one would never be recorded. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** Shorter than a job may take (`queueSettings`). If a service asks for a longer wait, the check fails, which frees its slot. */
const longestCheck = '20m';

/** Milliseconds that a check has to end before it is killed. A check writes nothing. */
const killDelay = 3000;

export async function checkStack({
  rates,
  ...work
}: StackWork & { readonly rates: CheckRates }): Promise<CheckResult> {
  return resultOf(
    await runForStack({
      ...{ ...work, killDelay },
      command: ['drift'],
      args: [join(work.checkout.directory, work.path), '--format', 'json', '--timeout', longestCheck],
      answer: async (message) => ('address' in message ? rates.answer(message) : undefined),
    }),
  );
}

export function resultOf({ code, output, errors }: EndedProcess): CheckResult {
  const answer = parseOutput(output);
  const report = answer === undefined ? undefined : validReport(answer);
  const found = { report, summary: report && summaryOf(report) };
  // 3: drift was found.
  if ((code === 0 || code === 3) && report !== undefined) return { error: undefined, ...found };
  const { message, code: errorCode } = problemOf(answer, errors);
  const error = message ?? incompleteRead(report) ?? `the check ended with exit code ${code}`;
  return { error, errorCode, ...found };
}

/** Which target was not read completely, and why. The report has that in its coverage, and not as a problem. */
function incompleteRead(report: DriftJson | undefined): string | undefined {
  const [first, ...others] = (report?.coverage.targets ?? []).flatMap(({ target, incomplete = [] }) =>
    incomplete.map((why) => `target ${quoted(target)} was not read completely: ${why}`),
  );
  if (first === undefined) return undefined;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return withoutNul(`${first}${more}`.slice(0, longestError));
}

/** Why a process failed: from its JSON, or else from the first line of its errors. */
export function problemOf(answer: Json | undefined, errors: string): Partial<Problem> {
  const problems = [...problemsIn(answer, 'problems'), ...problemsIn(answer, 'diagnostics')];
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const text = first === undefined ? errors.trim().split('\n')[0] : `${first.message}${more}`;
  if (!text) return {};
  // Pages and lists show it on one line.
  const line = text.slice(0, longestError).replaceAll(/\s*\n\s*/g, '; ');
  return { code: first?.code, message: withoutNul(line) };
}

function summaryOf({ stack, drifted, changedNames, pending }: DriftJson): CheckSummary {
  return { stack, drifted: driftedAddresses({ drifted, changedNames }).length, pending: pending.length };
}

/** The addresses of the resources that drifted, each once, sorted. */
export function driftedAddresses({
  drifted,
  changedNames,
}: Pick<DriftJson, 'drifted' | 'changedNames'>): string[] {
  return [...new Set([...drifted, ...changedNames].map(({ address }) => address))].sort();
}

interface Problem {
  readonly code: string | undefined;
  readonly message: string;
}

/** The errors in a list of diagnostics. */
function problemsIn(answer: Json | undefined, member: string): Problem[] {
  const list = isJsonObject(answer) ? answer[member] : undefined;
  if (!Array.isArray(list)) return [];
  return (list as readonly Json[]).flatMap((one) => {
    if (!isJsonObject(one) || one['severity'] !== 'error' || typeof one['message'] !== 'string') return [];
    const { code } = one;
    return [{ code: typeof code === 'string' ? code : undefined, message: one['message'] }];
  });
}

/** The report, if it matches the schema: rules of the stack run in the process that prints it, and may print something else. */
function validReport(answer: Json): DriftJson | undefined {
  const check = compileSchema(driftSchema, () => jsonSchema(driftSchema));
  return check(answer).length === 0 ? (answer as unknown as DriftJson) : undefined;
}

/** What a process printed as JSON; undefined when it printed something else. */
export function parseOutput(output: string): Json | undefined {
  try {
    // Most outputs have no NUL and are long, so the slower way is only for the others.
    if (!output.includes('\\u0000')) return JSON.parse(output) as Json;
    return JSON.parse(output, (_, value) => (typeof value === 'string' ? withoutNul(value) : value)) as Json;
  } catch {
    return undefined;
  }
}
