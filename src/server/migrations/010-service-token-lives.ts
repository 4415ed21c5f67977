/**
 * What makes the life of a service token: its kind, how long it may live, how often and from where it may be used, and
 * the login that it came from. Durations are seconds, 0 is none.
 * A token that a login made goes with its mount. Entities are who logged in: the same alias is the same entity again.
 */
export const SERVICE_TOKEN_LIVES = `
ALTER TABLE service_tokens ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN type TEXT NOT NULL DEFAULT 'service' CHECK (type IN ('service', 'batch'));
ALTER TABLE service_tokens ADD COLUMN path TEXT NOT NULL DEFAULT 'auth/token/create';
ALTER TABLE service_tokens ADD COLUMN meta TEXT NOT NULL DEFAULT 'null';
ALTER TABLE service_tokens ADD COLUMN creation_ttl INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN explicit_max_ttl INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN period INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN num_uses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN uses_left INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN bound_cidrs TEXT NOT NULL DEFAULT '[]';
ALTER TABLE service_tokens ADD COLUMN renewable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN renewed_at TEXT;
ALTER TABLE service_tokens ADD COLUMN entity_id TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN role TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN mount TEXT REFERENCES mounts (id) ON DELETE CASCADE;
ALTER TABLE service_tokens ADD COLUMN parent TEXT REFERENCES service_tokens (accessor) ON DELETE CASCADE;

CREATE TABLE service_entities (
  id TEXT PRIMARY KEY,
  mount TEXT NOT NULL REFERENCES mounts (id) ON DELETE CASCADE,
  alias_name TEXT NOT NULL,
  alias_metadata TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (mount, alias_name)
) STRICT;
`;
