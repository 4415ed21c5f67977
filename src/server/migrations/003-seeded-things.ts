/**
 * Which things of seeds were put into this file, each by its identity in the seed, as JSON text.
 * What stands here is never touched by a seed again, whatever requests have made of it since.
 */
export const SEEDED_THINGS = `
CREATE TABLE seeded_things (
  thing TEXT PRIMARY KEY,
  seeded_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
