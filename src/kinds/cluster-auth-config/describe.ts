/**
 * A live config as a manifest would say it (for exports). The reviewer JWT is a secret that no read tells and no export
 * holds: whether there is one is said, and how to say where it comes from.
 */
import type { Description } from '../../model/kind/kind.ts';
import type { LiveConfig } from './live-config.ts';

export function describe({ spec, facts }: LiveConfig): Description {
  // Null is the answer that there is none, which is what a manifest that leaves it out means as well.
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
