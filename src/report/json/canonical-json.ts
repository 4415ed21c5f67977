/** JSON for machines: equal values give equal texts, and no character in it can move a cursor or reorder a line. */
import { canonicalText, type Json } from '../../model/json/json.ts';
import { printableJson } from '../format/printable.ts';

/** The value with sorted keys in every object. */
export function sortedKeys(value: Json): Json {
  return JSON.parse(canonicalText(value)) as Json;
}

/** Indented by two, members in insertion order, without a final line end. */
export function renderJson(value: object): string {
  return printableJson(JSON.stringify(value, null, 2));
}
