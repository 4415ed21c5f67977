/** Reads the values of `--select`: what each selects by, and whether it excludes. */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { editDistance, nearestWord, nearestWords } from '../../model/nearest-word.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../command-stop.ts';

export interface Selector {
  /** as given */
  readonly text: string;
  /** it began with `!` */
  readonly excludes: boolean;
  /** `address`: an address, or a pattern of addresses */
  readonly by: SelectorBy;
  /** what follows the prefix, such as `env=prod` */
  readonly value: string;
}

type SelectorBy = 'address' | (typeof prefixes)[number];

const prefixes = ['tag', 'project', 'file', 'changed-since'] as const;

/** What selectors may begin with, besides the kind of an address. */
export const selectorPrefixes: readonly string[] = prefixes.map((prefix) => `${prefix}:`);

/** @throws CommandStop with each selector that cannot be read */
export function readSelectors(texts: readonly string[]): readonly Selector[] {
  const read = texts.map(readSelector);
  const problems = read.flatMap((one) => ('problem' in one ? [one.problem] : []));
  if (problems.length > 0) throw CommandStop.ofProblems(problems);
  return read.flatMap((one) => ('selector' in one ? [one.selector] : []));
}

function readSelector(text: string): { readonly selector: Selector } | { readonly problem: Diagnostic } {
  const excludes = text.startsWith('!');
  const rest = excludes ? text.slice(1) : text;
  // A kind contains no colon, and in an address a slash comes before any colon.
  const [, prefix, value = ''] = /^([^/:*]*):(.*)$/s.exec(rest) ?? [];
  if (rest === '' || (prefix !== undefined && value === ''))
    return { problem: invalidSelector(text, 'is incomplete', howToSelect) };
  if (prefix === undefined && /^[^/=]+=/.test(rest))
    return {
      problem: invalidSelector(
        text,
        'is not an address',
        `did you mean ${quoted(`${excludes ? '!' : ''}tag:${rest}`)}?`,
      ),
    };
  if (prefix === undefined) return { selector: { text, excludes, by: 'address', value: rest } };
  const by = prefixes.find((one) => one === prefix);
  if (by !== undefined) return { selector: { text, excludes, by, value } };
  const near = nearestWord(prefix, prefixes);
  const fix = near === undefined ? howToSelect : `did you mean ${quoted(`${near}:${value}`)}?`;
  return {
    problem: invalidSelector(text, `begins with ${quoted(`${prefix}:`)}, which selects nothing`, fix),
  };
}

const howToSelect =
  'write an address such as "Workspace/acme/net-*", "tag:env=prod", "project:payments", "file:teams/a/**" or "changed-since:main", with "!" in front to exclude';

/** Whether a selector is an address, or a pattern of addresses, of one kind. */
export function namesOneKind({ by, value }: Selector): boolean {
  return by === 'address' && /^[^*/]+\//.test(value);
}

/** @param why a clause about the selector */
export function invalidSelector(text: string, why: string, fix: string): Diagnostic {
  return {
    code: 'selector-invalid',
    severity: 'error',
    class: 'invalid',
    message: `the selector ${quoted(text)} ${why}`,
    fix,
  };
}

/** @param what a clause about why nothing matches */
export function matchesNothing(text: string, what: string, near: readonly string[]): Diagnostic {
  return {
    code: 'selector-matches-nothing',
    severity: 'error',
    class: 'invalid',
    message: `the selector ${quoted(text)} matches nothing: ${what}`,
    fix: near.length === 0 ? 'correct it, or leave it out' : `did you mean ${near.map(quoted).join(' or ')}?`,
  };
}

// Suggestions in place of a selector that matches nothing.

/** @param pattern an address or a pattern, or a name alone. @returns at most three addresses, the nearest first */
export function nearAddresses(pattern: string, addresses: readonly Address[]): string[] {
  if (pattern.includes('/')) return nearTexts(pattern, addresses.map(formatAddress));
  const byName = Map.groupBy(addresses, ({ name }) => name);
  const same = byName.get(pattern) ?? [];
  const near =
    same.length > 0 ? same : nearTexts(pattern, byName.keys()).flatMap((name) => byName.get(name) ?? []);
  return near.slice(0, most).map(formatAddress);
}

/** @returns at most three of the texts, the nearest first */
export function nearTexts(pattern: string, texts: Iterable<string>): string[] {
  const all = new Set(texts);
  return pattern.includes('*') ? nearPattern(pattern, all) : nearestWords(pattern, all, most);
}

const most = 3;

/** Compares the longer end of the pattern. A text is not suggested when more than a third of its letters differ. */
function nearPattern(pattern: string, texts: ReadonlySet<string>): string[] {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.at(-1) ?? '';
  const isTail = tail.length > head.length;
  const wanted = (isTail ? tail : head).toLowerCase();
  const endOf = (text: string) => (isTail ? text.slice(-wanted.length) : text.slice(0, wanted.length));
  const limit = Math.floor((wanted.length + 1) / 3);
  return [...texts]
    .map((text) => ({ text, distance: editDistance(wanted, endOf(text).toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.text < b.text ? -1 : 1))
    .slice(0, most)
    .map(({ text }) => text);
}
