/** Which changes are shown: by action, kind, target and words. */
import type { ChangeView, PlanView } from '../../report-view.ts';

export interface Filter {
  /** empty for all of them */
  readonly actions: ReadonlySet<string>;
  readonly kind: string;
  readonly target: string;
  readonly words: string;
}

export const everything: Filter = { actions: new Set(), kind: '', target: '', words: '' };

export function isEverything({ actions, kind, target, words }: Filter): boolean {
  return actions.size === 0 && kind === '' && target === '' && words.trim() === '';
}

/** Finds the positions of the changes that pass. Texts are put together when words are looked for first. */
export function makeFinder({ changes }: PlanView): (filter: Filter) => number[] {
  let texts: readonly string[] | undefined;
  return ({ actions, kind, target, words }) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length > 0) texts ??= changes.map(textOf);
    return changes.flatMap((change, index) => {
      const passes =
        (actions.size === 0 || actions.has(change.action)) &&
        (kind === '' || change.kind === kind) &&
        (target === '' || change.target === target) &&
        wanted.every((word) => texts?.[index]?.includes(word));
      return passes ? [index] : [];
    });
  };
}

/** Everything that is told about a change, but for bodies of requests. */
function textOf(change: ChangeView): string {
  const { action, reason, place, id, fields, risks = [], notes = [], calls = [] } = change;
  return [
    action,
    addressOf(change),
    reason,
    place,
    id,
    ...fields.flatMap(({ name, lines, remarks }) => [name, ...lines, remarks]),
    ...risks.flatMap(({ effect, text }) => [effect, text]),
    ...notes,
    ...calls.map(({ method, path }) => `${method} ${path}`),
  ]
    .join('\n')
    .toLowerCase();
}

export function addressOf({ kind, target, name }: ChangeView): string {
  return `${kind}/${target}/${name}`;
}

/** Each value once, with how many changes have it; the most first. */
export function countBy(
  { changes }: PlanView,
  memberOf: (change: ChangeView) => string,
): readonly (readonly [value: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const change of changes) counts.set(memberOf(change), (counts.get(memberOf(change)) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}
