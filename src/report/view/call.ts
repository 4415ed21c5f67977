/**
 * Formats a call: its path as a template, its body with placeholders for ids and secrets, and its body as JSON that can be read
 * back.
 */
import { readAddress } from '../../model/address.ts';
import {
  type Call,
  type CallObject,
  type CallValue,
  IdReference,
  isCallObject,
  isReference,
  SecretReference,
} from '../../model/call.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { PlanTarget } from '../../model/plan.ts';
import { apiRoots, type SecretSource } from '../../model/stack.ts';
import { printable } from './printable.ts';

/** `/workspaces/{Kind/acme/app}/actions/lock`: segments are encoded as on the wire, so braces always mean references. */
export function pathTemplate(path: Call['path'], reference = (address: string) => `{${address}}`): string {
  return path
    .map((segment) =>
      typeof segment === 'string'
        ? encodeURIComponent(segment.toWellFormed())
        : reference(printable(segment.$id)),
    )
    .map((segment) => `/${segment}`)
    .join('');
}

/** `/workspaces/{id of Kind/acme/app}/actions/lock` */
export function formatCallPath(path: Call['path']): string {
  return pathTemplate(path, (address) => `{id of ${address}}`);
}

/** The API root of a target, which precedes the paths of its calls: `/v1`; empty for an unknown target. */
export function apiRootIn(targets: readonly PlanTarget[]): (target: string) => string {
  const roots = new Map(targets.map(({ name, service }) => [name, apiRoots[service]]));
  return (target) => roots.get(target) ?? '';
}

/** Indented JSON, with `{id of Kind/acme/app}` and `{secret from env REVIEWER_JWT}` in place of references. */
export function bodyLines(body: CallValue): string[] {
  return bodyText(body).split('\n').map(printable);
}

function bodyText(value: CallValue): string {
  if (value instanceof IdReference) return `{id of ${printable(value.$id)}}`;
  if (value instanceof SecretReference) return `{secret from ${printable(sourceText(value))}}`;
  if (Array.isArray(value)) return bracketed('[]', (value as readonly CallValue[]).map(bodyText));
  if (!isCallObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${bodyText(member)}`);
  return bracketed('{}', members);
}

/** `env REVIEWER_JWT`, `file /var/run/jwt` */
function sourceText({ $secret: source }: SecretReference): string {
  return Object.entries(source)
    .map(([from, name]) => `${from} ${name}`)
    .join(' ');
}

function bracketed(brackets: string, parts: readonly string[]): string {
  if (parts.length === 0) return brackets;
  const inner = parts.join(',\n').replaceAll('\n', '\n  ');
  return `${brackets[0]}\n  ${inner}\n${brackets[1]}`;
}

// Converts the body of a call to JSON and back. References become `{ "$id": … }` and `{ "$secret": … }`. A live object of the
// same form becomes `{ "$value": … }`, so that it is never mistaken for a reference when it is read back.

export function bodyJson(value: CallValue): Json {
  if (value instanceof IdReference) return { $id: value.$id };
  if (value instanceof SecretReference) return { $secret: { ...value.$secret } };
  if (Array.isArray(value)) return (value as readonly CallValue[]).map(bodyJson);
  if (!isCallObject(value)) return value as null | boolean | number | string;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bodyJson(member)]));
  return isSpecial(members) ? { $value: members } : members;
}

/** The inverse of `bodyJson`. @throws when the text of a reference is not an address */
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

/** The inverse of `bodyJson` for a whole body; undefined when the JSON is not a body. */
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
