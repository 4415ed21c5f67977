/** Shows what would be written, asks, and writes it. */
import { lstat, readFile, realpath, rm } from 'node:fs/promises';
import { type PreparedFile, prepareFile } from '../../files/write-file.ts';
import { displayPath, findRepository, liesIn, type Repository } from '../../manifest/files/find-stack.ts';
import { formatAddress } from '../../model/address.ts';
import { systemErrorMessage } from '../../model/error-message.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { printable } from '../../report/view/printable.ts';
import { CommandStop } from '../command-stop.ts';
import { notWritten } from '../consent.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson, printWarnings, type Terminal } from '../terminal.ts';
import { type FilePatch, patchOf } from './draft-files.ts';
import { type NothingTaken, renderAcceptedChanges, renderAcceptJson } from './render.ts';
import type { ResolvedChanges } from './resolve-changes.ts';

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
  /** what is printed where there is nothing to write */
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
  await askToWrite(changes, review);
  const { files: done, failure } = await writeChanges(changes, stack.directory);
  if (failure === undefined) show(true);
  if (failure !== undefined) {
    const placed = settled.placed.filter(({ file }) => done.includes(file));
    const shown = files.filter((_, index) => done.includes(changes[index]?.file ?? ''));
    const about = { files: shown, written: true, nothing, stack: stack.name, terminal };
    const names = new Set(placed.map(({ accepted }) => formatAddress(accepted.address)));
    const widens = settled.widens.filter(({ address }) => names.has(formatAddress(address)));
    showAnswer({ ...settled, placed, widens }, about);
    const nameOf = (path: string) => quoted(printable(displayPath(path, cwd)));
    const { file, reason } = failure;
    const why = reason instanceof Error ? (systemErrorMessage(reason) ?? reason.message) : String(reason);
    throw new CommandStop(
      'files-partly-written',
      `only ${done.map(nameOf).join(', ')} ${done.length === 1 ? 'was' : 'were'} written, and not ${nameOf(file)}: ${why}`,
      { exit: exitCodes.partial },
    );
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
  changes: readonly FileChange[],
  { yes = false, blocked = new Map(), terminal, stop }: Review,
): Promise<void> {
  if (blocked.size > 0)
    throw new CommandStop(
      'guards-block',
      `nothing was written: too many manifests would be dropped (${[...blocked.values()].join('; ')}); make sure that what they declare is gone and not only out of the token's sight, then pass ${quoted(`--ack ${[...blocked.keys()].join(',')}`)}`,
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

// Replaces files as a whole. All are checked before the first is written: a file that changed since it was read stops them all, and so
// does one whose new text has no room or may not be written.

interface FileChange {
  /** absolute */
  readonly file: string;
  /** as it was read */
  readonly before: string;
  /** undefined: the file goes */
  readonly after: string | undefined;
}

const byteOrderMark = '\uFEFF';

interface Written {
  readonly files: readonly string[];
  /** the next file, and what the system said; it and those after it are as they were */
  readonly failure?: { readonly file: string; readonly reason: unknown };
}

/** @throws where nothing is written: CommandStop for a file that changed since it was read, or what the system said */
async function writeChanges(changes: readonly FileChange[], directory: string): Promise<Written> {
  const repository = await findRepository(directory);
  const looked: ReadFile[] = [];
  for (const change of changes) {
    const found = await readTarget(change, repository);
    if (found === undefined)
      throw new CommandStop(
        'file-changed',
        `nothing was written: ${quoted(printable(change.file))} is not as it was read; run it again`,
        { exit: exitCodes.stale },
      );
    looked.push(found);
  }
  const steps = await prepareAll(looked);
  const files: string[] = [];
  for (const [index, { file, prepared }] of steps.entries()) {
    try {
      await prepared.replace();
      files.push(file);
    } catch (reason) {
      for (const later of steps.slice(index)) await later.prepared.discard();
      if (files.length === 0) throw reason;
      return { files, failure: { file, reason } };
    }
  }
  return { files };
}

/** All new files are there before the first one replaces another. */
async function prepareAll(
  looked: readonly ReadFile[],
): Promise<{ readonly file: string; readonly prepared: PreparedFile }[]> {
  const steps: { file: string; prepared: PreparedFile }[] = [];
  try {
    for (const one of looked) steps.push({ file: one.file, prepared: await prepare(one) });
  } catch (error) {
    for (const { prepared } of steps) await prepared.discard();
    throw error;
  }
  return steps;
}

interface ReadFile {
  readonly file: string;
  /** without a link in it */
  readonly real: string;
  readonly mode: number;
  readonly text: string | undefined;
}

/** The link of a file stays a link: what it leads to is written, if that is a file of the repository. */
async function readTarget(
  { file, before, after }: FileChange,
  repository: Repository,
): Promise<ReadFile | undefined> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined || !liesIn(repository, real)) return undefined;
  const { mode } = await lstat(real);
  const found = await readFile(real, 'utf8');
  const mark = found.startsWith(byteOrderMark) ? byteOrderMark : '';
  if (found !== mark + before) return undefined;
  return { file, real, mode: mode & 0o7777, text: after === undefined ? undefined : mark + after };
}

async function prepare({ file, real, mode, text }: ReadFile): Promise<PreparedFile> {
  if (text !== undefined) return prepareFile(real, text, mode);
  const replace = async () => {
    for (const path of [real, file]) await rm(path, { force: true });
  };
  return { replace, discard: async () => {} };
}
