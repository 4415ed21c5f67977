/**
 * Plans as they are kept, without the secrets that their run knew (rules 42): what can still be said of the values that
 * they do not tell. Pure.
 */
import type { MeantChange } from '../model/plan/change.ts';
import type { FieldChange } from '../model/kind/field.ts';
import type { Json } from '../model/json/json.ts';
import { secretWord } from '../model/known-secrets.ts';
import { type Atom, atomsOf } from './approval/digest.ts';

/** Whether some of what it means may be left out of it: then no digest can be made of what is there. */
export function isRedacted(changes: readonly MeantChange[]): boolean {
  return [...atomsOf(changes)].some(hasGap);
}

function hasGap(atom: Atom): boolean {
  return atom.includes(secretWord);
}

/** Whether the one is the other, but for what it leaves out; a gap stands for a part of one text. */
export function isRedactionOf(kept: readonly MeantChange[], whole: readonly MeantChange[]): boolean {
  const [shown, meant] = [atomsOf(kept), atomsOf(whole)];
  const gapped = [...shown].filter((atom) => !meant.has(atom));
  const unshown = [...meant].filter((atom) => !shown.has(atom));
  const forms = gapped.map(formOf);
  return (
    forms.every((form) => unshown.some((atom) => form.test(atom))) &&
    unshown.every((atom) => forms.some((form) => form.test(atom)))
  );
}

/** Matches what the atom may have been; a gap ends where its text does. */
function formOf(atom: Atom): RegExp {
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${atom.split(secretWord).map(literal).join('(?:[^"\\\\]|\\\\.)*')}$`, 's');
}

/** The same with its gaps told apart from what anybody else may have written: such a value equals no other. */
export function withGapsApart(changes: readonly MeantChange[]): MeantChange[] {
  return changes.map((change) => ({ ...change, fields: change.fields.map(fieldApart) }));
}

function fieldApart({ path, before, after, ...rest }: FieldChange): FieldChange {
  return {
    ...rest,
    path,
    ...(before === undefined ? {} : { before: apart(before) }),
    ...(after === undefined ? {} : { after: apart(after) }),
  };
}

function apart(value: Json): Json {
  const text = JSON.stringify(value);
  return text.includes(secretWord) ? (JSON.parse(text.replaceAll(secretWord, gapWords)) as Json) : value;
}

const gapWords = '[secret, not kept]';
