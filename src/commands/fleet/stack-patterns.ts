/** Patterns of `fleet.yaml` that cannot match a stack of any repository. */
import picomatch from 'picomatch';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoted } from '../../model/quoted.ts';

export interface PatternMistake {
  readonly message: string;
  readonly fix?: string;
}

/** The part of `fleet.yaml` that a pattern of REPOSITORY/PATH is in: each part has its own rules. */
type Place = 'freeze' | 'team';

/** @param names of the repositories; @returns undefined for a pattern that may match a stack */
export function repositoryMistake(
  pattern: string,
  names: readonly string[],
  place: Place,
): PatternMistake | undefined {
  const [, first = '', rest = ''] =
    /^([^/]*)(.*)$/s.exec(place === 'freeze' ? pattern.replace(/^(?:\.\/)+/, '') : pattern) ?? [];
  const hasBrackets = place === 'freeze' && /[^\w.*?-]/.test(first);
  // In a freeze, brackets hold alternatives, which may contain the slash.
  if (hasBrackets && !areClosed(first)) return undefined;
  const matches = hasBrackets ? picomatch(first, { dot: true, flags: 's' }) : matcherOf(first);
  const reachesPaths = rest !== '' || first.includes('**');
  if (reachesPaths && names.some((name) => matches(name))) return undefined;
  if (!reachesPaths && names.some((name) => matches(name)))
    return {
      message: `${quoted(pattern)} matches no stack: a pattern is the name of a repository, a "/" and the path of a stack file`,
      fix: `did you mean ${quoted(`${first}/**`)}?`,
    };
  const near = nearestWord(first, names);
  return {
    message: `no repository of this file has a name that matches ${quoted(first)}, so ${quoted(pattern)} matches no stack`,
    ...(near === undefined ? {} : { fix: `did you mean ${quoted(near + (rest || '/**'))}?` }),
  };
}

/** Whether all brackets are closed. False for escapes, which may hide a bracket, and for `**`, which continues into the path. */
function areClosed(part: string): boolean {
  const count = (bracket: string) => part.split(bracket).length;
  return (
    !/\\|\*\*/.test(part) &&
    ['{}', '()', '[]'].every(([open = '', close = '']) => count(open) === count(close))
  );
}

/** Compiles the part of a pattern that names repositories. Only `*` and `?` are special; what follows `**` belongs to the path. */
function matcherOf(part: string): (name: string) => boolean {
  const [before = '', ...others] = part.split('**');
  const wildcards: Readonly<Record<string, string>> = { '*': '.*', '?': '.' };
  const source = before
    .split(/(\*|\?)/)
    .map(
      (one) =>
        wildcards[one] ??
        one.replace(/[^\p{L}\p{N}_]/gu, (other) => `\\u{${other.codePointAt(0)?.toString(16)}}`),
    )
    .join('');
  const expression = new RegExp(`^${source}${others.length > 0 ? '' : '$'}`, 'u');
  return (name) => expression.test(name);
}

/** @param pattern of stack files, from the root of a repository */
export function pathMistake(pattern: string): PatternMistake | undefined {
  const [, before = '', rest = ''] = /^((?:\.{0,2}\/)*)(.*)$/s.exec(pattern) ?? [];
  if (before === '' || before === './') return undefined;
  return {
    message: `${quoted(pattern)} matches no stack file: paths begin at the root of the repository, without ${quoted(before)}`,
    ...(rest === '' ? {} : { fix: `did you mean ${quoted(rest)}?` }),
  };
}
