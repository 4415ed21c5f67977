/** The service's limits for tag bindings (wire/workspaces 1.5.17). */
import { ownershipTagKey } from '../../model/resource/claim.ts';

/** Maximum number of direct tag bindings of one workspace, the claim included. */
export const maxTags = 10;
export const maxKeyLength = 128;
export const maxValueLength = 256;

export const tagCharacters = /^[A-Za-z0-9_.=+\-@:]*$/;
export const tagCharactersText = 'letters, digits and _ . = + - @ :';

/** Prefixes of keys that only the service may write; they are no part of any set here (rule 14). */
export const reservedPrefixes: readonly string[] = ['hc:', 'hcp:'];

export function isReserved(key: string): boolean {
  return key === ownershipTagKey || reservedPrefixes.some((prefix) => key.startsWith(prefix));
}
