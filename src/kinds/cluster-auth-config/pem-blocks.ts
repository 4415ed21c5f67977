/** The PEM blocks of a text, as far as they can be judged by their armour. */

export interface PemBlock {
  /** what the armour says that it holds: `CERTIFICATE`, `PUBLIC KEY` */
  readonly label: string;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\s+[A-Za-z0-9+/=\s]+-----END \1-----/g;

export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map(([, label = '']) => ({ label }));
}
