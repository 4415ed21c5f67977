/**
 * A mistake in one document, with its path but without its place in a file. Schemas, kinds and rules all find problems; one
 * function turns them into diagnostics, so that they look alike and problems of defaults are reported in one way.
 */
import type { Diagnostic, Place, Severity } from '../../model/diagnostic.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { Path } from '../../model/json/json.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { maskPrivateKeys } from '../../model/private-key.ts';
import { quoted } from '../../model/quoted.ts';
import { maskFrom } from './mask-secrets.ts';
import type { EntrySide } from '../yaml/yaml-document.ts';

export interface Problem {
  readonly code: DiagnosticCode;
  /** `error` when absent */
  readonly severity?: Severity;
  /** in the whole document: `['spec', 'vcsRepo', 'branch']` */
  readonly path: Path;
  /** whether to point at the key or at the value; the value when absent */
  readonly side?: EntrySide;
  readonly message: string;
  readonly found?: string;
  readonly allowed?: string;
  readonly fix?: string;
  readonly related?: readonly { readonly message: string; readonly path: Path }[];
  /** the field that was probably meant; its absence is not reported as a second problem */
  readonly meant?: Path;
}

/** Finds the place of any part of one manifest, in its own file or in the stack's defaults. */
export interface DocumentPlaces {
  place(path: Path, side?: EntrySide): Place;
  /** whether the value comes from the stack's defaults */
  fromDefaults(path: Path): boolean;
  /** whether the value is a secret, or says where one comes from */
  isSecret(path: Path): boolean;
}

/** Appended to a message about a value that is not in the manifest itself. */
export const fromDefaultsNote = ' (a default of the stack)';

export function diagnose(problem: Problem, where: DocumentPlaces): Diagnostic {
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

function placeOf(problem: Problem, where: DocumentPlaces): Place {
  const { path, side = 'value' } = problem;
  const place = where.place(path, side);
  return hidesSecret(problem, where) ? { ...place, text: maskFrom(place.text, place.column, side) } : place;
}

/** Whether the excerpt must be masked; a missing field cannot show a secret. */
function hidesSecret({ code, path, meant = path }: Problem, where: DocumentPlaces): boolean {
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

/** A text in double quotes, shortened when it is long. Addresses and private keys are masked first: shortened, they are no longer recognized. */
export function quotedShort(text: string): string {
  const shown = maskPrivateKeys(maskAddresses(text));
  return quoted(shown.length > 80 ? `${shown.slice(0, 79)}…` : shown);
}
