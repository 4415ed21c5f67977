/**
 * Writes values as YAML, and resources as the text of a manifest file. Reading the text gives the same resources again, and equal
 * resources give equal texts.
 */
import { dump } from 'js-yaml';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { Spec } from '../../model/resource.ts';
import { apiVersion } from '../schema/manifest-schema.ts';

type DumpOptions = Parameters<typeof dump>[1];

/** Whether a text has a character that changes the text direction. */
export function changesDirection(text: string): boolean {
  return /\p{Bidi_Control}/u.test(text);
}

/** JSON in which invisible characters are escaped as well. */
export function doubleQuoted(value: string): string {
  return escapeInvisible(JSON.stringify(value));
}

/** @param json a text in JSON */
export function escapeInvisible(json: string): string {
  return json.replace(
    /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]|\p{Bidi_Control}/gu,
    (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The value as the library writes it, but with escapes in texts and keys that change the text direction. */
export function dumpYaml(value: Json, options: DumpOptions): string {
  const written = JSON.stringify(value);
  if (!changesDirection(written)) return dump(value, options);
  // Each such text is first written as a placeholder, a word that occurs nowhere else.
  let mark = 'text';
  while (written.includes(mark)) mark += 'x';
  const texts: string[] = [];
  const marked = withTexts(value, (text) =>
    changesDirection(text) ? `${mark}${texts.push(text)}end` : text,
  );
  return dump(marked, options).replace(new RegExp(`${mark}(\\d+)end`, 'g'), (_, number: string) =>
    doubleQuoted(texts[Number(number) - 1] ?? ''),
  );
}

function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: Json) => withTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key), withTexts(member, change)]),
  );
}

export interface ManifestDraft {
  readonly kind: Kind;
  readonly metadata: JsonObject & { readonly name: string };
  /** absent in documents without one */
  readonly spec?: Spec;
  /** written as comments at the end of the spec */
  readonly remarks?: readonly string[];
}

interface ManifestText {
  readonly text: string;
  /** the line on which each manifest begins, counted from 1, in the order given */
  readonly lines: readonly number[];
}

/** @param schema path or URL of the JSON Schema that the text names for editors */
export function writeManifests(manifests: readonly ManifestDraft[], schema?: string): ManifestText {
  const lines: number[] = [];
  let text = schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`;
  let line = schema === undefined ? 1 : 2;
  for (const manifest of manifests) {
    const written = `${lines.length === 0 ? '' : '---\n'}${writeManifest(manifest)}`;
    lines.push(line + (lines.length === 0 ? 0 : 1));
    line += written.split('\n').length - 1;
    text += written;
  }
  return { text, lines };
}

function writeManifest({ kind, metadata, spec, remarks = [] }: ManifestDraft): string {
  const ordered = spec === undefined ? {} : { spec: orderMembers(spec, kind.specSchema) };
  const document = { apiVersion, kind: kind.name, metadata, ...ordered };
  // Long lines are not folded: folded text is hard to search and to edit.
  const text = dumpYaml(document, { lineWidth: -1, noRefs: true });
  // The library adds a line "..." after a text that ends with empty lines, and remarks after that line would belong to no document.
  return `${text.replace(/\n\.\.\.\n$/, '\n')}${remarks.map(writeRemark).join('')}`;
}

/** Sorts members as in the schema and the documentation; unknown members follow in their own order. */
export function orderMembers(value: Json, schema: Json | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => orderMembers(item, memberOf(schema, 'items')));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).toSorted(byRank(([name]) => name, schema));
  return Object.fromEntries(
    members.map(([name, member]) => [name, orderMembers(member, schemaOfMember(schema, name))]),
  );
}

/** Compares members by their place in the properties of a schema. */
export function byRank<M>(
  nameOf: (member: M) => string,
  schema: Json | undefined,
): (one: M, other: M) => number {
  const properties = memberOf(schema, 'properties');
  const order = isJsonObject(properties) ? Object.keys(properties) : [];
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return (one, other) => rank(nameOf(one)) - rank(nameOf(other));
}

export function schemaOfMember(schema: Json | undefined, name: string): Json | undefined {
  return memberOf(memberOf(schema, 'properties'), name);
}

const maxLineWidth = 100;

function writeRemark(remark: string): string {
  const lines: string[] = [''];
  for (const word of remark.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD').split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= maxLineWidth) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((line) => `  # ${line}\n`).join('');
}
