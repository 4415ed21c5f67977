/** YAML as people write it: one value in random styles, with comments above and beside its lines. */
import { dump } from 'js-yaml';
import { isJsonObject, type Json, type JsonObject } from '../../../src/model/json.ts';

/** A line of the text, and the value that it belongs to. */
export interface HandLine {
  readonly text: string;
  /** the member or item on the line, or below the comment; for an empty line the map or list around it */
  readonly path: readonly string[];
  readonly is: 'value' | 'head' | 'comment' | 'empty';
}

/** @param choose returns a number below its argument */
export function writeByHand(spec: JsonObject, choose: (below: number) => number): HandLine[] {
  const hand = new Hand(choose);
  hand.map(spec, [], 2);
  return hand.lines;
}

class Hand {
  readonly lines: HandLine[] = [];
  readonly #choose: (below: number) => number;

  constructor(choose: (below: number) => number) {
    this.#choose = choose;
  }

  map(map: JsonObject, path: readonly string[], indent: number): void {
    for (const [key, value] of Object.entries(map)) {
      this.#lineAbove(path, key, indent);
      this.#entry({ lead: `${' '.repeat(indent)}${inline(key)}:`, value, path: [...path, key] }, indent);
    }
  }

  list(items: readonly Json[], path: readonly string[], indent: number): void {
    for (const item of items) {
      this.#lineAbove(path, JSON.stringify(item), indent);
      const lead = `${' '.repeat(indent)}-`;
      this.#add(
        `${lead} ${this.#scalar(item)}${this.#commentBeside()}`,
        [...path, JSON.stringify(item)],
        'value',
      );
    }
  }

  #entry(
    { lead, value, path }: { lead: string; value: Json; path: readonly string[] },
    indent: number,
  ): void {
    const isMap = isJsonObject(value) && Object.keys(value).length > 0;
    const isList = Array.isArray(value) && value.length > 0;
    const remark = this.#commentBeside();
    if (this.#asBlock({ lead, value, path, remark }, indent)) return;
    if (!isMap && !isList) this.#add(`${lead} ${this.#scalar(value)}${remark}`, path, 'value');
    else if (this.#choose(4) === 0) this.#add(`${lead} ${inline(value)}${remark}`, path, 'value');
    else {
      this.#add(`${lead}${remark}`, path, 'head');
      if (isMap) this.map(value, path, indent + 2);
      if (isList) this.list(value, path, indent + 2 * this.#choose(2));
    }
  }

  /** Writes a text of several lines as a block. @returns false if it must be written otherwise */
  #asBlock(
    about: { lead: string; value: Json; path: readonly string[]; remark: string },
    indent: number,
  ): boolean {
    const { lead, value, path, remark } = about;
    if (typeof value !== 'string' || !/[^\n]\n/.test(value) || value.startsWith(' ')) return false;
    const [first = '', ...more] = dump({ k: value }, { lineWidth: -1 }).trimEnd().split('\n');
    if (this.#choose(3) === 0 || !/^k: \|-?$/.test(first)) return false;
    this.#add(`${lead} ${first.slice(3)}${remark}`, path, 'value');
    for (const line of more) this.#add(line === '' ? '' : ' '.repeat(indent) + line, path, 'value');
    return true;
  }

  #lineAbove(around: readonly string[], name: string, indent: number): void {
    const what = this.#choose(6);
    if (what === 0) this.#add('', around, 'empty');
    if (what === 1)
      this.#add(`${' '.repeat(indent)}# aside ${this.lines.length}`, [...around, name], 'comment');
  }

  #commentBeside(): string {
    return this.#choose(3) === 0 ? '' : `${' '.repeat(1 + this.#choose(3))}# beside ${this.lines.length}`;
  }

  #scalar(value: Json): string {
    if (typeof value !== 'string') return inline(value);
    const style = this.#choose(3);
    if (style === 0 || /[^ -~]/.test(value)) return JSON.stringify(value);
    return style === 1 ? `'${value.replaceAll("'", "''")}'` : inline(value);
  }

  #add(text: string, path: readonly string[], is: HandLine['is']): void {
    this.lines.push({ text, path, is });
  }
}

function inline(value: Json): string {
  return dump([value], { flowLevel: 0, lineWidth: -1 }).trimEnd().slice(1, -1);
}
