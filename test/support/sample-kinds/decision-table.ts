/**
 * Decision tables: every combination of some circumstances, and rules that say in a reader's words what follows from
 * them. A table is whole when each combination falls under exactly one of its rules.
 */

/** What a manifest may say of one thing; `adopt` declares it with `adopt: true`. */
export const documents = [
  'none',
  'declared',
  'adopt',
  'safe removal request',
  'force removal request',
] as const;
export const declared = ['declared', 'adopt'] as const;
export const removalRequests = ['safe removal request', 'force removal request'] as const;

/** One value for each circumstance. */
export type Combination<C extends Circumstances> = { readonly [K in keyof C]: C[K][number] };

/** Each circumstance with all of its values. */
export type Circumstances = Readonly<Record<string, readonly string[]>>;

export interface Rule<C extends Circumstances> {
  readonly says: string;
  /** the values under which it applies; a circumstance that is not named does not matter */
  readonly when: { readonly [K in keyof C]?: C[K][number] | readonly C[K][number][] };
  /** what comes of it, as the test observes it */
  readonly comes: string;
}

export function combinationsOf<C extends Circumstances>(circumstances: C): Combination<C>[] {
  let all: Readonly<Record<string, string>>[] = [{}];
  for (const [name, values] of Object.entries(circumstances)) {
    all = all.flatMap((some) => values.map((value) => ({ ...some, [name]: value })));
  }
  return all as unknown as Combination<C>[];
}

export function applies<C extends Circumstances>({ when }: Rule<C>, combination: Combination<C>): boolean {
  return Object.entries(when).every(([name, values]) =>
    [values].flat().includes(combination[name as keyof C] as string),
  );
}

/** `document: declared, ownership tag: ours`: one combination for people. */
export function wordsOf(combination: Readonly<Record<string, string>>): string {
  return Object.entries(combination)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}
