/**
 * Namespaces of the secrets service, each with mounts and policies of its own, and what can be tuned of a mount.
 * A mount's id is what its config and roles hang on: two namespaces may have a mount at the same path, and a mount that
 * is disabled and enabled again is another one. The root namespace is the empty path and has no row.
 */
export const NAMESPACES_AND_MOUNTS = `
CREATE TABLE service_namespaces (
  path TEXT PRIMARY KEY CHECK (path <> ''),
  id TEXT NOT NULL,
  uuid TEXT NOT NULL,
  custom_metadata TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE mounts RENAME COLUMN path TO id;
ALTER TABLE mounts ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE mounts ADD COLUMN path TEXT NOT NULL DEFAULT '';
ALTER TABLE mounts ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
ALTER TABLE mounts ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
UPDATE mounts SET path = id, uuid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX mounts_by_place ON mounts (namespace, path);

CREATE TABLE policies_of_namespaces (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  rules TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
INSERT INTO policies_of_namespaces SELECT '', name, rules, '' FROM service_policies;
DROP TABLE service_policies;
ALTER TABLE policies_of_namespaces RENAME TO service_policies;
`;
