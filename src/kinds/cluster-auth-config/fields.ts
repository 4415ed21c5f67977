/**
 * How each field of the config compares, and its default, which every write without the field restores
 * (wire/cluster-auth 2.2).
 */
import type { FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { pem, pemSet, scalar, secretVersion, wordOr } from '../../compare/comparisons.ts';
import type { ConfigSpec } from './schema.ts';

export const fields: FieldTable = {
  clusterHost: { compare: scalar },
  clusterCaCert: { compare: pem, default: '' },
  tokenReviewerJwt: { compare: secretVersion, default: null, writeOnly: true },
  pemKeys: { compare: pemSet, default: [] },
  disableLocalCaJwt: { compare: scalar, default: false },
  disableIssValidation: { compare: scalar, default: true },
  issuer: { compare: wordOr(''), default: '' },
} satisfies FieldsOf<ConfigSpec>;
