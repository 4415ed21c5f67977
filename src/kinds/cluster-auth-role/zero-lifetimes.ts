/** What the lifetimes of a role mean by 0, in words: for its schema, its fields and its risks. */

/** None of them ends a token at once. */
export const zeroMeans = {
  tokenTtl: 'what the mount gives',
  tokenMaxTtl: "the mount's limit only",
  tokenExplicitMaxTtl: 'no cap',
  tokenPeriod: 'not periodic',
} as const;
