/**
 * The types of the members in answers of a mount. Roles and configs are written back whole, so live values are sent again
 * unchanged: a value of an unexpected type must not be sent back (rule 42). Source: wire/cluster-auth 2.3, 2.4, 2.7.
 */
import { parseDuration } from '../../model/kind/duration.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { quoted } from '../../model/quoted.ts';

/** A list may be answered as one text, a duration as text. Null and absent members have no value. */
export type MemberType = 'text' | 'list' | 'duration' | 'number' | 'switch';

const hasType: Readonly<Record<MemberType, (value: Json) => boolean>> = {
  text: isText,
  list: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  duration: (value) =>
    (typeof value === 'number' || typeof value === 'string') && parseDuration(value) !== undefined,
  number: (value) => typeof value === 'number',
  switch: (value) => typeof value === 'boolean',
};

const wrongType: Readonly<Record<MemberType, string>> = {
  text: 'no text',
  list: 'no list of texts',
  duration: 'no duration',
  number: 'no number',
  switch: 'neither true nor false',
};

/** A clause about the first member with a wrong type, by the service's own name for it; its value is not shown. */
export function wrongTypedMember(
  { dialect }: Pick<Session, 'dialect'>,
  data: JsonObject,
  types: Readonly<Record<string, MemberType>>,
): string | undefined {
  for (const [name, type] of Object.entries(types)) {
    const value = data[name] ?? null;
    if (value !== null && !hasType[type](value))
      return `its ${quoted(dialect.rename[name] ?? name)} is ${wrongType[type]}`;
  }
  return undefined;
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}
