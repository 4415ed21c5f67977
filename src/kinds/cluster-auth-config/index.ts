/**
 * The kind ClusterAuthConfig: how a mount reaches its cluster and verifies its JWTs. One per target; each write replaces all
 * of it.
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
  summary: 'The config of a cluster-auth mount: the cluster that reviews JWTs, and the keys that verify them',
  names: { pattern: /^config$/, description: '"config": each target has one' },
  specSchema: jsonSchema(configSpec),
  fields,
  ownership: { by: 'ledger', limitedByOwns: false, undeclared: 'release' },
  absent: 'default',
  check,
  read,
  readOne,
  prepare,
  calls,
  risk,
  toManifest,
});

// Converts a live config to a manifest. The reviewer JWT is never returned or exported: a remark says whether one is stored,
// and how to declare its source.

function toManifest({ spec, facts }: LiveConfig): Description {
  // Null means that none is stored, which is also what its absence in a manifest means.
  const { tokenReviewerJwt: _, ...rest } = spec;
  return { spec: rest, remarks: jwtRemarks(facts.reviewerJwtSet) };
}

function jwtRemarks(isSet: boolean | null | undefined): string[] {
  if (isSet === false) return [];
  const stored = isSet === true ? 'A reviewer JWT is stored' : 'A reviewer JWT may be stored';
  return [
    `${stored}; the service never returns it. It is kept until this config changes. Before a change, declare its source here, for example`,
    'tokenReviewerJwt: { env: REVIEWER_JWT }',
  ];
}
