/**
 * Identifiers as the services write them: a short prefix, a dash, sixteen letters and digits.
 * Invariant: ids are opaque; no code parses one. Seeded things get the same id in every database, so that
 * a manifest may name `ot-…` or `apool-…` ids of a seed.
 */
import { createHash, randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789';
const LENGTH = 16;

/** A new random id, for example `ws-6fHMCom98SDXSQUv`. */
export function newId(prefix: string): string {
  return `${prefix}-${letters(randomBytes(LENGTH))}`;
}

/** `count` random letters and digits. */
export function newLetters(count: number): string {
  return letters(randomBytes(count));
}

/** The id that the same names always get, for example the agent pool `builders` of `acme`. */
export function stableId(prefix: string, ...names: string[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([prefix, ...names]))
    .digest();
  return `${prefix}-${letters(digest.subarray(0, LENGTH))}`;
}

function letters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
}
