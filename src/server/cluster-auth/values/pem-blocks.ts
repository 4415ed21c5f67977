/**
 * PEM blocks in a text, as the service's library finds them.
 * Invariant: what is broken is passed over, and the search goes on behind it.
 */

interface PemBlock {
  readonly type: string;
  readonly bytes: Buffer;
  /** what stands behind the block */
  readonly rest: string;
}

const BEGIN = /(?:^|\n)-----BEGIN ([^\n]*)/g;

/** The first whole block; undefined where there is none. */
export function firstPemBlock(text: string): PemBlock | undefined {
  for (const begin of text.matchAll(BEGIN)) {
    const type = /^(.*)-----[ \t\r]*$/.exec(begin[1] ?? '')?.[1];
    if (type === undefined) continue;
    const block = blockBehind(type, text.slice(begin.index + begin[0].length));
    if (block !== undefined) return block;
  }
  return undefined;
}

function blockBehind(type: string, text: string): PemBlock | undefined {
  const body = text.replace(/^\n(?:[^\n:]*:[^\n]*\n)*/, '\n');
  const end = body.indexOf('\n-----END ');
  if (end === -1) return undefined;
  const [, last = '', rest = ''] = /^\n-----END ([^\n]*)\n?(.*)$/s.exec(body.slice(end)) ?? [];
  if (!last.startsWith(`${type}-----`) || last.slice(type.length + 5).trim() !== '') return undefined;
  const bytes = strictBase64(body.slice(0, end).replaceAll(/[ \t\r\n]/g, ''));
  return bytes && { type, bytes, rest };
}

function strictBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}
