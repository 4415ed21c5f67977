/**
 * Migrations from 12 on, and the list of all of them. A released migration never changes: a change of the schema is a new
 * migration at the end of the list.
 */
import { RIGHTS_OF_TEAMS } from './014-rights-of-teams.ts';
import { CLUSTER_AUTH, DATA_FILE, FOUNDATIONS, SEEDED_THINGS } from './migrations-1-to-4.ts';
import {
  CLIENT_FIELDS,
  CONFIG_ANNOTATIONS,
  IDS_OF_ACCESS,
  NAMESPACES_AND_MOUNTS,
  RELEASES,
  SERVICE_TOKEN_LIVES,
  WORKSPACE_RECORDS,
} from './migrations-5-to-11.ts';

const LAST_PATCHES: readonly (readonly [line: string, lastPatch: number])[] = [
  ['0.7', 13],
  ['0.8', 8],
  ['0.9', 11],
  ['0.10', 8],
];

const PRE_RELEASES: Readonly<Record<string, string>> = {
  '0.12.0': 'alpha1 alpha2 alpha3 alpha4 beta1 beta2 rc1',
  '0.13.0': 'beta1 beta2 beta3 rc1',
  '0.14.0': 'beta1 beta2 rc1',
  '0.15.0': 'beta1 beta2 rc1 rc2',
  '1.1.0': 'beta1 beta2 rc1',
  '1.2.0': 'beta1 rc1 rc2',
  '1.3.0': 'beta1 rc1',
  '1.4.0': 'beta1 beta2 rc1',
  '1.5.0': 'beta1 beta2 rc1 rc2',
  '1.6.0': 'beta1 beta2 beta3 rc1',
  '1.7.0': 'beta1 beta2 rc1 rc2',
  '1.8.0': 'beta1 rc1 rc2',
  '1.9.0': 'beta1 rc1 rc2 rc3',
  '1.10.0': 'beta1 rc1 rc2 rc3',
  '1.11.0': 'beta1 beta2 rc1 rc2 rc3',
};

const VERSIONS = [
  ...LAST_PATCHES.flatMap(([line, last]) =>
    Array.from({ length: last + 1 }, (_, patch) => `${line}.${patch}`),
  ),
  ...Object.entries(PRE_RELEASES).flatMap(([version, names]) =>
    names.split(' ').map((name) => `${version}-${name}`),
  ),
];

const OLDER_RELEASES = `
INSERT OR IGNORE INTO releases (version) VALUES ${VERSIONS.map((version) => `('${version}')`).join(', ')};
`;

/** Who made a token of an organization or a team. */
const TOKEN_MAKERS = `
ALTER TABLE api_tokens ADD COLUMN created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL;
`;

// The schema's history, in order. A database that has seen n of these carries `user_version` n.
// Invariant: a released migration never changes; a change of the schema is a new text at the end of this list.

export const MIGRATIONS: readonly string[] = [
  FOUNDATIONS,
  CLUSTER_AUTH,
  SEEDED_THINGS,
  DATA_FILE,
  WORKSPACE_RECORDS,
  IDS_OF_ACCESS,
  RELEASES,
  CONFIG_ANNOTATIONS,
  NAMESPACES_AND_MOUNTS,
  SERVICE_TOKEN_LIVES,
  CLIENT_FIELDS,
  OLDER_RELEASES,
  TOKEN_MAKERS,
  RIGHTS_OF_TEAMS,
];
