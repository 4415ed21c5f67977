/** Shows what would be written, asks, and writes it. */
import { findRepository } from '../../manifest/files/find-stack.ts';
import { formatAddress } from '../../model/address.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { CommandStop } from '../command-stop.ts';
import { notWritten } from '../consent.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson, printWarnings, type Terminal } from '../terminal.ts';
import { type FilePatch, patchOf } from './draft-files.ts';
import { type NothingToWrite, renderAcceptedChanges, renderAcceptJson } from './render.ts';
import type { ResolvedChanges } from './resolve-changes.ts';
import { type FileChange, partlyWritten, writeFiles } from './write-files.ts';

export interface ReviewOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface Review extends ReviewOptions {
  readonly stack: { readonly name: string; readonly directory: string };
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  /** the guards that block the writing and are not acknowledged, each with its message */
  readonly blocked?: ReadonlyMap<string, string>;
  /** what is printed where there is nothing to write */
  readonly nothing: NothingToWrite;
  /** printed after the files are written */
  readonly next?: string;
}

/** @returns the exit code: what was asked for was written, a part of it, or nothing */
export async function reviewChanges(resolved: ResolvedChanges, review: Review): Promise<ExitCode> {
  const { terminal, stack, nothing } = review;
  const changes = changesOf(resolved);
  const { cwd, kinds } = terminal.host;
  const files = changes.map(({ file, ...texts }) => patchOf(file, texts, { cwd, kinds }));
  const code = codeOf(resolved);
  const show = (written: boolean) =>
    showAnswer(resolved, { files, written, nothing, stack: stack.name, terminal });
  show(false);
  printWarnings(
    terminal,
    resolved.refusals.map(({ why }) => why),
  );
  if (changes.length === 0 || review.dryRun === true) return code;
  await askToWrite(changes, review);
  const repository = await findRepository(stack.directory);
  const { files: done, failure } = await writeFiles(changes.map((change) => ({ ...change, repository })));
  if (failure === undefined) show(true);
  if (failure !== undefined) {
    const placed = resolved.placed.filter(({ file }) => done.includes(file));
    const shown = files.filter((_, index) => done.includes(changes[index]?.file ?? ''));
    const about = { files: shown, written: true, nothing, stack: stack.name, terminal };
    const names = new Set(placed.map(({ accepted }) => formatAddress(accepted.address)));
    const widens = resolved.widens.filter(({ address }) => names.has(formatAddress(address)));
    showAnswer({ ...resolved, placed, widens }, about);
    throw partlyWritten(done, failure, cwd);
  }
  if (terminal.format === 'text')
    terminal.host.stderr.write(`wrote ${counted(changes.length, 'file')}\n${review.next ?? ''}`);
  return code;
}

function changesOf({ drafts, placed }: ResolvedChanges): Omit<FileChange, 'repository'>[] {
  const sources = new Map<string, string>();
  for (const { file, source } of placed) if (!sources.has(file)) sources.set(file, source.text);
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
  readonly nothing: NothingToWrite;
  readonly stack: string;
  readonly terminal: Terminal;
}

function showAnswer({ placed, refusals, widens }: ResolvedChanges, { terminal, ...answer }: Answer): void {
  const acceptedChanges = placed.map(({ accepted: { address, path, value }, place }) => ({
    address,
    path,
    value,
    place,
  }));
  const refused = refusals.map(({ accepted: { address, path }, why }) => ({ address, path, why }));
  const about = { ...answer, acceptedChanges, widens, refused };
  if (terminal.format === 'json')
    printJson(terminal, (reported) => renderAcceptJson(terminal.host.clean(about), reported));
  else if (!answer.written) terminal.host.stdout.write(renderAcceptedChanges(about, terminal.paint));
}

/** @throws CommandStop when nothing may be written */
async function askToWrite(
  changes: readonly unknown[],
  { yes = false, blocked = new Map(), terminal, stop }: Review,
): Promise<void> {
  if (blocked.size > 0)
    throw new CommandStop(
      'guards-block',
      `nothing was written: too many manifests would be dropped (${[...blocked.values()].join('; ')}); make sure that the resources that they declare no longer exist, and are not only hidden from the token, then pass ${quoted(`--ack ${[...blocked.keys()].join(',')}`)}`,
      { exit: exitCodes.blocked },
    );
  if (yes) return;
  const { host, format } = terminal;
  if (!host.interactive || format !== 'text')
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was written: where nobody can answer, pass --yes to write it, or --dry-run to see it only',
    );
  if (!(await host.confirm(`Write ${counted(changes.length, 'file')}?`, stop)))
    throw notWritten(terminal, stop);
}
