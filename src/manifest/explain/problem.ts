/**
 * A mistake in one document before it has a place: the path it is at, and what to say. Schemas, kinds and rules all
 * find problems; one function makes diagnostics of them, so that they look alike and defaults are told the same way.
 */
import type { Diagnostic, Place, Severity } from '../../model/diagnostic.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { Path } from '../../model/json/json.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { maskFrom } from './mask-secrets.ts';
import type { EntrySide } from '../yaml/yaml-document.ts';

export interface Problem {
  readonly code: DiagnosticCode;
  /** `error` when absent */
  readonly severity?: Severity;
  /** in the whole document: `['spec', 'vcsRepo', 'branch']` */
  readonly path: Path;
  /** what to point at; the value when absent */
  readonly side?: EntrySide;
  readonly message: string;
  readonly found?: string;
  readonly allowed?: string;
  readonly fix?: string;
  readonly related?: readonly { readonly message: string; readonly path: Path }[];
  /** the field that was probably meant: what is said about its absence is no second problem */
  readonly meant?: Path;
}

/** Knows where the parts of one document stand, wherever they were written. */
export interface Whereabouts {
  place(path: Path, side?: EntrySide): Place;
  /** whether the value comes from the stack's defaults */
  fromDefaults(path: Path): boolean;
  /** whether the value is a secret, or says where one comes from */
  isSecret(path: Path): boolean;
}

/** Behind a message about a value that the manifest at hand does not hold. */
export const fromDefaultsNote = ' (a default of the stack)';

export function diagnose(problem: Problem, where: Whereabouts): Diagnostic {
  const { code, path, message, allowed, fix } = problem;
  const inherited = where.fromDefaults(path);
  const found = hidesSecret(problem, where) && code !== 'unknown-field' ? undefined : problem.found;
  const related = [
    ...(problem.related ?? []).map((other) => ({ message: other.message, place: where.place(other.path) })),
    ...(inherited
      ? [{ message: 'merged under this manifest', place: where.place(['metadata', 'name']) }]
      : []),
  ];
  return {
    code,
    severity: problem.severity ?? 'error',
    class: 'invalid',
    message: `${message}${inherited ? fromDefaultsNote : ''}`,
    place: placeOf(problem, where),
    ...(found === undefined ? {} : { found }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(fix === undefined ? {} : { fix }),
    ...(related.length === 0 ? {} : { related }),
  };
}

function placeOf(problem: Problem, where: Whereabouts): Place {
  const { path, side = 'value' } = problem;
  const place = where.place(path, side);
  return hidesSecret(problem, where) ? { ...place, text: maskFrom(place.text, place.column, side) } : place;
}

/** What is only missing can give nothing away. */
function hidesSecret({ code, path, meant = path }: Problem, where: Whereabouts): boolean {
  return code !== 'missing-field' && (where.isSecret(path) || where.isSecret(meant));
}

/** `spec.vcsRepo.branch`, `spec.targets[0].name`, `spec.tags["cost center"]`. */
export function pathText(path: Path): string {
  return path
    .map((segment, index) => {
      if (/^\d+$/.test(segment)) return `[${segment}]`;
      if (!/^[\w$-]+$/.test(segment)) return `[${JSON.stringify(segment)}]`;
      return index === 0 ? segment : `.${segment}`;
    })
    .join('');
}

/** `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** A text in double quotes, cut when it is long. Without the password of an address: cut off, it would be one no more. */
export function quoted(text: string): string {
  const shown = maskAddresses(text);
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 79)}…` : shown);
}
