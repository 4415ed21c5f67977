/**
 * Formats a field change before any layout: its name, the kind of its difference, remarks, and the difference as lines. All
 * text is printable.
 */
import { diffArrays } from 'diff';
import type { FieldChange, Shape } from '../../model/field.ts';
import {
  canonicalText,
  isJsonObject,
  type Json,
  ownMember,
  type Path,
  sameJson,
  valueAt,
  withValueAt,
} from '../../model/json.ts';
import { secretPlaceholder } from '../../redaction/known-secrets.ts';
import { printable } from './printable.ts';
import {
  formatInline,
  formatValue,
  isMultiline,
  jsonLines,
  type ShownValue,
  textLines,
  unknown,
} from './value.ts';

export interface FieldView {
  /** `vcsRepo.branch`, `tags."cost.center"` */
  readonly name: string;
  readonly difference: ShownDifference;
  /** where the value comes from, or why the previous one is unknown */
  readonly remarks: readonly string[];
}

export type ShownDifference =
  /** only one side has a value */
  | { readonly as: 'added' | 'removed'; readonly value: ShownValue }
  | { readonly as: 'pair'; readonly before: ShownSide; readonly after: ShownSide }
  /** elements of a set, unordered */
  | {
      readonly as: 'elements';
      readonly added: readonly Element[];
      readonly removed: readonly Element[];
      readonly same: number;
    }
  /** lines of a text, or elements of a list, in order */
  | { readonly as: 'sequence'; readonly unit: 'line' | 'element'; readonly parts: readonly SequencePart[] };

/** One side of a pair: on one line, and as a value for when that line is too long. */
interface ShownSide {
  readonly inline: string;
  readonly value: ShownValue;
}

/** The lines of an element: several only for a multi-line text such as a PEM key. */
export type Element = readonly string[];

export interface SequencePart {
  readonly mark: 'added' | 'removed' | 'same';
  readonly lines: readonly string[];
  /** number of unchanged lines that follow and are left out */
  readonly omitted: number;
}

/** The views of one change: a single one, or, for a map that changes as a whole, one for each key that differs. */
export function fieldViews(given: FieldChange): FieldView[] {
  const change = withShownNames(given);
  const { before, after, shape } = change;
  if (shape === 'map' && isJsonObject(before) && isJsonObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => {
      const [was, becomes] = [ownMember(before, key), ownMember(after, key)];
      if (sameJson(was, becomes)) return [];
      return [view({ ...scalarChange(change), ...sides(was, becomes), path: [...change.path, key] })];
    });
  }
  return [view(change)];
}

/** Replaces each id that has a name by `name (id)`. A redacted value stays as it is. */
export function withShownNames({ names = [], ...change }: FieldChange): FieldChange {
  const side = (key: 'before' | 'after') => {
    const value = change[key];
    if (value === undefined || change.redacted?.[key] !== undefined) return {};
    return {
      [key]: names.reduce<Json>((into, { at, [key]: name }) => {
        const id = valueAt(into, at);
        if (name === undefined || typeof id !== 'string') return into;
        // The last parentheses are always those of the id.
        const text = `${name} (${id})`;
        return isJsonObject(into) ? withValueAt(into, at, text) : text;
      }, value),
    };
  };
  return names.length === 0 ? change : { ...change, ...side('before'), ...side('after') };
}

/** A path with dots; segments that are not plain words are quoted. */
export function formatPath(path: Path): string {
  return path
    .map((segment) => (/^[\w-]+$/.test(segment) ? segment : printable(JSON.stringify(segment))))
    .join('.');
}

function view(change: FieldChange): FieldView {
  const { unknown: reason, origin, redacted } = change;
  const hidden =
    redacted?.before !== undefined && redacted.after !== undefined ? 'two values with secrets' : undefined;
  const remarks = [reason, origin, hidden].filter((remark) => remark !== undefined).map(printable);
  return { name: formatPath(change.path), difference: differenceOf(change), remarks };
}

/** The change as a scalar, without its two values. */
function scalarChange({ path, origin, unknown: reason }: FieldChange) {
  return {
    path,
    shape: 'scalar' as const,
    ...(origin === undefined ? {} : { origin }),
    ...(reason === undefined ? {} : { unknown: reason }),
  };
}

function sides(before: Json | undefined, after: Json | undefined): Pick<FieldChange, 'before' | 'after'> {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function differenceOf(change: FieldChange): ShownDifference {
  const { before, after, shape, redacted = {} } = change;
  const [was, becomes] = [sideOf(before, shape, redacted.before), sideOf(after, shape, redacted.after)];
  if (change.unknown !== undefined && before === undefined)
    return { as: 'pair', before: wordSide(unknown), after: becomes };
  if (before === undefined && after !== undefined) return { as: 'added', value: becomes.value };
  if (after === undefined && before !== undefined) return { as: 'removed', value: was.value };
  return structuralDifference(change) ?? { as: 'pair', before: was, after: becomes };
}

/** One side of a change. A redacted value is shown without quotes, to distinguish it from a text that equals the placeholder. */
function sideOf(value: Json | undefined, shape: Shape, hash: string | undefined): ShownSide {
  return hash === undefined
    ? { inline: formatInline(value, shape), value: formatValue(value, shape) }
    : wordSide(secretPlaceholder);
}

function wordSide(text: string): ShownSide {
  return { inline: text, value: { as: 'word', text } };
}

/** The difference of two values of the same structure; undefined when showing both values whole is better. */
function structuralDifference(change: FieldChange): ShownDifference | undefined {
  const { before, after, shape, redacted } = change;
  if (redacted !== undefined || shape === 'secret' || shape === 'duration') return undefined;
  if (Array.isArray(before) && Array.isArray(after)) {
    return shape === 'set' ? elements(before, after) : inOrder(before, after);
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    return { as: 'sequence', unit: 'line', parts: sequence(jsonLines(before), jsonLines(after), 2) };
  }
  const text = [before, after].some((value) => value !== undefined && isMultiline(value));
  if (shape !== 'text' || !text) return undefined;
  return { as: 'sequence', unit: 'line', parts: sequence(linesOf(before), linesOf(after), 2) };
}

function linesOf(value: Json | undefined): string[] {
  return typeof value === 'string' && value !== '' ? textLines(value) : [];
}

function elements(before: readonly Json[], after: readonly Json[]): ShownDifference {
  const [was, becomes] = [new Set(before.map(canonicalText)), new Set(after.map(canonicalText))];
  const added = after.filter((item) => !was.has(canonicalText(item)));
  const removed = before.filter((item) => !becomes.has(canonicalText(item)));
  const same = after.length - added.length;
  return { as: 'elements', added: added.map(elementLines), removed: removed.map(elementLines), same };
}

function inOrder(before: readonly Json[], after: readonly Json[]): ShownDifference {
  if ([...before, ...after].some(isMultiline)) {
    const lines = sequence(before.flatMap(elementLines), after.flatMap(elementLines), 2);
    return { as: 'sequence', unit: 'line', parts: lines };
  }
  return { as: 'sequence', unit: 'element', parts: sequence(before.map(element), after.map(element), 1) };
}

function element(item: Json): string {
  return formatInline(item, 'scalar');
}

function elementLines(item: Json): Element {
  return isMultiline(item) ? textLines(String(item)) : [element(item)];
}

/** With more differing lines than this, a line diff takes too long and shows little. */
const maxEditLength = 2_000;

/** Removed, added and unchanged lines, in order; of unchanged ones only `context` lines around each difference. */
function sequence(before: string[], after: string[], context: number): SequencePart[] {
  const runs = diffArrays(before, after, { maxEditLength }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  return runs.flatMap(({ value, removed, added }, index) => {
    if (removed || added)
      return { mark: removed ? ('removed' as const) : ('added' as const), lines: value, omitted: 0 };
    const head = index === 0 ? 0 : context;
    const tail = index === runs.length - 1 ? 0 : context;
    return unchangedParts(value, head, tail);
  });
}

function unchangedParts(lines: readonly string[], head: number, tail: number): SequencePart[] {
  const omitted = lines.length - head - tail;
  if (omitted <= 1) return [{ mark: 'same', lines, omitted: 0 }];
  return [
    { mark: 'same', lines: lines.slice(0, head), omitted },
    { mark: 'same', lines: lines.slice(lines.length - tail), omitted: 0 },
  ];
}

// A difference as lines, each after its mark: `-` removed, `+` added, a space for the rest. All text is printable.

export function differenceLines(difference: ShownDifference): string[] {
  switch (difference.as) {
    case 'added':
      return marked('+', valueLines(difference.value));
    case 'removed':
      return marked('-', valueLines(difference.value));
    case 'pair':
      return [
        ...marked('-', valueLines(difference.before.value)),
        ...marked('+', valueLines(difference.after.value)),
      ];
    case 'elements': {
      const { added, removed, same } = difference;
      const rest = same === 0 ? [] : [`  ${same} the same`];
      return [...marked('-', removed.flat()), ...marked('+', added.flat()), ...rest];
    }
    case 'sequence':
      return difference.parts.flatMap(partLines);
  }
}

/** The value alone, one part per line. */
export function valueLines(value: ShownValue): readonly string[] {
  if (value.as === 'word') return [value.text];
  return value.as === 'items' ? value.items : value.lines;
}

const marks: Readonly<Record<SequencePart['mark'], string>> = { added: '+', removed: '-', same: ' ' };

function partLines({ mark, lines, omitted }: SequencePart): string[] {
  const left = omitted === 0 ? [] : [`  ... ${omitted} the same`];
  return [...marked(marks[mark], lines), ...left];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${mark} ${line}`);
}
