/**
 * Describes a live config for exports. The reviewer JWT is a secret that is never answered or exported: a remark says whether
 * one is stored, and how to declare its source.
 */
import type { Description } from '../../model/kind/kind.ts';
import type { LiveConfig } from './live-config.ts';

export function toManifest({ spec, facts }: LiveConfig): Description {
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
