/**
 * The kind ClusterAuthConfig: how a mount reaches its cluster and verifies its JWTs. One per target; each write replaces it
 * whole.
 */
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import type { Description } from '../../model/kind.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { fields, type LiveConfig, prepare } from './fields.ts';
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

// Describes a live config for exports. The reviewer JWT is a secret that is never answered or exported: a remark says whether
// one is stored, and how to declare its source.

function toManifest({ spec, facts }: LiveConfig): Description {
  // Null means that none is stored, which is also what its absence in a manifest means.
  const { tokenReviewerJwt: _, ...rest } = spec;
  return { spec: rest, remarks: jwtRemarks(facts.reviewerJwtSet) };
}

function jwtRemarks(isSet: boolean | null | undefined): string[] {
  if (isSet === false) return [];
  const stored = isSet === true ? 'A reviewer JWT is stored' : 'A reviewer JWT may be stored';
  return [
    `${stored}, which the service never tells. It stays as it is until this config changes: before that, say here where it comes from, for example`,
    'tokenReviewerJwt: { env: REVIEWER_JWT }',
  ];
}
