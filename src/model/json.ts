/** JSON as data: what manifests, live answers, calls and plans are made of. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The path to a value inside a document: object keys, and list positions as decimal text. */
export type Path = readonly string[];

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member. Users choose keys, and a plain lookup of `constructor` would find an inherited member. */
export function ownMember(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A member of a value; undefined when the value is not an object. */
export function memberOf(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) ? ownMember(value, key) : undefined;
}

/** The value at a path; undefined if nothing is there. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value;
  for (const name of path) at = Array.isArray(at) ? at[Number(name)] : memberOf(at, name);
  return at;
}

/** A copy with another value at the path; undefined removes the member. Missing objects on the way are created. */
export function withValueAt(
  into: JsonObject,
  [name = '', ...below]: Path,
  value: Json | undefined,
): JsonObject {
  const { [name]: _, ...others } = into;
  if (below.length === 0) return value === undefined ? others : { ...into, [name]: value };
  const known = ownMember(into, name);
  if (value === undefined && !isJsonObject(known)) return into;
  return { ...into, [name]: withValueAt(isJsonObject(known) ? known : {}, below, value) };
}

/** The elements of a list as texts; empty for any other value. */
export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** One text for one value: keys sorted at every depth. Equal texts mean equal values. */
export function canonicalText(value: Json | undefined): string {
  if (value === undefined) return 'undefined';
  const sorted = withSortedKeys(value);
  return sorted === undefined ? joinedText(value) : JSON.stringify(sorted);
}

/** JavaScript objects put numeric keys first, even if they are set last, and `__proto__` is never a normal member. */
const keyWithOwnOrder = /^(?:\d|__proto__$)/;

/** A copy with sorted keys; undefined if an object cannot keep their order. `JSON.stringify` is three times as fast as `joinedText`. */
function withSortedKeys(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value as readonly Json[]) {
      const sorted = withSortedKeys(item);
      if (sorted === undefined) return undefined;
      items.push(sorted);
    }
    return items;
  }
  if (!isJsonObject(value)) return value;
  const members: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    const sorted = keyWithOwnOrder.test(key) ? undefined : withSortedKeys(member);
    if (sorted === undefined) return undefined;
    members[key] = sorted;
  }
  return members;
}

function joinedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(joinedText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  let members = '';
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${joinedText(member)}`;
  }
  return `{${members}}`;
}

/** Whether both are the same value. A member that is undefined counts as missing. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => sameJson(item, other[index]))
    );
  return isJsonObject(one) && isJsonObject(other) && hasMembers(one, other) && hasMembers(other, one);
}

function hasMembers(object: JsonObject, wanted: JsonObject): boolean {
  return Object.keys(wanted).every((key) => sameJson(ownMember(object, key), wanted[key]));
}
