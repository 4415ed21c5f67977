/**
 * Refuses texts and keys with half of a surrogate pair, which an escape such as "\uD800" makes: it is no character, no service can
 * store it, and a plan with it would never be empty.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Json, Path } from '../../model/json/json.ts';
import { type EntrySide, placeIn, type YamlDocument } from './yaml-document.ts';

/** A diagnostic at each of them. */
export function checkCharacters(document: YamlDocument): Diagnostic[] {
  // The text itself is UTF-8, so only an escape makes one.
  return document.text.includes('\\') ? walk(document, document.value, []) : [];
}

function walk(document: YamlDocument, value: Json, path: Path): Diagnostic[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [refuse(document, path, 'value')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name.isWellFormed() ? [] : [refuse(document, [...path, name], 'key')]),
    ...walk(document, member, [...path, name]),
  ]);
}

function refuse(document: YamlDocument, path: Path, side: EntrySide): Diagnostic {
  return {
    code: 'lone-surrogate',
    severity: 'error',
    class: 'invalid',
    message: `this ${side === 'key' ? 'key' : 'text'} has half of a surrogate pair, which is no character`,
    place: placeIn(document, path, side),
    fix: 'write the character itself, or its whole code, such as "\\U0001F600"',
  };
}
