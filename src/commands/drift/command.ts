/**
 * `trueup drift [path]`: shows what somebody changed in the targets since the last apply and, separately, what the files
 * change. Sends what a plan sends, takes no lock, and exits with 3 on drift.
 */
import { type Command, Option } from 'commander';
import type { ReaderConnection } from '../../api/open-target.ts';
import type { Drift } from '../../model/drift.ts';
import { buildPlan } from '../../plan/build-plan.ts';
import { findDrift } from '../../plan/drift/find-drift.ts';
import { driftWithAuthors } from '../../plan/drift/last-modified.ts';
import {
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  timeoutOption,
  timeParser,
} from '../../run/command-options.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { askTrails } from '../../run/last-modified.ts';
import { readPlanInput } from '../../run/make-plan.ts';
import { type PreparedRun, runToRead } from '../../run/prepare-run.ts';
import { raceStop } from '../../run/stop-signals.ts';
import { type CommandContext, printDocument, type Terminal } from '../../run/terminal.ts';
import { renderDriftMarkdown } from './render-markdown.ts';
import { renderDrift, renderDriftJson } from './render.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown'))
    .addOption(completeOption())
    .addOption(timeoutOption())
    .option(
      '--unmanaged',
      'also fields that no manifest mentions and that somebody changed since the last apply',
    )
    .addOption(
      new Option(
        '--since <time>',
        'read the audit trail no further back: 7d, or a time such as 2026-11-20T08:00:00Z (default: to the last apply)',
      ).argParser(timeParser(host)),
    )
    .action(async (path: string | undefined, options: CommonOptions & DriftOptions) => {
      end(await drift(path, options, { host, terminal: terminalOf(options) }));
    });
}

interface DriftOptions {
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** seconds */
  readonly timeout?: number;
  /** milliseconds since 1970: the audit trail is read no further back */
  readonly since?: number;
  /** also tell changes of fields that no manifest mentions */
  readonly unmanaged?: boolean;
}

async function drift(
  path: string | undefined,
  { complete, timeout, since, unmanaged }: DriftOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  return runToRead(path, { host, terminal }, { complete, timeout }, (prepared, stop) =>
    report(prepared, { terminal, stop, since, unmanaged }),
  );
}

interface DriftReport {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  /** milliseconds since 1970 */
  readonly since: number | undefined;
  readonly unmanaged: boolean | undefined;
}

async function report(
  prepared: PreparedRun<ReaderConnection>,
  { terminal, stop, since, unmanaged }: DriftReport,
): Promise<ExitCode> {
  const { request, close } = prepared;
  try {
    const input = await raceStop(readPlanInput(request), stop);
    if (input === 'stopped') return exitCodes.interrupted;
    const { plan } = buildPlan(input);
    const drift = findDrift({ ...input, unmanaged }, plan);
    const moved = [...drift.drifted, ...(drift.unmanaged?.resources ?? [])];
    const { coverage } = plan;
    const context = { ...prepared, stack: request.stack, host: terminal.host, since, coverage };
    const touches = await raceStop(askTrails(moved, context), stop);
    if (touches === 'stopped') return exitCodes.interrupted;
    const found = driftWithAuthors(drift, touches);
    printDrift(terminal, found);
    return driftExitCode(found);
  } finally {
    await close();
  }
}

function printDrift(terminal: Terminal, found: Drift): void {
  const { host, paint, width } = terminal;
  if (terminal.format === 'text')
    host.stdout.write(
      `${renderDrift(found, { paint, now: host.now(), ...(width === undefined ? {} : { width }) })}\n`,
    );
  printDocument(terminal, {
    json: (told) => renderDriftJson(found, { told, clean: host.clean }),
    markdown: (told) => renderDriftMarkdown(host.clean(found), { told, now: host.now() }),
  });
}

/** Problems come first, then an incomplete look, then drift. */
function driftExitCode({ problems, complete, drifted, unmanaged }: Drift): ExitCode {
  const code = exitCodeOf(problems);
  if (code !== exitCodes.done) return code;
  if (!complete) return exitCodes.error;
  const isMoved = drifted.length > 0 || (unmanaged?.resources.length ?? 0) > 0;
  return isMoved ? exitCodes.drift : exitCodes.done;
}
