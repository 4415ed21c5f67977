/** Values at a path inside of JSON: read, and changed in a copy. */
import { isJsonObject, type Json, ownMember, type Path } from '../../model/json/json.ts';

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value;
  for (const name of path) {
    if (Array.isArray(at)) at = at[Number(name)];
    else at = isJsonObject(at) ? ownMember(at, name) : undefined;
  }
  return at;
}

/** A copy with another value there; undefined removes the member. Missing maps on the way are made. */
export function withValueAt(whole: Json | undefined, [name, ...rest]: Path, value: Json | undefined): Json {
  if (name === undefined) return value ?? null;
  if (Array.isArray(whole))
    return whole.map((item, index) => (index === Number(name) ? withValueAt(item, rest, value) : item));
  const members = isJsonObject(whole) ? Object.entries(whole) : [];
  const isLast = rest.length === 0;
  if (isLast && value === undefined) return Object.fromEntries(members.filter(([key]) => key !== name));
  const known = members.find(([key]) => key === name)?.[1];
  const changed = [name, withValueAt(known, rest, value)] as const;
  if (known === undefined) return Object.fromEntries([...members, changed]);
  return Object.fromEntries(members.map((member) => (member[0] === name ? changed : member)));
}
