/** Formats a call: its path as a template, its body as JSON with placeholders for ids and secrets. */
import {
  type Call,
  type CallValue,
  IdReference,
  isCallObject,
  SecretReference,
} from '../../model/plan/call.ts';
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
