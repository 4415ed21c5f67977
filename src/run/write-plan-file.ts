/**
 * Writes plan files, each as a whole or not at all, and never over another file of the user or of trueup.
 */
import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { readRegularText, UnfitFile } from '../files/read-file.ts';
import { replaceFile, stateFolderName } from '../files/write-file.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import type { Plan } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { renderPlanJson } from '../report/json/plan.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';
import { isPlanFile, maxPlanSize, parsed } from './plan-file.ts';

/** The name of standard output in other commands; `--out` does not support it. */
const standardOutput = '-';

/** @param stack once it is known. @throws CommandStop when the plan cannot be written there */
export async function refusePlanFile(
  out: string | undefined,
  { cwd }: Pick<CliHost, 'cwd'>,
  stack?: Stack,
): Promise<void> {
  if (out === undefined) return;
  const why = (stack && whyAmongManifests(out, cwd, stack)) ?? (await whyNotWritable(out, cwd));
  if (why !== undefined) throw new CommandStop('output-refused', why);
}

/** Writes a plan, readable by its owner only: it contains no secret of the run, but many details of a platform. */
export async function writePlanFile(
  file: string,
  { cwd, clean }: Pick<CliHost, 'cwd' | 'clean'>,
  plan: Plan,
): Promise<void> {
  const path = resolve(cwd, file);
  const text = `${renderPlanJson(plan, { clean })}\n`;
  return replaceFile(await realpath(path).catch(() => path), text);
}

/**
 * Why a plan may not be written to a path: it is a pipe or a device, or a file that contains something else than a plan.
 * @param file as the user typed it
 */
async function whyNotWritable(file: string, cwd: string): Promise<string | undefined> {
  if (file === standardOutput)
    return '"--out -" names no file, and standard output has the plan as text: "--format json" prints it there as JSON, and that is a plan file, too';
  const found = await readRegularText(resolve(cwd, file), maxPlanSize).catch((error: Error) => error);
  if (typeof found !== 'string') {
    if ('code' in found && found.code === 'ENOENT') return whyOwnFile(file, cwd);
    return `the plan cannot be written to ${quoted(file)}: ${unusableReason(found)}`;
  }
  const value = parsed(found);
  const isPlan = value !== undefined && isPlanFile(value) && 'coverage' in value;
  return isPlan || found === ''
    ? undefined
    : `the plan is not written over ${quoted(file)}, which is not a plan file; give "--out" a new name, or remove that file`;
}

/** Names in the state folder that trueup reads as something else: ledgers, histories, the embedded service's data. */
const ownNames = /\.ledger\.json(\.|$)|\.history(\/|$)|^embedded\.db/;

function whyOwnFile(file: string, cwd: string): string | undefined {
  const path = resolve(cwd, file).split(sep);
  const inside = path.slice(path.lastIndexOf(stateFolderName) + 1).join('/');
  return path.includes(stateFolderName) && ownNames.test(inside)
    ? `the plan cannot be written to ${quoted(file)}: trueup keeps its own files under such names in ${quoted(stateFolderName)}; give "--out" another name`
    : undefined;
}

/** Why a plan may not be written to a path that the stack's patterns match: the next plan would read the file as a manifest. */
function whyAmongManifests(file: string, cwd: string, stack: Stack): string | undefined {
  const path = relative(stack.directory, resolve(cwd, file)).split(sep).join('/');
  return matchStackFiles(stack, false).isFile(path)
    ? `the plan cannot be written to ${quoted(file)}: the stack would read it as a manifest; give "--out" another name`
    : undefined;
}

function unusableReason(error: Error): string {
  if (!(error instanceof UnfitFile)) return error.message;
  if (error.obstacle === 'folder') return 'it is a directory; name a file in it';
  if (error.obstacle === 'irregular') return 'it is not a regular file, but a pipe, a socket or a device';
  return 'it is larger than any plan, and is not a plan file';
}
