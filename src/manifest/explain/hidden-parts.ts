/**
 * Finds the parts of a text that no excerpt may show: the values of fields for addresses and secrets, in any shape and over any
 * number of lines, the values of aliases there, and private keys wherever they stand. In a text that can be parsed they are YAML nodes; in any other text
 * everything is hidden that might belong to such a field.
 */
import { EVENT_ID, type Event, getScalarValue, parseEvents, YAMLException } from 'js-yaml';
import { holdsPrivateKey, privateKeyParts } from '../../model/private-key.ts';
import { anchorOf, type EventRange, itemsOf, keyText, pairsOf, type Span, spanOf } from '../yaml/locate.ts';
import { hiddenRegions } from '../hidden-regions.ts';
import type { SecretNames } from '../secret-names.ts';

export interface HiddenParts {
  /** sorted by where they begin */
  readonly spans: readonly Span[];
  /** the texts in the hidden parts; an alias may repeat them elsewhere */
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
    return { spans: sorted([...hiddenRegions(text, names), ...privateKeyParts(text)]), values: [] };
  }
  const finder = new Finder(text, names);
  for (const [index, event] of events.entries())
    if (event.type === EVENT_ID.DOCUMENT) finder.walk({ text, events, first: index + 1 }, index + 1);
  // The text itself is searched, too: a private key may stand in a comment.
  return { spans: sorted([...finder.spans, ...privateKeyParts(text)]), values: [...finder.values] };
}

function sorted(spans: readonly Span[]): Span[] {
  return spans.toSorted((a, b) => a.start - b.start);
}

/** A quick check, because nearly no manifest hides anything. A text with escapes is searched, because they may spell a name or a key. */
function mayHide(text: string, names: SecretNames): boolean {
  if (/\\[uxU\r\n]|PRIVATE/.test(text)) return true;
  for (const [word] of text.matchAll(/[A-Za-z][\w-]*/g)) if (names.hides(word)) return true;
  return false;
}

class Finder {
  readonly spans: Span[] = [];
  readonly values = new Set<string>();
  readonly #text: string;
  readonly #names: SecretNames;
  /** nodes that are hidden already; prevents endless recursion when an alias refers to a node around it */
  readonly #seen = new Set<number>();

  constructor(text: string, names: SecretNames) {
    this.#text = text;
    this.#names = names;
  }

  /** Searches a node for fields of addresses and secrets. */
  walk(range: EventRange, at: number): void {
    const type = range.events[at]?.type;
    if (type === EVENT_ID.SEQUENCE) for (const item of itemsOf(range, at)) this.walk(range, item);
    if (type === EVENT_ID.SCALAR && this.#holdsSecret(range, at)) this.#hideScalar(range, at, '');
    if (type !== EVENT_ID.MAPPING) return;
    for (const { key, value } of pairsOf(range, at)) {
      const name = keyText(range, key);
      if (name !== undefined && this.#names.hides(name)) this.#hide(range, value, name);
      else if (name !== undefined && this.#isSecretKey(name)) this.#hideScalar(range, key, '');
      else {
        this.walk(range, key);
        this.walk(range, value);
      }
    }
  }

  #isSecretKey(key: string): boolean {
    return this.#holdsColon(key) || holdsPrivateKey(key);
  }

  #holdsSecret(range: EventRange, at: number): boolean {
    return this.#holdsFields(range, at) || isPrivateKey(range, at);
  }

  /** Whether a key holds a whole field, such as `token:abc`, because the space behind the colon is missing. */
  #holdsColon(key: string): boolean {
    const name = /^([A-Za-z][\w-]*)\s*[:=]/.exec(key)?.[1];
    return name !== undefined && this.#names.hides(name);
  }

  /** Whether a line of a scalar holds a field that YAML did not see as one, such as `token= …`, without colon and space. */
  #holdsFields(range: EventRange, at: number): boolean {
    const { start, end } = spanOf(range, at) ?? { start: 0, end: 0 };
    const lines = this.#text.slice(start, end).split('\n');
    return lines.some((line) => this.#holdsColon(line.replace(/^[\s"'|>-]*/, '')));
  }

  /** @param name the name of the field that holds the node */
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
      // Messages must be able to name a field, and a plain name with a value is a field.
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

  /** Hides the tag and the anchor of a node too: users may have written the secret there. */
  #hideProperties(event: Event): void {
    if (!('tagStart' in event)) return;
    if (event.tagStart !== -1) this.#add({ start: event.tagStart, end: event.tagEnd });
    if (event.anchorStart !== -1) this.#add({ start: event.anchorStart, end: event.anchorEnd });
  }

  #add(span: Span | undefined): void {
    if (span !== undefined) this.spans.push(span);
  }
}

/** Whether a scalar holds a private key, however it is written. */
function isPrivateKey(range: EventRange, at: number): boolean {
  return holdsPrivateKey(keyText(range, at) ?? '');
}

/** Whether a key is a plain word. Any other key, or a key without a value as in `{ s3cr3t }`, may be the secret itself. */
export function isPlainName(name: string): boolean {
  return /^[a-z][a-z_-]{0,30}$/i.test(name);
}

/** By field, the form of values that cannot be secrets: the name of a variable, an address that ends with the host. */
const plainForms: Readonly<Record<string, RegExp>> = {
  env: /^[A-Z_][A-Z0-9_]*$/,
  version: /^\d{1,6}$/,
  url: /^(?:embedded|https?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/?)$/,
  ledger: /^(?:local|git|postgres)$/,
};

function isPlain(name: string, value: string): boolean {
  return plainForms[name]?.test(value) ?? false;
}
