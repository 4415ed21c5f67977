/**
 * The form of a JWT: three parts of base64url, the first two of them JSON objects. What two readers could take for different
 * things is none, as for the service (wire/cluster-auth 3). The signature is not verified here.
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';

/** Claims as the JWT has them, of any type. */
export type Claims = Readonly<Record<string, unknown>>;

export interface ParsedJwt {
  readonly text: string;
  readonly algorithm: string;
  readonly isSigned: boolean;
  readonly claims: Claims;
}

/** Why a text is no JWT, as a clause. */
interface NoJwt {
  readonly problem: string;
}

/** In characters. */
const longest = 256 * 1024;

const noForm = 'the text is no JWT: three parts of base64url, the first two of them JSON';

export function parseJwt(text: string): ParsedJwt | NoJwt {
  if (text.length > longest) {
    const problem = `the text is longer than any JWT that is accepted: ${text.length} characters of ${longest}`;
    return { problem };
  }
  const [, head = '', body = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/.exec(text) ?? [];
  const [header, claims] = [readPart(head, 'header'), readPart(body, 'claims')];
  if ('problem' in header) return header;
  if ('problem' in claims) return claims;
  const { alg, crit, b64 } = header.members;
  if (typeof alg !== 'string') return { problem: noForm };
  // A service refuses a header that demands extensions, whatever they are.
  if (crit !== undefined || b64 !== undefined)
    return { problem: 'the header of the JWT has "crit" or "b64", and no extension is accepted' };
  return { text, algorithm: alg, isSigned: signature !== '', claims: claims.members };
}

function readPart(part: string, name: string): { readonly members: JsonObject } | NoJwt {
  const json = decode(part);
  const value = json === undefined ? undefined : parse(json);
  if (json === undefined || !isJsonObject(value) || !isOfFiniteNumbers(value)) return { problem: noForm };
  return repeatsMember(json) ? { problem: `the JWT has a member twice in its ${name}` } : { members: value };
}

function decode(part: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, 'base64url'));
  } catch {
    return undefined;
  }
}

function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return undefined;
  }
}

/** A number that is too large becomes infinite where it is read, and is then none of JSON. */
function isOfFiniteNumbers(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isOfFiniteNumbers);
}

/** A member, a text that is none, or the beginning or end of an object. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|([{}])/g;

/** Whether any object of it has two members of one name. @param json valid */
function repeatsMember(json: string): boolean {
  const objects: Set<string>[] = [];
  for (const [, text = '', colon, bracket] of json.matchAll(tokens)) {
    if (bracket === '{') objects.push(new Set());
    else if (bracket === '}') objects.pop();
    if (colon === undefined) continue;
    const [name, names] = [JSON.parse(text) as string, objects.at(-1)];
    if (names?.has(name)) return true;
    names?.add(name);
  }
  return false;
}
