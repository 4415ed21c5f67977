/**
 * The form of a JWT: three parts of base64url, the first two of them JSON objects.
 * Invariants: nothing is believed here, a signature is checked elsewhere; what two readers could take for different
 * things (a member twice, padding, blanks, a critical extension) is no JWT at all.
 */
import { isObject } from '../../values/is-object.ts';
import { repeatsMembers } from '../../values/repeated-members.ts';
import { isReadableHeader } from './readable-header.ts';

/** A JWT that can be read; who signed it, if anyone, is not known yet. */
export interface ParsedJwt {
  /** The three parts as they came. */
  readonly text: string;
  /** The `alg` of the header. */
  readonly algorithm: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly isSigned: boolean;
}

/** No cluster issues longer ones, and none would take one as a header. */
const LONGEST_JWT = 256 * 1024;

/** Reads the JWT, or gives undefined for what is none. */
export function parseJwt(text: string): ParsedJwt | undefined {
  const parts = text.length > LONGEST_JWT ? [] : text.split('.');
  const [headerPart, claimsPart, signature] = parts;
  if (parts.length !== 3 || headerPart === undefined || claimsPart === undefined || signature === undefined)
    return undefined;
  if (![headerPart, claimsPart, signature].every((part) => /^[A-Za-z0-9_-]*$/.test(part))) return undefined;
  const [header, claims] = [jsonObject(headerPart), jsonObject(claimsPart)];
  if (header === undefined || claims === undefined) return undefined;
  const algorithm = header['alg'];
  if (typeof algorithm !== 'string' || header['crit'] !== undefined || header['b64'] !== undefined)
    return undefined;
  if (!isReadableHeader(header)) return undefined;
  return { text, algorithm, claims, isSigned: signature !== '' };
}

function jsonObject(part: string): Record<string, unknown> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(part, 'base64url'),
    );
    const value: unknown = JSON.parse(text);
    return isObject(value) && hasRealNumbers(value) && !repeatsMembers(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON has numbers that are no numbers any more once they are read, such as `1e999`. */
function hasRealNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasRealNumbers);
}
