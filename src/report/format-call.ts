/** A call as people read it: its path as a template, its body as JSON with references and secrets named, not shown. */
import { type Call, type IdReference, isIdReference } from '../model/call.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { printable } from './printable.ts';

/** `/workspaces/{Kind/acme/app}/actions/lock`: segments encoded as on the wire, so that braces are references. */
export function pathTemplate(path: Call['path'], reference = (address: string) => `{${address}}`): string {
  return path
    .map((segment) =>
      isReference(segment) ? reference(printable(segment.$id)) : encodeURIComponent(segment.toWellFormed()),
    )
    .map((segment) => `/${segment}`)
    .join('');
}

/** `/workspaces/{id of Kind/acme/app}/actions/lock` */
export function formatCallPath(path: Call['path']): string {
  return pathTemplate(path, (address) => `{id of ${address}}`);
}

/** Indented JSON, but for `{id of Kind/acme/app}` and `{secret from env REVIEWER_JWT}` in place of references. */
export function bodyLines(body: Json): string[] {
  return bodyText(body).split('\n').map(printable);
}

function isReference(segment: string | IdReference): segment is IdReference {
  return typeof segment !== 'string';
}

function bodyText(value: Json): string {
  if (isIdReference(value)) return `{id of ${printable(value.$id)}}`;
  const source = secretSource(value);
  if (source !== undefined) return `{secret from ${printable(source)}}`;
  if (Array.isArray(value)) return bracketed('[]', value.map(bodyText));
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${bodyText(member)}`);
  return bracketed('{}', members);
}

/** `env REVIEWER_JWT`, `file /var/run/jwt`; undefined for what is no secret reference. */
function secretSource(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const source = value['$secret'];
  if (!isJsonObject(source)) return undefined;
  return Object.entries(source)
    .map(([from, name]) => `${from} ${String(name)}`)
    .join(' ');
}

function bracketed(brackets: string, parts: readonly string[]): string {
  if (parts.length === 0) return brackets;
  const inner = parts.join(',\n').replaceAll('\n', '\n  ');
  return `${brackets[0]}\n  ${inner}\n${brackets[1]}`;
}
