/** `trueup policy test` and `trueup policy replay`: whether policies decide as they should, and what they would have decided. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { hasErrors } from '../../model/diagnostic.ts';
import type { PolicySource } from '../../model/policy-source.ts';
import { loadPolicies, type ReadPolicy } from '../../policies/load-policies.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
  timeParser,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { loadStack } from '../../run/load-manifests.ts';
import { withStackLedger } from '../../run/open-ledger.ts';
import { loadStackPolicies } from '../../run/policies.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import type { CommandContext } from '../../run/terminal.ts';
import { printReplay, replayPolicies } from './replay.ts';
import { printTests, runTests } from './run-tests.ts';

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
    .option('--since <time>', 'from when on; 90d if not given', timeParser(host))
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
