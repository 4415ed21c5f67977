/** The form of a JWT: three parts of base64url, the first two of them JSON objects. The signature is not verified here. */
import { decodeJwt, decodeProtectedHeader } from 'jose';

/** Claims as the JWT has them, of any type. */
export type Claims = Readonly<Record<string, unknown>>;

export interface ParsedJwt {
  readonly text: string;
  readonly algorithm: string;
  readonly isSigned: boolean;
  readonly claims: Claims;
}

/** Undefined when the text is no JWT. */
export function parseJwt(text: string): ParsedJwt | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) return undefined;
  try {
    const { alg, crit } = decodeProtectedHeader(text);
    // A service refuses a header that demands extensions.
    if (typeof alg !== 'string' || crit !== undefined) return undefined;
    return { text, algorithm: alg, isSigned: !text.endsWith('.'), claims: decodeJwt(text) };
  } catch {
    return undefined;
  }
}
