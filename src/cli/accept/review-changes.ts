/** Shows what would be written, asks, and writes it. */
import { displayPath } from '../../manifest/files/find-stack.ts';
import { counted } from '../../model/counted.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { systemErrorMessage } from '../../model/system-error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { reportNotWritten } from '../approval/consent.ts';
import type { NothingTaken } from '../../report/accept/accept-report.ts';
import { renderAcceptedChanges } from '../../report/accept/accept-text.ts';
import { renderAcceptJson } from '../../report/accept/accept-json.ts';
import { printable } from '../../report/format/printable.ts';
import { type FilePatch, patchOf } from './patch.ts';
import { printError, printJson, printWarnings, type Terminal } from '../terminal/terminal.ts';
import type { ResolvedChanges } from './settle-takings.ts';
import { type FileChange, writeChanges } from './write-files.ts';

export interface ReviewOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface Review extends ReviewOptions {
  readonly stack: { readonly name: string; readonly directory: string };
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  /** the guards that block it and are not acknowledged, each with what it says */
  readonly blocked?: ReadonlyMap<string, string>;
  /** what is told where there is nothing to write */
  readonly nothing: NothingTaken;
}

/** @returns the exit code: what was asked for was written, a part of it, or nothing */
export async function reviewChanges(settled: ResolvedChanges, review: Review): Promise<ExitCode> {
  const { terminal, stack, nothing } = review;
  const changes = changesOf(settled);
  const { cwd, kinds } = terminal.host;
  const files = changes.map(({ file, ...texts }) => patchOf(file, texts, { cwd, kinds }));
  const code = codeOf(settled);
  const show = (written: boolean) =>
    showAnswer(settled, { files, written, nothing, stack: stack.name, terminal });
  show(false);
  printWarnings(
    terminal,
    settled.refusals.map(({ why }) => why),
  );
  if (changes.length === 0 || review.dryRun === true) return code;
  const refusal = await askToWrite(changes, review);
  if (refusal !== undefined) return refusal;
  const { changed, files: done, failure } = await writeChanges(changes, stack.directory);
  if (changed !== undefined) {
    printError(
      terminal,
      'file-changed',
      `nothing was written: ${quoted(printable(changed))} is not as it was read; run it again`,
    );
    return exitCodes.stale;
  }
  if (failure === undefined) show(true);
  if (failure !== undefined) {
    const placed = settled.placed.filter(({ file }) => done.includes(file));
    const shown = files.filter((_, index) => done.includes(changes[index]?.file ?? ''));
    const about = { files: shown, written: true, nothing, stack: stack.name, terminal };
    const names = new Set(placed.map(({ taking }) => formatAddress(taking.address)));
    const widens = settled.widens.filter(({ address }) => names.has(formatAddress(address)));
    showAnswer({ ...settled, placed, widens }, about);
    const nameOf = (path: string) => quoted(printable(displayPath(path, cwd)));
    const { file, reason } = failure;
    const why = reason instanceof Error ? (systemErrorMessage(reason) ?? reason.message) : String(reason);
    printError(
      terminal,
      'files-partly-written',
      `only ${done.map(nameOf).join(', ')} ${done.length === 1 ? 'was' : 'were'} written, and not ${nameOf(file)}: ${why}`,
    );
    return exitCodes.partial;
  }
  if (terminal.format === 'text') terminal.host.stderr.write(`wrote ${counted(changes.length, 'file')}\n`);
  return code;
}

function changesOf({ drafts, placed }: ResolvedChanges): FileChange[] {
  const sources = new Map<string, string>();
  for (const { file, document } of placed) if (!sources.has(file)) sources.set(file, document.source.text);
  return [...drafts].flatMap(([file, after]) => {
    const before = sources.get(file);
    return before === undefined || before === after ? [] : [{ file, before, after }];
  });
}

function codeOf({ placed, refusals }: ResolvedChanges): ExitCode {
  if (refusals.length === 0) return exitCodes.done;
  return placed.length === 0 ? exitCodes.error : exitCodes.partial;
}

interface Answer {
  readonly files: readonly FilePatch[];
  readonly written: boolean;
  readonly nothing: NothingTaken;
  readonly stack: string;
  readonly terminal: Terminal;
}

function showAnswer({ placed, refusals, widens }: ResolvedChanges, { terminal, ...answer }: Answer): void {
  const takings = placed.map(({ taking: { address, path, value }, place }) => ({
    address,
    path,
    value,
    place,
  }));
  const refused = refusals.map(({ taking: { address, path }, why }) => ({ address, path, why }));
  const about = { ...answer, takings, widens, refused };
  if (terminal.format === 'json')
    printJson(terminal, (reported) => renderAcceptJson(terminal.host.clean(about), reported));
  else if (!answer.written) terminal.host.stdout.write(renderAcceptedChanges(about, terminal.paint));
}

/** @returns an exit code when nothing may be written */
async function askToWrite(
  changes: readonly FileChange[],
  { yes = false, blocked = new Map(), terminal, stop }: Review,
): Promise<ExitCode | undefined> {
  if (blocked.size > 0) {
    printError(
      terminal,
      'guards-block',
      `nothing was written: too many manifests would be dropped (${[...blocked.values()].join('; ')}); make sure that what they declare is gone and not only out of the token's sight, then pass ${quoted(`--ack ${[...blocked.keys()].join(',')}`)}`,
    );
    return exitCodes.blocked;
  }
  if (yes) return undefined;
  const { host, format } = terminal;
  if (!host.interactive || format !== 'text') {
    printError(
      terminal,
      'nobody-to-ask',
      'nothing was written: where nobody can answer, pass --yes to write it, or --dry-run to see it only',
    );
    return exitCodes.error;
  }
  const isAgreed = await host.confirm(`Write ${counted(changes.length, 'file')}?`, stop);
  return isAgreed ? undefined : reportNotWritten(terminal, stop);
}
