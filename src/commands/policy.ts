/** `trueup policy test` runs the tests in policies; `trueup policy replay` shows what policies would have decided about past applies. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { placeIn } from '../manifest/yaml/yaml-document.ts';
import type { Address } from '../model/address.ts';
import type { Action } from '../model/change.ts';
import { hasErrors, type Place } from '../model/diagnostic.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { PolicySource } from '../model/policy-source.ts';
import type { Expected } from '../model/policy.ts';
import { counted, quoted } from '../model/quoted.ts';
import { isMatched } from '../policies/check-plan.ts';
import { evaluate } from '../policies/run-worker.ts';
import { loadPolicies, type ReadPolicy, specShape } from '../policies/load-policies.ts';
import { sampleVariables } from '../policies/variables.ts';
import type { CaseResult } from '../policies/evaluate-rules.ts';
import { diagnosticsMember, renderJson } from '../report/json/render-json.ts';
import { printable } from '../report/view/printable.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
  timeParser,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { loadStack } from '../run/load-manifests.ts';
import { withStackLedger } from '../run/open-ledger.ts';
import { loadStackPolicies } from '../run/policies.ts';
import { listenForEnd } from '../run/stop-signals.ts';
import { type CommandContext, noteError, printJson, textOutput } from '../run/terminal.ts';
import { printReplay, replayPolicies } from './policy-replay.ts';

export function defineCommand(policy: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  addExamples(
    policy,
    ['trueup policy test', 'run the tests in the policies of the stack in this directory'],
    ['trueup policy replay --since 90d', 'what they would have stopped in the last 90 days'],
  );
  const test = command(policy, 'test', 'Runs the tests in policies, without any service');
  test
    .argument(
      '[files...]',
      'files, folders or patterns of policies (default: those of the stack in this directory)',
    )
    .addOption(formatOption())
    .action(async (files: readonly string[], options: CommonOptions) => {
      end(await testPolicies(files, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    test,
    ['trueup policy test', 'the policies of the stack in this directory, also those of a remote'],
    ['trueup policy test policies', 'all files below a folder, in a repository without a stack'],
  );
  const replay = command(policy, 'replay', 'Runs the policies of a stack over what was applied before');
  replay
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--since <time>', 'the start of the period (default: 90d)', timeParser(host))
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: ReplayOptions) => {
      end(await replayStack(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    replay,
    ['trueup policy replay --since 90d', 'what the policies would have stopped in the last 90 days'],
    ['trueup policy replay --since 7d --format json', 'the same for a script'],
  );
}

interface ReplayOptions extends CommonOptions {
  /** milliseconds since 1970 */
  readonly since?: number;
}

/** In milliseconds. */
const defaultPeriod = 90 * 24 * 60 * 60 * 1000;

async function testPolicies(files: readonly string[], context: CommandContext): Promise<ExitCode> {
  const policies = await policiesToTest(files, context);
  return printTests(await runTests(policies, context.host), context);
}

async function policiesToTest(
  files: readonly string[],
  { host }: CommandContext,
): Promise<readonly ReadPolicy[]> {
  if (files.length === 0) {
    const { stack } = await loadStack(undefined, host, { ignoresMistakes: true });
    const at = { directory: stack.directory, env: host.env };
    if (stack.policies === undefined) throw new CommandStop('policies-unreadable', noPolicies(stack.file));
    return (await loadStackPolicies(stack, { host, at })).policies;
  }
  const sources: PolicySource[] = [{ files }];
  const directory = resolve(host.cwd);
  const git = { directory, env: host.env, secrets: host.secrets };
  const about = { kinds: host.kinds, now: host.now(), cwd: host.cwd, git };
  const loaded = await loadPolicies({ policies: sources, directory, file: 'trueup.yaml' }, about);
  if (hasErrors(loaded.diagnostics)) throw CommandStop.ofProblems(loaded.diagnostics);
  return loaded.policies;
}

function noPolicies(file: string): string {
  return `the stack file ${JSON.stringify(file)} names no policies: add "spec.policies", or name their files`;
}

async function replayStack(
  path: string | undefined,
  { since: given, timeout }: ReplayOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const since = given ?? host.now() - defaultPeriod;
  const options = { host, stops: listenForEnd(host), timeout };
  return withStackLedger(path, options, async ({ stack, store, time }) => {
    if (stack.policies === undefined) throw new CommandStop('policies-unreadable', noPolicies(stack.file));
    const at = { directory: stack.directory, env: host.env, signal: time.runEnded };
    const { policies } = await loadStackPolicies(stack, { host, at });
    return printReplay(await replayPolicies(policies, store, { host, since }), context);
  });
}

interface TestResult {
  readonly policy: string;
  readonly test: string;
  readonly place: Place;
  readonly expected: Expected;
  readonly found: Expected;
  /** the message that the test names */
  readonly expectedMessage?: string;
  /** of the violation or the error */
  readonly message?: string;
  readonly isPassed: boolean;
}

interface TestedPolicy {
  readonly name: string;
  readonly file: string;
  readonly tests: number;
  readonly failed: number;
}

interface TestRun {
  readonly policies: readonly TestedPolicy[];
  readonly results: readonly TestResult[];
  /** names of policies without tests */
  readonly untested: readonly string[];
}

/** Runs the tests in policies: each sample change is evaluated like a change of a plan. */
async function runTests(
  policies: readonly ReadPolicy[],
  { kinds, now }: Pick<CliHost, 'kinds' | 'now'>,
): Promise<TestRun> {
  const at = new Date(now()).toISOString();
  const all = policies.flatMap((policy, rule) =>
    policy.tests.map((test, index) => ({ policy, rule, test, index, variables: sampleVariables(test, at) })),
  );
  const matching = all.filter(({ policy, variables }) => isMatched(policy.match, sampleChange(variables)));
  const { results } = await evaluate({
    rules: policies.map((policy) => ({
      rule: policy.rule,
      ...(policy.message === undefined ? {} : { message: policy.message }),
      spec: specShape(policy, kinds),
    })),
    changes: matching.map(({ variables }) => variables),
    plan: {},
    cases: matching.map(({ rule }, change) => [rule, change]),
  });
  const resultOf = new Map(matching.map((one, index) => [one, results[index]]));
  const tested = all.map((one): TestResult => {
    const { policy, test, index } = one;
    const result = resultOf.get(one);
    const found = matching.includes(one) ? foundOf(result) : 'no-match';
    const hasExpectedMessage = test.message === undefined || test.message === result?.message;
    return {
      ...{ policy: policy.name, test: test.name, expected: test.expect, found },
      ...(test.message === undefined ? {} : { expectedMessage: test.message }),
      place: placeIn(policy.document, ['spec', 'tests', `${index}`, 'name']),
      ...(result?.message === undefined ? {} : { message: result.message }),
      isPassed: found === test.expect && hasExpectedMessage,
    };
  });
  return {
    policies: policies.map(({ name, place, tests }) => ({
      ...{ name, file: place.file, tests: tests.length },
      failed: tested.filter(({ policy, isPassed }) => policy === name && !isPassed).length,
    })),
    untested: policies.filter(({ tests }) => tests.length === 0).map(({ name }) => name),
    results: tested,
  };
}

function foundOf(result: CaseResult | undefined): Expected {
  return result === undefined || result.is === 'not-evaluated' ? 'error' : result.is;
}

type Sample = ReturnType<typeof sampleVariables>;

function sampleChange({ change, resource }: Sample) {
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  const { kind, target, name, place, action } = change;
  const address: Address = { kind: text(kind), target: text(target), name: text(name) };
  const tags = isJsonObject(resource?.['tags']) ? resource['tags'] : {};
  return {
    address,
    place: text(place),
    action: text(action) as Action,
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, text(value)])),
  };
}

function printTests(run: TestRun, { terminal }: CommandContext): ExitCode {
  const { results, policies, untested } = run;
  const failed = results.filter(({ isPassed }) => !isPassed);
  printJson(terminal, (reported) =>
    renderJson({
      policies: policies.map((one) => ({ ...one })),
      untested: [...untested],
      tests: results.map(({ isPassed, place: { file, line }, ...one }) => ({
        ...one,
        place: { file, line },
        passed: isPassed,
      })),
      ...diagnosticsMember(reported),
    }),
  );
  const output = textOutput(terminal);
  const { paint } = terminal;
  const width = Math.max(...policies.map(({ name }) => name.length));
  for (const { name, file, tests, failed: failures } of policies) {
    const which = failures === 0 ? 'passed' : `passed, ${failures} failed`;
    const result = tests === 0 ? 'no tests' : `${counted(tests - failures, 'test')} ${which}`;
    output?.write(`${name.padEnd(width)}  ${result}  ${printable(file)}\n`);
  }
  for (const { policy, test, place, expected, expectedMessage, found, message } of failed) {
    const why =
      expected === found
        ? `expected the message ${quoted(printable(expectedMessage ?? ''))}, found`
        : `expected ${expected}, found ${found}`;
    const says = message === undefined ? '' : `: ${printable(message)}`;
    output?.write(
      `${paint.error('failed')}  ${policy}: ${printable(test)}\n        ${why}${says}\n        ${place.file}:${place.line}\n`,
    );
  }
  const tests = counted(results.length - failed.length, 'test');
  const of = policies.length === 1 ? '1 policy' : `${policies.length} policies`;
  const without = untested.length === 0 ? '' : `; without tests: ${untested.join(', ')}`;
  const end = failed.length === 0 ? '' : `, ${failed.length} failed`;
  output?.write(`${tests} of ${of} passed${end}${without}\n`);
  if (failed.length === 0) return exitCodes.done;
  noteError(
    terminal,
    'policy-tests',
    `${counted(failed.length, 'test')} of policies failed: ${failed.map(({ policy, test }) => `${quoted(policy)}: ${test}`).join('; ')}`,
  );
  return exitCodes.error;
}
