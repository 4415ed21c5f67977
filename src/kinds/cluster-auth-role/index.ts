/** The kind ClusterAuthRole: which service accounts may log in at a mount, and what token they get. */
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { access } from './describe-access.ts';
import { fields, names, upgradePolicies } from './fields.ts';
import { type LiveRole, prepare } from './live-role.ts';
import { whyNotGone, read, readOne } from './read.ts';
import { similarity, risk } from './risk.ts';
import { type RoleSpec, roleSpec } from './schema.ts';

export const clusterAuthRole = defineKind<RoleSpec, LiveRole>({
  name: 'ClusterAuthRole',
  service: 'cluster-auth',
  summary: 'A role of a cluster-auth mount: which service accounts may log in, and what token they get',
  names,
  specSchema: jsonSchema(roleSpec),
  fields,
  ownership: { by: 'ledger', limitedByOwns: true, undeclared: 'delete' },
  absent: 'unmanaged',
  upgrade: upgradePolicies,
  check,
  read,
  readOne,
  whyNotGone,
  prepare,
  calls,
  risk,
  access,
  similarity,
});
