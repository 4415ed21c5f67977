/**
 * The schema's history, in order. A database that has seen n of these carries `user_version` n.
 * Invariant: a released migration never changes; a change of the schema is a new file at the end of this list.
 */
import { FOUNDATIONS } from './001-foundations.ts';
import { CLUSTER_AUTH } from './002-cluster-auth.ts';
import { SEEDED_THINGS } from './003-seeded-things.ts';
import { DATA_FILE } from './004-data-file.ts';

export const MIGRATIONS: readonly string[] = [FOUNDATIONS, CLUSTER_AUTH, SEEDED_THINGS, DATA_FILE];
