/** What `trueup init` prints: the files, what the target has, and the next steps. */
import { join } from 'node:path';
import { displayPath, stackFileName } from '../../manifest/files/find-stack.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { SecretSource, Stack } from '../../model/stack.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { printable, shellWord } from '../../report/view/printable.ts';
import type { Paint } from '../../report/text/layout.ts';
import type { Answers } from './answers.ts';
import type { ChosenToken } from './choose-token.ts';
import { type PlannedFile, tokenOf } from './stack-files.ts';
import type { Overview } from './overview.ts';
import { neededBy, planWorkflow } from './pipelines.ts';

interface Style {
  readonly cwd: string;
  readonly paint: Paint;
}

/** For a dry run: each file with its text. */
export function previewText(files: readonly PlannedFile[], cwd: string): string {
  const parts = files.map(({ path, text, about }) => {
    const indented = text
      .trimEnd()
      .split('\n')
      .map((line) => (line === '' ? '' : `  ${line}`));
    return `${printable(displayPath(path, cwd))}  (${about})\n${indented.map(printable).join('\n')}\n`;
  });
  return `${parts.join('\n')}\nDry run: nothing was written, and nothing was sent.\n`;
}

export function writtenText(files: readonly PlannedFile[], { cwd, paint }: Style): string {
  const rows = files.map(({ path, about }) => [printable(displayPath(path, cwd)), about] as const);
  return `${paint.bold('Wrote')}\n${columns(rows)}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}\n`).join('');
}

export function overviewText({ targets }: Stack, overviews: readonly Overview[], paint: Paint): string {
  const parts = overviews.map(({ target: name, facts }) => {
    const { url, organization, mount = '' } = targets.find((target) => target.name === name) ?? { url: '' };
    const place = organization === undefined ? `mount ${mount}` : `organization ${organization}`;
    const at = url === 'embedded' ? 'of the embedded service' : `at ${url}`;
    const rows = facts.map(({ about, is }) => [about, printable(is)] as const);
    return `\n${paint.bold(`Target ${name}`)}: ${printable(`${place} ${at}`)}\n${columns(rows)}`;
  });
  return parts.join('');
}

interface Offline {
  /** why init did not connect, as a clause; undefined when it did, and for the embedded service */
  readonly offline: string | undefined;
}

/** Where the token comes from, how to set it, and what is left to do for the CI. */
export function tokenText(
  { stack, token, dialectNote, workflows }: Answers,
  { cwd, offline }: Style & Offline,
): string {
  const { ci, directory } = stack;
  const hasWorkflows = workflows.length > 0;
  const needed = neededBy(ci, tokenOf(stack.target));
  const jobs =
    ci === 'none' && hasWorkflows
      ? neededByWorkflows(tokenOf(stack.target), workflows)
      : ['The jobs of the CI need:', ...needed.map((line) => `  ${line}`)];
  const blocks = [
    sourceLines(token, displayPath(join(directory, stackFileName), cwd)),
    dialectNote === undefined ? [] : [dialectNote],
    [...token.notes, ...(offline === undefined ? [] : [`Nothing was sent to the service: ${offline}.`])],
    ci === 'none' && !hasWorkflows ? [] : jobs,
  ];
  return blocks
    .flatMap((lines) => (lines.length === 0 ? [] : `\n${lines.map(printable).join('\n')}\n`))
    .join('');
}

function neededByWorkflows(token: SecretSource | undefined, workflows: readonly string[]): string[] {
  const existing = `${planWorkflow} is there already: it plans this stack, too, and the workflow beside it applies it.`;
  if (token === undefined || !('env' in token)) return [existing];
  const { env } = token;
  return workflows.every((text) => text.split(/\W+/).includes(env))
    ? [existing, `Both already have the variable ${env} of its token.`]
    : [existing, `Add the variable ${env} to "env" of both, and its secrets.`];
}

function sourceLines({ source, exportLine }: ChosenToken, stackFile: string): string[] {
  if (source === undefined) return [];
  if ('file' in source) return [`${stackFile} names the file ${source.file} for the token.`];
  const named = `${stackFile} names the variable ${source.env} for the token, which is in no file of the repository.`;
  return exportLine === undefined
    ? [`${named} The variable is set here.`]
    : [`${named} Set it in each shell:`, `  ${exportLine}`];
}

export function stepsText(
  { stack, token: { exportLine } }: Answers,
  {
    cwd,
    paint,
    isExported,
    isRead,
    offline,
  }: Style & Offline & { readonly isExported: boolean; readonly isRead: boolean },
): string {
  const { target, directory } = stack;
  const path = displayPath(directory, cwd);
  const argument = path === '.' ? '' : ` ${shellWord(path)}`;
  const isReady = target.url === 'embedded' || isExported;
  const out = shellWord(displayPath(join(directory, 'manifests'), cwd));
  const exporting = [`trueup export${argument} --out ${out}`, 'write manifests for what exists'] as const;
  const applying = [`trueup apply${argument}`, 'show the plan, ask, and make the changes'] as const;
  const planning = [`trueup plan${argument}`, 'show what an apply would do'] as const;
  const checking = [`trueup doctor${argument}`, 'check address, token and rights'] as const;
  const rows = isReady ? [planning, applying] : [exporting, planning];
  const steps = offline === undefined && isRead ? rows : [checking, ...rows];
  if (offline === undefined) return `\n${paint.bold('Next')}\n${columns(steps)}`;
  // On a separate line, because it may be long and must be easy to copy.
  const setting = exportLine === undefined ? '' : `  ${printable(exportLine)}\n`;
  return `\n${paint.bold('Next')}\n${setting}${columns(steps)}`;
}

/** The whole result as data: what was written, or would be, and what the target has. */
export interface InitResult {
  readonly answers: Answers;
  readonly files: readonly PlannedFile[];
  readonly isDryRun: boolean;
  overviews?: readonly Overview[];
  isExported?: boolean;
}

export function resultJson(
  { answers: { stack, token, dialectNote }, files, isDryRun, overviews = [], isExported = false }: InitResult,
  cwd: string,
  reported: readonly ShownDiagnostic[],
): string {
  const { name, directory } = stack;
  return renderJson({
    version: 1,
    stack: name,
    directory: displayPath(directory, cwd),
    written: !isDryRun,
    files: files.map(({ path, text, extended }) => ({
      path: displayPath(path, cwd),
      is: extended === undefined ? 'new' : 'extended',
      ...(isDryRun ? { text } : {}),
    })),
    ...(token.source === undefined ? {} : { token: token.source }),
    ...(token.exportLine === undefined ? {} : { exportLine: token.exportLine }),
    notes: token.notes,
    ...(dialectNote === undefined ? {} : { dialectNote }),
    targets: overviews,
    exported: isExported,
    ...diagnosticsMember(reported),
  });
}
