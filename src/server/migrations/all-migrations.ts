/**
 * The schema's history, in order. A database that has seen n of these carries `user_version` n.
 * Invariant: a released migration never changes; a change of the schema is a new file at the end of this list.
 */
import { FOUNDATIONS } from './001-foundations.ts';
import { CLUSTER_AUTH } from './002-cluster-auth.ts';
import { SEEDED_THINGS } from './003-seeded-things.ts';
import { DATA_FILE } from './004-data-file.ts';
import { WORKSPACE_RECORDS } from './005-workspace-records.ts';
import { IDS_OF_ACCESS } from './006-ids-of-access.ts';
import { RELEASES } from './007-releases.ts';
import { CONFIG_ANNOTATIONS } from './008-config-annotations.ts';
import { NAMESPACES_AND_MOUNTS } from './009-namespaces-and-mounts.ts';
import { SERVICE_TOKEN_LIVES } from './010-service-token-lives.ts';
import { CLIENT_FIELDS } from './011-client-fields.ts';
import { OLDER_RELEASES } from './012-older-releases.ts';
import { TOKEN_MAKERS } from './013-token-makers.ts';
import { RIGHTS_OF_TEAMS } from './014-rights-of-teams.ts';

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
