/**
 * Decision tables: every combination of some circumstances, and rules with the result that is expected for them. A table is
 * complete if exactly one of its rules applies to each combination.
 */

/** What a manifest can say about a resource; `adopt` declares it with `adopt: true`. */
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
  /** the rule as a sentence, which is the title of its test */
  readonly says: string;
  /** the values for which it applies; other circumstances may have any value */
  readonly when: { readonly [K in keyof C]?: C[K][number] | readonly C[K][number][] };
  /** the expected result, in the words of the test */
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

/** One combination as text: `document: declared, ownershipTag: ours`. */
export function wordsOf(combination: Readonly<Record<string, string>>): string {
  return Object.entries(combination)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}
