/**
 * The cluster authentication method: one config and any number of roles for each mount.
 * The reviewer JWT has a column of its own, so that a query for anything else cannot carry it out by accident. A role is
 * one JSON text in the wire's field names: every write replaces it whole, and no query looks into it. NOCASE is not
 * needed: names are folded to lower case before they get here.
 */
export const CLUSTER_AUTH = `
CREATE TABLE cluster_auth_configs (
  mount TEXT PRIMARY KEY REFERENCES mounts (path) ON DELETE CASCADE,
  cluster_host TEXT NOT NULL CHECK (cluster_host <> ''),
  cluster_ca_cert TEXT NOT NULL,
  token_reviewer_jwt TEXT NOT NULL,
  pem_keys TEXT NOT NULL,
  disable_local_ca_jwt INTEGER NOT NULL,
  disable_iss_validation INTEGER NOT NULL,
  issuer TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE cluster_auth_roles (
  mount TEXT NOT NULL REFERENCES mounts (path) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (name = lower(name)),
  fields TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (mount, name)
) STRICT, WITHOUT ROWID;
`;
