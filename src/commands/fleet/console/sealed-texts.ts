/**
 * What the console leaves with a browser: encrypted, so that it is neither read nor changed there, and readable by each worker with the same
 * key. A text is good for one purpose, one console that is a client of one issuer, and a limited time.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

interface SealOptions {
  readonly key: string;
  /** the texts of another client or issuer are not opened */
  readonly issuer: string;
  readonly client: string;
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

  /** @param until seconds since 1970 */
  close(purpose: Purpose, content: JWTPayload, until: number): Promise<string> {
    const { issuer, client } = this.#options;
    return new EncryptJWT(content)
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: purpose })
      .setIssuer(issuer)
      .setAudience(client)
      .setExpirationTime(until)
      .encrypt(this.#key);
  }

  /** Undefined for what this key did not close, for another purpose, and for what is over. */
  async open(purpose: Purpose, text: string | undefined): Promise<JWTPayload | undefined> {
    if (text === undefined) return undefined;
    const { issuer, client, now } = this.#options;
    try {
      const { payload } = await jwtDecrypt(text, this.#key, {
        ...{ issuer, audience: client, typ: purpose, requiredClaims: ['exp'] },
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
