/** What the service lets a tag binding be (wire/workspaces 1.5.17). */
import { claimKey } from '../../model/resource/claim.ts';

/** Direct tag bindings of one workspace; one of them is the claim. */
export const mostTags = 10;
export const longestKey = 128;
export const longestValue = 256;

export const tagCharacters = /^[A-Za-z0-9_.=+\-@:]*$/;
export const tagCharactersInWords = 'letters, digits and _ . = + - @ :';

/** The service's own: nobody else may write them, and nobody's set includes them (rule 14). */
export const reservedPrefixes: readonly string[] = ['hc:', 'hcp:'];

export function isReserved(key: string): boolean {
  return key === claimKey || reservedPrefixes.some((prefix) => key.startsWith(prefix));
}
