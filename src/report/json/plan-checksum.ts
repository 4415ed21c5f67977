/**
 * What shows that a plan file is as it was written: a checksum over all of it, words, places and calls included. The
 * digest is over what the plan means and no more (rule 27), and who reads a plan reads the rest too.
 */
import { createHash } from 'node:crypto';
import { canonicalText, type Json } from '../../model/json/json.ts';

/** Over everything but a checksum, whatever the order of members and the white space: 64 hexadecimal characters. */
export function checksumOf(plan: object): string {
  // As it will be read: what no JSON holds is not in the file.
  const { checksum: _, ...rest } = JSON.parse(JSON.stringify(plan)) as Record<string, Json>;
  return createHash('sha256').update(canonicalText(rest)).digest('hex');
}
