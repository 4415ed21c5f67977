/**
 * The content of a plan in its comment: one hidden line. Everybody who may edit the comment may change it, so whoever reads it
 * compares its hash with the approved digest.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Json } from '../model/json.ts';

const begin = '<!-- trueup-plan: ';
const end = ' -->';

/** Plans with more content are compared by their digest alone. */
const maxSize = 16 * 1024 * 1024;

/** Base64 has no character that could end an HTML comment. @param content as JSON */
export function hiddenContent(content: object): string {
  const packed = deflateRawSync(JSON.stringify(content), { level: 9 });
  return `${begin}${packed.toString('base64')}${end}`;
}

/** @returns undefined where there is none, or it cannot be read */
export function readHiddenContent(body: string): Json | undefined {
  const line = body.split(/\r?\n/).find((one) => one.startsWith(begin) && one.endsWith(end));
  if (line === undefined) return undefined;
  try {
    const packed = Buffer.from(line.slice(begin.length, -end.length), 'base64');
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: maxSize }).toString('utf8'));
  } catch {
    return undefined;
  }
}
