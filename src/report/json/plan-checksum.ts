/**
 * The checksum of a plan file, which shows whether it was edited. It covers everything, texts, places and calls included. The
 * digest covers only what the plan means (rule 27), but a reviewer reads the rest, too.
 */
import { createHash } from 'node:crypto';
import { canonicalText, type Json } from '../../model/json/json.ts';

/** Over all members but `checksum`, independent of member order and white space. @returns 64 hexadecimal characters */
export function checksumOf(plan: object): string {
  // Through JSON, because the file will lack values that JSON cannot hold.
  const { checksum: _, ...rest } = JSON.parse(JSON.stringify(plan)) as Record<string, Json>;
  return createHash('sha256').update(canonicalText(rest)).digest('hex');
}
