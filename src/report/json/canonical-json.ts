/** JSON for machines: the same value is always the same text, and nothing in it can move a cursor or reorder a line. */
import { canonicalText, type Json } from '../../model/json/json.ts';
import { printableJson } from '../format/printable.ts';

/** The value with the keys of every object in it sorted. */
export function sortedKeys(value: Json): Json {
  return JSON.parse(canonicalText(value)) as Json;
}

/** Indented by two, members in the order in which they were put together; no line end behind it. */
export function renderJson(value: object): string {
  return printableJson(JSON.stringify(value, null, 2));
}
