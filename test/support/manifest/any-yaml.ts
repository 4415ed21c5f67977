/**
 * Random YAML in all styles that people write: indentation, quotes, flow style on one or several lines, block texts with `|` and `>`,
 * anchors and aliases, tags, empty lines, and numbered comments in all possible places.
 */
import { isJsonObject, type Json } from '../../../src/model/json.ts';

export interface AnyYaml {
  readonly text: string;
  readonly comments: readonly string[];
}

/** @param choose returns a number below its argument */
export function writeAnyYaml(documents: readonly Json[], choose: (below: number) => number): AnyYaml {
  const writer = new Writer(choose);
  for (const [index, document] of documents.entries()) writer.document(document, index);
  const { lines, comments } = writer;
  return { text: `${lines.join('\n')}\n`, comments };
}

class Writer {
  readonly lines: string[] = [];
  readonly comments: string[] = [];
  readonly #choose: (below: number) => number;
  /** anchors of values that are already written */
  #anchors: string[] = [];
  #names = 0;

  constructor(choose: (below: number) => number) {
    this.#choose = choose;
  }

  document(value: Json, index: number): void {
    this.#anchors = [];
    this.#linesAbove(0);
    if (index > 0 || this.#choose(3) === 0) this.lines.push(`---${this.#commentBeside()}`);
    this.#linesAbove(0);
    this.#block(value, 0);
    if (this.#choose(5) === 0) this.lines.push(`...${this.#commentBeside()}`);
  }

  /** A map or a list that is not empty, in block style. */
  #block(value: Json, indent: number): void {
    const entries: readonly (readonly [string | undefined, Json])[] = isJsonObject(value)
      ? Object.entries(value)
      : (value as readonly Json[]).map((item) => [undefined, item] as const);
    for (const [index, [key, member]] of entries.entries()) {
      if (index > 0) this.#linesAbove(indent);
      this.#entry(key === undefined ? '-' : `${this.#word(key, true)}:`, member, indent);
    }
    if (this.#choose(4) === 0) this.#comment(indent + this.#choose(2) * this.#choose(3));
  }

  #entry(head: string, value: Json, indent: number): void {
    const name = this.#choose(8) === 0 ? `a${this.#names++}x` : undefined;
    this.#value(
      ' '.repeat(indent) + head,
      { value, head, anchor: name === undefined ? '' : ` &${name}` },
      indent,
    );
    if (name !== undefined) this.#anchors.push(name);
  }

  #value(
    lead: string,
    { value, head, anchor }: { readonly value: Json; readonly head: string; readonly anchor: string },
    indent: number,
  ): void {
    const isFull = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    const start = lead + anchor;
    if (isFull && this.#choose(3) > 0) this.#below(start, { value, head, isNamed: anchor !== '' }, indent);
    else if (isFull && this.#choose(2) === 0) this.#flow(`${start} `, value, indent);
    else if (typeof value === 'string' && this.#asText(start, value, indent)) return;
    else if (anchor === '' && this.#anchors.length > 0 && this.#choose(6) === 0)
      this.lines.push(
        `${lead} *${this.#anchors[this.#choose(this.#anchors.length)]}${this.#commentBeside()}`,
      );
    else {
      const gap = ' '.repeat(1 + this.#choose(3));
      this.lines.push(`${start}${gap}${this.#inline(value, false)}${this.#commentBeside()}`);
    }
  }

  #below(
    start: string,
    { value, head, isNamed }: { readonly value: Json; readonly head: string; readonly isNamed: boolean },
    indent: number,
  ): void {
    if (head === '-' && !isNamed && this.#choose(2) === 0) {
      this.#compact(start, value, indent);
      return;
    }
    const inner = Array.isArray(value) && head !== '-' ? this.#choose(4) : 1 + this.#choose(4);
    this.lines.push(start + this.#commentBeside());
    this.#linesAbove(indent + inner);
    this.#block(value, indent + inner);
  }

  /** `- key: value` */
  #compact(lead: string, value: Json, indent: number): void {
    const gap = 1 + this.#choose(3);
    const from = this.lines.length;
    this.#block(value, indent + 1 + gap);
    this.lines[from] = lead + ' '.repeat(gap) + (this.lines[from] ?? '').trimStart();
  }

  #flow(lead: string, value: Json, indent: number): void {
    const isList = Array.isArray(value);
    const parts = isList
      ? value.map((item: Json) => this.#inline(item, true))
      : Object.entries(isJsonObject(value) ? value : {}).map(
          ([key, member]) => `${this.#word(key, true)}: ${this.#inline(member, true)}`,
        );
    const pad = ' '.repeat(indent + 1 + this.#choose(4));
    this.lines.push(lead + (isList ? '[' : '{') + this.#commentBeside());
    for (const [index, part] of parts.entries()) {
      if (this.#choose(5) === 0) this.#comment(indent + 2);
      this.lines.push(`${pad}${part}${index === parts.length - 1 ? '' : ','}${this.#commentBeside()}`);
    }
    this.lines.push(pad + (isList ? ']' : '}') + this.#commentBeside());
  }

  /** Writes a text as a block with `|` or `>`. @returns false if it must be written otherwise */
  #asText(lead: string, value: string, indent: number): boolean {
    if (!/[^\n]\n/.test(value) || !/^[ -~\n]*$/.test(value) || this.#choose(4) === 0) return false;
    const pad = 1 + this.#choose(4);
    const ends = /\n*$/.exec(value)?.[0].length ?? 0;
    const chomp = ends === 0 ? '-' : ends === 1 ? '' : '+';
    const digit = /^[ \n]/.test(value) ? String(pad) : '';
    const body = (ends === 0 ? value : value.slice(0, -1)).split('\n');
    const isFolded = digit === '' && body.length < 4 && !/\n\s|\n\n/.test(value) && this.#choose(3) === 0;
    const lines = isFolded ? body.flatMap((line, index) => (index === 0 ? [line] : ['', line])) : body;
    this.lines.push(`${lead} ${isFolded ? '>' : '|'}${digit}${chomp}${this.#commentBeside()}`);
    for (const line of lines) this.lines.push(line === '' ? '' : ' '.repeat(indent + pad) + line);
    return true;
  }

  #inline(value: Json, flow: boolean): string {
    if (typeof value === 'string') return this.#word(value, flow);
    if (Array.isArray(value)) {
      const [open, close] = this.#choose(2) === 0 ? ['[', ']'] : ['[ ', ' ]'];
      return open + value.map((item: Json) => this.#inline(item, true)).join(', ') + close;
    }
    if (!isJsonObject(value))
      return value === null ? (['null', '~', 'Null'][this.#choose(3)] ?? '') : String(value);
    const members = Object.entries(value).map(
      ([key, member]) => `${this.#word(key, true)}: ${this.#inline(member, true)}`,
    );
    return `{${members.join(' , ')}}`;
  }

  #word(value: string, flow: boolean): string {
    const style = this.#choose(4);
    const isPlain =
      /^[a-z][\w/.-]*( [\w/.-]+)*$/i.test(value) && !/^(null|true|false|yes|on|nan|inf)$/i.test(value);
    if (style < 2 && isPlain) return value;
    if (style === 2 && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
    const tag = !flow && this.#choose(9) === 0 ? '!!str ' : '';
    return tag + JSON.stringify(value);
  }

  #linesAbove(indent: number): void {
    for (let count = this.#choose(3); count > 0; count--)
      if (this.#choose(2) === 0) this.lines.push('');
      else this.#comment(this.#choose(6) === 0 ? this.#choose(9) : indent);
  }

  #comment(indent: number): void {
    this.lines.push(' '.repeat(indent) + this.#nextComment());
  }

  #commentBeside(): string {
    return this.#choose(4) === 0 ? ' '.repeat(1 + this.#choose(3)) + this.#nextComment() : '';
  }

  #nextComment(): string {
    const comment = `# comment ${this.comments.length} of it`;
    this.comments.push(comment);
    return comment;
  }
}
