/**
 * `trueup doctor [path]`: checks all that a plan and an apply depend on, and says how to fix what is wrong. It sends only what a plan
 * sends, takes no lock and writes nothing. What fails does not end the other checks.
 */
import type { Command } from 'commander';
import { noLedger } from '../../ledger/ledger-text.ts';
import type { Stack } from '../../model/stack.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  pathHelp,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { type LoadedManifests, loadManifests } from '../../run/load-manifests.ts';
import { learnSources } from '../../run/needed-secrets.ts';
import { beginRun, listenForEnd, raceStop, type ReadSignals, type RunTime } from '../../run/stop-signals.ts';
import { type CommandContext, printJson } from '../../run/terminal.ts';
import { checkLedger } from './check-ledger.ts';
import { checkCi, checkGit, checkNode } from './check-machine.ts';
import { checkSecrets, checkStack } from './check-stack.ts';
import { checkTarget } from './check-target.ts';
import { type Finding, hasFailed, machineChecks, withUnchecked } from './finding.ts';
import { type DoctorReport, renderReport, renderReportJson } from './render.ts';

export function defineCommand(doctor: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  doctor
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .addOption(timeoutOption('how long the checks may take (default: what the stack says, or 2m)'))
    .addOption(traceOption())
    .addHelpText(
      'after',
      `
Checks address, DNS, proxy, TLS, clock, token, dialect, rights and features of
each target, and ledger, lock, secrets, git, Node and CI. It sends what a plan
may send, takes no lock and writes nothing. It exits with 1 if something would
stop an apply, else with 0.`,
    )
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await examine(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    doctor,
    ['trueup doctor', 'check everything that the stack in this directory uses'],
    ['trueup doctor stacks/payments --format json', 'another stack, for a script'],
  );
}

/** Of all checks, in seconds. */
const defaultTimeout = 120;

async function examine(
  path: string | undefined,
  { timeout }: CommonOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const stops = listenForEnd(host);
  try {
    const report = await makeReport(path, { host, stops, timeout });
    const findings = host.clean([...report.findings]);
    const shown = { ...report, findings };
    if (terminal.format === 'json') printJson(terminal, (reported) => renderReportJson(shown, reported));
    else host.stdout.write(`${renderReport(shown, terminal)}\n`);
    return hasFailed(findings) ? exitCodes.error : exitCodes.done;
  } finally {
    stops.dispose();
  }
}

interface Examination {
  readonly host: CliHost;
  readonly stops: ReadSignals;
  /** seconds */
  readonly timeout: number | undefined;
}

async function makeReport(path: string | undefined, examination: Examination): Promise<DoctorReport> {
  const { host, stops, timeout } = examination;
  const manifests = await loadManifests(path, host, { timeout, runEnded: stops.runEnded });
  // Of a stack with errors in some targets, the others are checked.
  const { stack = manifests.partial } = manifests;
  const time = beginRun({ stack: { timeout: timeout ?? stack?.timeout ?? defaultTimeout } }, stops, host);
  try {
    const work = Promise.all([
      checkMachine(stack, examination),
      stack === undefined ? [] : checkStackAndTargets(stack, manifests, { path, host, time }),
    ]);
    const [machine, ofStack] = await raceStop(work, stops.stopStarting);
    const found = [...machine, ...checkStack(manifests, path), ...ofStack];
    return {
      stack,
      findings: withUnchecked(found, machineChecks, 'there is no valid stack'),
    };
  } finally {
    time.deadline.clear();
  }
}

async function checkMachine(stack: Stack | undefined, { host, stops }: Examination): Promise<Finding[]> {
  const question = {
    directory: stack?.directory ?? host.cwd,
    isNeeded: stack?.ledger?.in === 'git',
    signal: stops.runEnded,
  };
  return [...checkNode(host.machine().node), ...(await checkGit(question, host)), ...(await checkCi(host))];
}

interface StackExamination {
  readonly path: string | undefined;
  readonly host: CliHost;
  readonly time: RunTime;
}

async function checkStackAndTargets(
  stack: Stack,
  { resources }: Pick<LoadedManifests, 'resources'>,
  { path, host, time }: StackExamination,
): Promise<Finding[]> {
  await learnSources(stack, resources, host, { files: 'of the stack' });
  const secrets = await checkSecrets(stack, resources, host);
  const { findings, ledger } = await checkLedger({ stack, host, time, path });
  const targets = await Promise.all(
    stack.targets.map((target) =>
      checkTarget(target, { stack, resources, ledger: ledger ?? noLedger, host, time, path }),
    ),
  );
  // What is wrong with the ledger itself says more than that it seems to be lost.
  const isLost = ({ id }: Finding) => id === 'ledger-lost' || id === 'ledger-other-id';
  const isExplained = ledger === undefined || hasFailed(findings);
  const ofTargets = targets.flat().filter((finding) => !(isExplained && isLost(finding)));
  const ofLedger = ofTargets.some(isLost) ? findings.filter(({ id }) => id !== 'ledger') : findings;
  return [...secrets, ...ofLedger, ...ofTargets];
}
