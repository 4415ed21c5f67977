/** Renames object members at any depth: the one thing that a dialect does to a body. */
import { isJsonObject, type Json } from './json.ts';

export function renameMembers(value: Json, names: Readonly<Record<string, string>>): Json {
  if (Array.isArray(value)) return value.map((item) => renameMembers(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      Object.hasOwn(names, key) ? (names[key] ?? key) : key,
      renameMembers(member, names),
    ]),
  );
}
