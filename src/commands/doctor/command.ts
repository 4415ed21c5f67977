/**
 * `trueup doctor [path]`: checks all that a plan and an apply depend on, and says how to fix what is wrong. It sends only what a plan
 * sends, takes no lock and writes nothing. A failed check does not stop the checks of other things.
 */
import type { Command } from 'commander';
import { noLedger } from '../../ledger/ledger-text.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { counted } from '../../model/quoted.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { labelled, type Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';
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
import { checkLabel, type Finding, hasFailed, machineChecks, withUnchecked } from './finding.ts';

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

/** For all checks together, in seconds. */
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
  // If some targets of the stack have errors, the others are still checked.
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
  // A finding about the ledger itself is more exact than one that says it seems to be lost.
  const isLost = ({ id }: Finding) => id === 'ledger-lost' || id === 'ledger-other-id';
  const isExplained = ledger === undefined || hasFailed(findings);
  const ofTargets = targets.flat().filter((finding) => !(isExplained && isLost(finding)));
  const ofLedger = ofTargets.some(isLost) ? findings.filter(({ id }) => id !== 'ledger') : findings;
  return [...secrets, ...ofLedger, ...ofTargets];
}

interface DoctorReport {
  /** undefined without a stack, or if it is not valid */
  readonly stack: Stack | undefined;
  readonly findings: readonly Finding[];
}

interface Layout {
  readonly paint: Paint;
  readonly width?: number | undefined;
}

/** Symbols and colours by level. */
const marks: Readonly<
  Record<Finding['level'], readonly [symbol: string, emphasis: Exclude<keyof Paint, 'link'>]>
> = {
  ok: ['✓', 'added'],
  info: ['-', 'dim'],
  warning: ['!', 'warning'],
  error: ['✗', 'error'],
};

function renderReport({ stack, findings }: DoctorReport, layout: Layout): string {
  const { paint } = layout;
  const sections = (stack?.targets ?? []).map((target) => {
    const own = findings.filter((finding) => finding.target === target.name && finding.check !== 'ledger');
    return [paint.heading(printable(titleOf(target))), ...linesOf(own, layout, target)];
  });
  const machine = findings.filter(({ target, check }) => target === undefined || check === 'ledger');
  const head = stack === undefined ? 'No valid stack' : `Stack ${stack.name}`;
  return [
    [paint.heading(printable(head)), ...linesOf(machine, layout)],
    ...sections,
    [verdict(findings, paint)],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function titleOf({ name, service, url, organization, dialect }: Target): string {
  const what = organization === undefined ? service : `${service} of ${organization}`;
  return `Target ${name}: ${what} at ${url} (${dialect})`;
}

/** Checks that were not made for the same reason share one line. */
function linesOf(findings: readonly Finding[], layout: Layout, target?: Target): string[] {
  const isUnchecked = ({ id, check }: Finding) => id === 'unchecked' && check !== 'address';
  const made = findings.filter((finding) => !isUnchecked(finding));
  const unchecked = Map.groupBy(findings.filter(isUnchecked), ({ message }) => message);
  return [
    ...made.flatMap((finding) => line(checkLabel(finding.check, target?.service), finding, layout)),
    ...[...unchecked.values()].flatMap((some) => {
      const [first] = some;
      if (first === undefined) return [];
      const names = some.map((finding) => checkLabel(finding.check, target?.service)).join(', ');
      return line('', { ...first, message: `${first.message}: ${names}` }, layout);
    }),
  ];
}

const nameColumn = 13;

/** Colours are added last, because lines are wrapped by the width of their text without colours. */
function line(name: string, { level, message, fix }: Finding, { paint, width = 80 }: Layout): string[] {
  const [symbol, emphasis] = marks[level];
  const label = `${symbol} ${name.padEnd(nameColumn)}`;
  const [first = '', ...more] = labelled(label, printable(message), width);
  const column = ' '.repeat(label.length);
  return [
    first.replace(symbol, paint[emphasis](symbol)),
    ...more,
    ...(fix === undefined ? [] : labelled(`${column}fix: `, printable(fix), width)),
  ];
}

function verdict(findings: readonly Finding[], paint: Paint): string {
  const { errors, warnings } = summaryOf(findings);
  const also = warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`;
  if (errors > 0) return paint.error(`${counted(errors, 'error')}${also}: an apply would stop`);
  return paint.added(`Nothing found that would stop an apply${also}`);
}

function summaryOf(findings: readonly Finding[]) {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  return { errors: count('error'), warnings: count('warning') };
}

/** `{ version: 1, stack?, healthy, summary, findings, diagnostics? }`, valid against `schema.ts`. */
function renderReportJson(
  { stack, findings }: DoctorReport,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    ...(stack === undefined ? {} : { stack: stack.name }),
    healthy: !hasFailed(findings),
    summary: summaryOf(findings),
    findings,
    ...diagnosticsMember(diagnostics),
  });
}
