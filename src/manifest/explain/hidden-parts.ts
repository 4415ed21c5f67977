/**
 * The parts of a text that no excerpt shows: what stands in places for addresses and secrets, in whatever shape, over as many
 * lines as it takes, and what an alias there stands for. A text that can be parsed is judged by its nodes; of one that
 * cannot, all is hidden that might belong to such a place.
 */
import { EVENT_ID, type Event, getScalarValue, parseEvents, YAMLException } from 'js-yaml';
import { anchorOf, type EventRange, itemsOf, keyText, pairsOf, type Span, spanOf } from '../yaml/locate.ts';
import { hiddenRegions } from '../hidden-regions.ts';
import type { SecretNames } from '../secret-names.ts';

export interface HiddenParts {
  /** sorted by where they begin */
  readonly spans: readonly Span[];
  /** the texts that stand there: an alias may bring one of them elsewhere */
  readonly values: readonly string[];
}

const nothing: HiddenParts = { spans: [], values: [] };

export function findHidden(text: string, names: SecretNames): HiddenParts {
  if (!mayHide(text, names)) return nothing;
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { spans: hiddenRegions(text, names), values: [] };
  }
  const finder = new Finder(text, names);
  for (const [index, event] of events.entries())
    if (event.type === EVENT_ID.DOCUMENT) finder.walk({ text, events, first: index + 1 }, index + 1);
  return { spans: finder.spans.sort((a, b) => a.start - b.start), values: [...finder.values] };
}

/** Nearly no manifest does. A key may be written with escapes. */
function mayHide(text: string, names: SecretNames): boolean {
  if (/\\[uxU]/.test(text)) return true;
  for (const [word] of text.matchAll(/[A-Za-z][\w-]*/g)) if (names.hides(word)) return true;
  return false;
}

class Finder {
  readonly spans: Span[] = [];
  readonly values = new Set<string>();
  readonly #text: string;
  readonly #names: SecretNames;
  /** nodes that are hidden already: an alias may lead to what it stands in */
  readonly #seen = new Set<number>();

  constructor(text: string, names: SecretNames) {
    this.#text = text;
    this.#names = names;
  }

  /** Looks for places of addresses and secrets. */
  walk(range: EventRange, at: number): void {
    const type = range.events[at]?.type;
    if (type === EVENT_ID.SEQUENCE) for (const item of itemsOf(range, at)) this.walk(range, item);
    if (type === EVENT_ID.SCALAR && this.#holdsFields(range, at)) this.#hideScalar(range, at, '');
    if (type !== EVENT_ID.MAPPING) return;
    for (const { key, value } of pairsOf(range, at)) {
      const name = keyText(range, key);
      if (name !== undefined && this.#names.hides(name)) this.#hide(range, value, name);
      else if (name !== undefined && this.#holdsColon(name)) this.#hideScalar(range, key, '');
      else {
        this.walk(range, key);
        this.walk(range, value);
      }
    }
  }

  /** A field and its value became one key: the colon lacks its space. */
  #holdsColon(key: string): boolean {
    const name = /^([A-Za-z][\w-]*)\s*[:=]/.exec(key)?.[1];
    return name !== undefined && this.#names.hides(name);
  }

  /** Fields became a text, for none of them has a colon with a space: `token= …`, on whatever line of it. */
  #holdsFields(range: EventRange, at: number): boolean {
    const { start, end } = spanOf(range, at) ?? { start: 0, end: 0 };
    const lines = this.#text.slice(start, end).split('\n');
    return lines.some((line) => this.#holdsColon(line.replace(/^[\s"'|>-]*/, '')));
  }

  /** @param name of the field that it stands in */
  #hide(range: EventRange, at: number, name: string): void {
    const event = range.events[at];
    if (event === undefined || this.#seen.has(at)) return;
    this.#seen.add(at);
    this.#hideProperties(event);
    if (event.type === EVENT_ID.SEQUENCE)
      for (const item of itemsOf(range, at)) this.#hide(range, item, name);
    if (event.type === EVENT_ID.MAPPING) this.#hideMap(range, at);
    if (event.type === EVENT_ID.SCALAR) this.#hideScalar(range, at, name);
    if (event.type !== EVENT_ID.ALIAS) return;
    this.#add(spanOf(range, at));
    const target = anchorOf(range, at, this.#text.slice(event.anchorStart, event.anchorEnd));
    if (target !== undefined) this.#hide(range, target, name);
  }

  #hideMap(range: EventRange, at: number): void {
    for (const { key, value } of pairsOf(range, at)) {
      const field = keyText(range, key);
      if (field === undefined || !this.#names.isField(field)) this.#hide(range, key, '');
      // What a message has to name is a word, and has a value.
      if (field !== undefined && isPlainName(field) && keyText(range, value) !== '')
        this.values.delete(field);
      this.#hide(range, value, field ?? '');
    }
  }

  #hideScalar(range: EventRange, at: number, name: string): void {
    const event = range.events[at];
    if (event?.type !== EVENT_ID.SCALAR) return;
    const value = getScalarValue(range.text, event);
    if (value === '' || isPlain(name, value)) return;
    this.#add(spanOf(range, at));
    this.values.add(value);
  }

  /** A tag or an anchor stands in the place of the value as well. */
  #hideProperties(event: Event): void {
    if (!('tagStart' in event)) return;
    if (event.tagStart !== -1) this.#add({ start: event.tagStart, end: event.tagEnd });
    if (event.anchorStart !== -1) this.#add({ start: event.anchorStart, end: event.anchorEnd });
  }

  #add(span: Span | undefined): void {
    if (span !== undefined) this.spans.push(span);
  }
}

/** Whether a key is a word; what is none, or has no value as in `{ s3cr3t }`, may be the secret itself. */
export function isPlainName(name: string): boolean {
  return /^[a-z][a-z_-]{0,30}$/i.test(name);
}

/** What can be no secret where it stands, by its form: the name of a variable, an address without anything behind the host. */
const plainForms: Readonly<Record<string, RegExp>> = {
  env: /^[A-Z_][A-Z0-9_]*$/,
  version: /^\d{1,6}$/,
  url: /^(?:embedded|https?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/?)$/,
  ledger: /^(?:local|git|postgres)$/,
};

function isPlain(name: string, value: string): boolean {
  return plainForms[name]?.test(value) ?? false;
}
