/**
 * The keys that a config's PEM texts hold, ready to verify with.
 * Invariant: reading never throws; a text without a usable key gives none, so that it verifies nothing.
 */
import type { KeyObject } from 'node:crypto';

import type { KeyRules } from '../../../dialects.ts';
import { publicKeyIn } from '../../values/public-keys.ts';
import { isSha1Certificate } from '../../values/sha1-certificate.ts';

/** The keys of all elements; those of SHA-1 certificates only where they are trusted. */
export function verifyingKeys(pemKeys: readonly string[], rules: KeyRules): KeyObject[] {
  return pemKeys.flatMap((pem) => {
    if (!rules.trustsSha1 && isSha1Certificate(pem)) return [];
    const read = publicKeyIn(pem, rules);
    return 'key' in read ? read.key : [];
  });
}
