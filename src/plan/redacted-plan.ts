/**
 * Compares stored plans, from which secrets were redacted (rules 42), with fresh plans. Pure.
 */
import type { DigestedChange } from '../model/plan/change.ts';
import type { FieldChange } from '../model/kind/field.ts';
import type { Json } from '../model/json/json.ts';
import { secretPlaceholder } from '../model/known-secrets.ts';
import { type Atom, atomsOf } from './approval/digest.ts';

/** Whether values may be redacted: then the digest cannot be recomputed. */
export function isRedacted(changes: readonly DigestedChange[]): boolean {
  return [...atomsOf(changes)].some(isAtomRedacted);
}

function isAtomRedacted(atom: Atom): boolean {
  return atom.includes(secretPlaceholder);
}

/** Whether `kept` can be `whole` with secrets redacted; each placeholder stands for a part of one text. */
export function isRedactionOf(kept: readonly DigestedChange[], whole: readonly DigestedChange[]): boolean {
  const [shown, meant] = [atomsOf(kept), atomsOf(whole)];
  const redactedAtoms = [...shown].filter((atom) => !meant.has(atom));
  const unmatchedAtoms = [...meant].filter((atom) => !shown.has(atom));
  const patterns = redactedAtoms.map(patternOf);
  return (
    patterns.every((pattern) => unmatchedAtoms.some((atom) => pattern.test(atom))) &&
    unmatchedAtoms.every((atom) => patterns.some((pattern) => pattern.test(atom)))
  );
}

/** A pattern for the original atom; a placeholder matches only within its JSON string. */
function patternOf(atom: Atom): RegExp {
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${atom.split(secretPlaceholder).map(literal).join('(?:[^"\\\\]|\\\\.)*')}$`, 's');
}

/** Replaces the placeholders by another text, so that a redacted value equals no value of a fresh plan. */
export function markRedactions(changes: readonly DigestedChange[]): DigestedChange[] {
  return changes.map((change) => ({ ...change, fields: change.fields.map(markedField) }));
}

function markedField({ path, before, after, ...rest }: FieldChange): FieldChange {
  return {
    ...rest,
    path,
    ...(before === undefined ? {} : { before: marked(before) }),
    ...(after === undefined ? {} : { after: marked(after) }),
  };
}

function marked(value: Json): Json {
  const text = JSON.stringify(value);
  return text.includes(secretPlaceholder)
    ? (JSON.parse(text.replaceAll(secretPlaceholder, unknownSecret)) as Json)
    : value;
}

const unknownSecret = '[secret, not kept]';
