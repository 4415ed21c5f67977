/**
 * Links that carry their own permission: whoever was shown one may do the one thing that it says, without a token.
 * Invariant: a signature holds for one method and one path of one data file, and for an hour; it can be made only by who
 * reads that file. A link that was shown is good for its hour, also when the right of who asked for it ends before.
 * Clients send no token to these addresses (wire/workspaces 6.3), and some put a query of their own in the place of any that a
 * link has (6.5): so what proves the right stands in the path.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Database } from '../data-file/database.ts';
import { proofKey } from '../data-file/serving-proof.ts';
import type { Services } from '../services.ts';

export type StorageMethod = 'GET' | 'PUT';

export const STORAGE_PREFIX = '/api/storage';

const LIFETIME_MS = 60 * 60 * 1000;

interface Target {
  readonly method: StorageMethod;
  /** Below the prefix. */
  readonly path: string;
}

/** The absolute link, good for an hour from now; `origin` is `http://host:port`. */
export function signedLink({ database, now }: Services, origin: string, target: Target): string {
  const expires = String(now().getTime() + LIFETIME_MS);
  const signature = sign(database, target, expires).toString('base64url');
  return `${origin}${STORAGE_PREFIX}/${expires}/${signature}${target.path}`;
}

/** Below the prefix, what stands before the path of a target. */
export const SIGNATURE_PATH = '/:expires/:signature';

/** Whether a request has a signature for this target that has not expired. */
export function isSigned(
  { database, now }: Services,
  target: Target,
  { expires, signature }: { readonly expires: string; readonly signature: string },
): boolean {
  const given = Buffer.from(signature, 'base64url');
  const expected = sign(database, target, expires);
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  return isOurs && Number(expires) > now().getTime();
}

/** `expires` is in milliseconds since 1970, as it stands in the link. */
function sign(database: Database, { method, path }: Target, expires: string): Buffer {
  return createHmac('sha256', Buffer.from(proofKey(database), 'hex'))
    .update(JSON.stringify(['signed link', method, path, expires]))
    .digest();
}
