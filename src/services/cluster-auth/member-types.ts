/**
 * The types of what a mount answers. Roles and configs are written back whole, so a live value is sent again as it came:
 * one that this method never answers is not understood, and must not be repeated (rule 42). Source:
 * wire/cluster-auth 2.3, 2.4, 2.7.
 */
import { parseDuration } from '../../model/kind/duration.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';

/** A list may come as one text, a duration as text; whatever is null or left out has no value. */
export type MemberType = 'text' | 'list' | 'duration' | 'number' | 'switch';

const isOf: Readonly<Record<MemberType, (value: Json) => boolean>> = {
  text: isText,
  list: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  duration: (value) =>
    (typeof value === 'number' || typeof value === 'string') && parseDuration(value) !== undefined,
  number: (value) => typeof value === 'number',
  switch: (value) => typeof value === 'boolean',
};

const noSuch: Readonly<Record<MemberType, string>> = {
  text: 'no text',
  list: 'no list of texts',
  duration: 'no duration',
  number: 'no number',
  switch: 'neither true nor false',
};

/** A clause about the first member of another type than its own, in the service's own name for it; values are not shown. */
export function oddMember(
  { dialect }: Pick<Session, 'dialect'>,
  data: JsonObject,
  types: Readonly<Record<string, MemberType>>,
): string | undefined {
  for (const [name, type] of Object.entries(types)) {
    const value = data[name] ?? null;
    if (value !== null && !isOf[type](value))
      return `its "${dialect.rename[name] ?? name}" is ${noSuch[type]}`;
  }
  return undefined;
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}
