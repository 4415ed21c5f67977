/** Renames object members at any depth, which is all that a dialect changes in a body. References are kept as they are. */
import { type CallValue, isCallObject } from '../plan/call.ts';

/** The same value with other member names. JSON in, JSON out. */
export function renameMembers<T extends CallValue>(value: T, names: Readonly<Record<string, string>>): T {
  return renamed(value, names) as T;
}

function renamed(value: CallValue, names: Readonly<Record<string, string>>): CallValue {
  if (Array.isArray(value)) return (value as readonly CallValue[]).map((item) => renamed(item, names));
  if (!isCallObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      Object.hasOwn(names, key) ? (names[key] ?? key) : key,
      renamed(member, names),
    ]),
  );
}
