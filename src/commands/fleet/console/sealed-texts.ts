/**
 * Encrypted texts that the console stores in a browser. The browser can neither read nor change them, and each worker with the same key can
 * read them. A text is valid for one purpose, one issuer and audience, and a limited time.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

interface SealOptions {
  readonly key: string;
  /** texts of another issuer or audience are not opened */
  readonly issuer: string;
  readonly audience: string;
  /** milliseconds since 1970 */
  now(): number;
}

type Purpose = 'session' | 'login';

export class Seal {
  readonly #options: SealOptions;
  readonly #key: Uint8Array;

  constructor(options: SealOptions) {
    this.#options = options;
    this.#key = new Uint8Array(hkdfSync('sha256', options.key, '', 'trueup console', 32));
  }

  /** Encrypts a content. @param until seconds since 1970 */
  close(purpose: Purpose, content: JWTPayload, until: number): Promise<string> {
    const { issuer, audience } = this.#options;
    return new EncryptJWT(content)
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: purpose })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime(until)
      .encrypt(this.#key);
  }

  /** Decrypts a text. @returns undefined for a text of another key or purpose, and for one that has expired */
  async open(purpose: Purpose, text: string | undefined): Promise<JWTPayload | undefined> {
    if (text === undefined) return undefined;
    const { issuer, audience, now } = this.#options;
    try {
      const { payload } = await jwtDecrypt(text, this.#key, {
        ...{ issuer, audience, typ: purpose, requiredClaims: ['exp'] },
        currentDate: new Date(now()),
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return payload;
    } catch {
      return undefined;
    }
  }
}
