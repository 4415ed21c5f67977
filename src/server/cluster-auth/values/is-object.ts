/** Telling JSON objects from lists, null and numbers, for values that came over the wire. */
import { NumberLiteral } from './number-literal.ts';

/** Whether the value is an object with members. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof NumberLiteral)
  );
}
