/**
 * Converts the body of a call to JSON and back. References become `{ "$id": … }` and `{ "$secret": … }`. A live object of the
 * same form becomes `{ "$value": … }`, so that it is never mistaken for a reference when it is read back.
 */
import {
  type CallObject,
  type CallValue,
  IdReference,
  isCallObject,
  isReference,
  SecretReference,
} from '../../model/plan/call.ts';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import { readAddress } from '../../model/resource/address.ts';
import type { SecretSource } from '../../model/stack/target.ts';

export function bodyJson(value: CallValue): Json {
  if (value instanceof IdReference) return { $id: value.$id };
  if (value instanceof SecretReference) return { $secret: { ...value.$secret } };
  if (Array.isArray(value)) return (value as readonly CallValue[]).map(bodyJson);
  if (!isCallObject(value)) return value as null | boolean | number | string;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bodyJson(member)]));
  return isSpecial(members) ? { $value: members } : members;
}

/** The inverse of `bodyJson`. @throws when the text of a reference is no address */
function bodyOf(json: Json): CallValue {
  if (Array.isArray(json)) return (json as readonly Json[]).map(bodyOf);
  if (!isJsonObject(json)) return json as null | boolean | number | string;
  const { $id, $secret, $value } = json;
  if (isSpecial(json)) {
    if (typeof $id === 'string') return new IdReference(readAddress($id));
    if (isJsonObject($secret)) return new SecretReference(sourceOf($secret));
    if (isJsonObject($value)) return membersOf($value);
  }
  return membersOf(json);
}

/** The inverse of `bodyJson` for a whole body; undefined when the JSON is no body. */
export function bodyObject(json: Json | undefined): CallObject | undefined {
  const body = json === undefined ? undefined : bodyOf(json);
  return isReference(body) || !isCallObject(body) ? undefined : body;
}

function membersOf(json: Readonly<Record<string, Json>>): CallObject {
  return Object.fromEntries(Object.entries(json).map(([key, member]) => [key, bodyOf(member)]));
}

function isSpecial(members: Readonly<Record<string, Json>>): boolean {
  const [only, ...more] = Object.keys(members);
  return more.length === 0 && (only === '$id' || only === '$secret' || only === '$value');
}

function sourceOf({ env, file }: Readonly<Record<string, Json>>): SecretSource {
  return typeof env === 'string' ? { env } : { file: String(file) };
}
