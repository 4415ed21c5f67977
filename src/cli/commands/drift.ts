/**
 * `trueup drift [path]`: tells what somebody changed in the targets since the last apply, and, apart from it, what the files ask
 * for. Sends what a plan sends, takes no lock, and exits with 3 on drift.
 */
import type { CommandContext } from '../command-context.ts';
import type { ReaderConnection } from '../../http/open-target.ts';
import type { Drift } from '../../model/plan/drift.ts';
import { buildPlan } from '../../plan/build-plan.ts';
import { findDrift } from '../../plan/drift/find-drift.ts';
import { driftWithAuthors } from '../../plan/drift/with-touches.ts';
import { renderDriftMarkdown } from '../../report/drift/drift-markdown.ts';
import { renderDriftJson } from '../../report/drift/drift-json.ts';
import { renderDrift } from '../../report/drift/drift-text.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { readPlanInput } from '../run/make-plan.ts';
import { askTrails } from '../drift/ask-trails.ts';
import { type PreparedRun, runToRead } from '../run/prepare-run.ts';
import { raceStop } from '../stop/race-stop.ts';
import { printDocument, type Terminal } from '../terminal/terminal.ts';

export interface DriftOptions {
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** seconds */
  readonly timeout?: number;
  /** milliseconds since 1970: the audit trail is read no further back */
  readonly since?: number;
  /** also tell changes of fields that no manifest mentions */
  readonly unmanaged?: boolean;
}

export async function drift(
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
