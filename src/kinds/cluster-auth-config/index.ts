/** The kind ClusterAuthConfig: how a mount reaches its cluster and verifies its JWTs. One per target; each write replaces it whole. */
import { jsonSchema } from '../../model/kind/json-schema.ts';
import { defineKind } from '../../model/kind/define-kind.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { toManifest } from './describe.ts';
import { fields } from './fields.ts';
import type { LiveConfig } from './live-config.ts';
import { prepare } from './prepare.ts';
import { read, readOne } from './read.ts';
import { risk } from './risk.ts';
import { type ConfigSpec, configSpec } from './schema.ts';

export const clusterAuthConfig = defineKind<ConfigSpec, LiveConfig>({
  name: 'ClusterAuthConfig',
  service: 'cluster-auth',
  summary: 'The config of a cluster-auth mount: the cluster it asks, and what its JWTs are verified with',
  names: { pattern: /^config$/, description: '"config": there is one a target' },
  specSchema: jsonSchema(configSpec),
  fields,
  ownership: { by: 'ledger', named: false, undeclared: 'release' },
  absent: 'default',
  check,
  read,
  readOne,
  prepare,
  calls,
  risk,
  toManifest: toManifest,
});
