/** Phrases for the meaning of 0 in each lifetime of a role, for its schema, fields and risks. */

/** 0 never means that a token ends at once. */
export const zeroMeans = {
  tokenTtl: 'what the mount gives',
  tokenMaxTtl: "the mount's limit only",
  tokenExplicitMaxTtl: 'no cap',
  tokenPeriod: 'not periodic',
} as const;
