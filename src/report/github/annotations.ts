/**
 * Problems as annotations: one workflow command each, errors first. GitHub shows ten errors and ten warnings of a step and drops
 * the others without a word, so no more are written, and a notice counts the rest.
 */
import { counted } from '../../model/counted.ts';
import type { Severity, ShownDiagnostic } from '../../model/diagnostic.ts';
import { clip } from '../format/clip.ts';
import { printable } from '../format/printable.ts';

const maxOfOneLevel = 10;
/** The runner cuts a message at 4,096 characters, and a message has four lines at most. */
const maxMessage = 900;

/** @param pathOf the file in the repository; undefined for what is no file of it */
export function annotations(
  diagnostics: readonly ShownDiagnostic[],
  pathOf: (file: string) => string | undefined,
): string[] {
  const levels: readonly Severity[] = ['error', 'warning'];
  const all = levels.map((level) => diagnostics.filter(({ severity }) => severity === level));
  const shown = all.flatMap((some) => some.slice(0, maxOfOneLevel));
  const left = all.flatMap((some, index) => {
    const more = some.length - maxOfOneLevel;
    return more > 0 ? [counted(more, `more ${levels[index]}`)] : [];
  });
  const rest = left.length === 0 ? [] : [restNotice(left)];
  return [...shown.map((diagnostic) => annotation(diagnostic, pathOf)), ...rest];
}

function restNotice(left: readonly string[]): string {
  const text = `${left.join(' and ')} without an annotation, for GitHub shows ten of each: the log and the summary of the step have them`;
  return command('notice', { title: 'trueup' }, text);
}

function annotation(
  { severity, code, message, place, found, allowed, fix }: ShownDiagnostic,
  pathOf: (file: string) => string | undefined,
): string {
  const file = place && pathOf(place.file);
  const spot =
    place !== undefined && file === undefined ? [`${place.file}:${place.line}:${place.column}`] : [];
  const lines = [
    [...spot, message].join(': '),
    ...(found === undefined ? [] : [`found: ${found}`]),
    ...(allowed === undefined ? [] : [`allowed: ${allowed}`]),
    ...(fix === undefined ? [] : [`fix: ${fix}`]),
  ];
  const properties = {
    ...(place === undefined || file === undefined
      ? {}
      : { file: printable(file), line: String(place.line), col: String(place.column) }),
    title: printable(code),
  };
  return command(severity, properties, lines.map((line) => clip(line, maxMessage)).join('\n'));
}

/** A workflow command; the escapes are those that the runner undoes. */
function command(name: string, properties: Readonly<Record<string, string>>, message: string): string {
  const members = Object.entries(properties).map(([key, value]) => `${key}=${propertyText(value)}`);
  return `::${name} ${members.join(',')}::${messageText(message)}`;
}

function messageText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function propertyText(text: string): string {
  return messageText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
