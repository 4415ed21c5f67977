/** Joins problems of many resources that have one cause, so that a plan reports it once. */
import type { Diagnostic } from '../model/diagnostic.ts';
import { splitQuoted } from '../model/quoted.ts';

/** The codes whose messages name one resource, and are otherwise about the cause. */
const joined: ReadonlySet<Diagnostic['code']> = new Set([
  'claimed-by-another-id',
  'tags-unread',
  'consumers-unread',
]);

/** One problem for all resources with the same cause, at the place of the first. */
export function joinProblems(problems: readonly Diagnostic[]): Diagnostic[] {
  const isJoined = ({ code }: Diagnostic) => joined.has(code);
  const parts = problems.filter(isJoined).map((problem) => {
    const [before = '', name = '', ...rest] = splitQuoted(problem.message);
    return { problem, before, name, after: rest.join('') };
  });
  const causeOf = ({ problem: { code, class: about }, before, name, after }: (typeof parts)[number]) => {
    // What could not be read in one target says nothing about another.
    const target = about === 'incomplete' ? name.split('/')[1] : undefined;
    return JSON.stringify([code, before, after, target]);
  };
  const groups = [...Map.groupBy(parts, causeOf).values()];
  return [
    ...problems.filter((problem) => !isJoined(problem)),
    ...groups.flatMap((group) => {
      const [first] = group;
      if (first === undefined || group.length === 1) return group.map(({ problem }) => problem);
      const { problem, before, after } = first;
      const names = firstNames(group.map(({ name }) => name));
      return [{ ...problem, message: `${before}each of ${group.length} resources (${names})${after}` }];
    }),
  ];
}

/** @param names in quotes */
function firstNames(names: readonly string[]): string {
  const more = names.length > 4 ? ` and ${names.length - 3} more` : '';
  return `${names.slice(0, more === '' ? 4 : 3).join(', ')}${more}`;
}
