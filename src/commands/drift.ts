/**
 * `trueup drift [path]`: shows what was changed in the targets since the last apply and, separately, what the files would
 * change. Sends the same requests as a plan, takes no lock, and exits with 3 on drift.
 */
import { type Command, Option } from 'commander';
import type { Drift } from '../model/drift.ts';
import { findDrift } from '../plan/find-drift.ts';
import { driftWithAuthors } from '../plan/attribute-drift.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  selectOption,
  timeoutOption,
  traceOption,
  timeParser,
} from '../run/command-options.ts';
import { cleanDiagnostics, type CommandContext, printDocument, type Terminal } from '../run/terminal.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { askTrails } from '../run/read-trails.ts';
import { stackArgument } from '../run/load-manifests.ts';
import { readPlanInput } from '../run/make-plan.ts';
import { choosePart } from '../run/selection/choose-part.ts';
import { runToRead } from '../run/prepare-run.ts';
import { raceStop } from '../run/stop-signals.ts';
import { renderDriftMarkdown } from '../report/markdown/drift.ts';
import { renderDriftJson } from '../report/json/drift.ts';
import { renderDrift } from '../report/text/drift.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html'))
    .addOption(completeOption())
    .addOption(selectOption('only this part of the stack, chosen as by "trueup plan"; may be repeated'))
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('--unmanaged', 'also fields that no manifest sets and that were changed since the last apply')
    .addOption(
      new Option(
        '--since <time>',
        'read the audit trail no further back: 7d, or a time such as 2026-11-20T08:00:00Z (default: to the last apply)',
      ).argParser(timeParser(host)),
    )
    .action(async (path: string | undefined, options: DriftOptions) => {
      end(await drift(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup drift', 'what changed since the last apply, and who changed it'],
    ['trueup drift --unmanaged', 'also fields that no manifest sets'],
    ['trueup drift --format html > drift.html', 'one page to read in a browser'],
    ['trueup drift --format json', 'for a nightly job; exit code 3 means drift'],
  );
}

interface DriftOptions extends CommonOptions {
  /** milliseconds since 1970: the audit trail is read no further back */
  readonly since?: number;
  /** also reports changes of fields that no manifest has */
  readonly unmanaged?: boolean;
}

async function drift(
  path: string | undefined,
  options: DriftOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { since, unmanaged } = options;
  const limits = { ...options, choosePart: choosePart(options.select) };
  return runToRead(path, context, limits, async (prepared, stop) => {
    const { stack } = prepared.request;
    const input = await raceStop(readPlanInput(prepared.request), stop);
    const drift = findDrift({ ...input, unmanaged });
    const drifted = [...drift.drifted, ...(drift.unmanaged?.resources ?? [])];
    const asked = askTrails(drifted, {
      ...prepared,
      stack,
      host: context.host,
      since,
      coverage: drift.coverage,
    });
    const found = driftWithAuthors(drift, await raceStop(asked, stop));
    printDrift(context.terminal, found, stackArgument(path, options));
    return driftExitCode(found);
  });
}

function printDrift(terminal: Terminal, found: Drift, stack: string | undefined): void {
  const { host, paint, width } = terminal;
  const shown = { ...found, problems: cleanDiagnostics(found.problems, host) };
  if (terminal.format === 'text')
    host.stdout.write(
      `${renderDrift(shown, { paint, now: host.now(), ...(width === undefined ? {} : { width }) })}\n`,
    );
  printDocument(terminal, {
    json: (diagnostics) => renderDriftJson(found, { diagnostics, clean: host.clean }),
    html: async (diagnostics) => {
      const { renderDriftHtml } = await import('../report/html/drift.ts');
      return renderDriftHtml(host.clean(shown), { diagnostics, now: host.now(), stack });
    },
    markdown: (diagnostics) =>
      renderDriftMarkdown(host.clean(shown), { diagnostics, now: host.now(), stack }),
  });
}

/** Problems come first, then an incomplete read, then drift. A name that now has another id is drift as well. */
function driftExitCode({ problems, complete, drifted, changedNames, unmanaged }: Drift): ExitCode {
  const code = exitCodeOf(problems);
  if (code !== exitCodes.done) return code;
  if (!complete) return exitCodes.error;
  const hasDrift = drifted.length + changedNames.length + (unmanaged?.resources.length ?? 0) > 0;
  return hasDrift ? exitCodes.drift : exitCodes.done;
}
