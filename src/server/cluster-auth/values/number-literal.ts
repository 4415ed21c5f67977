/** Numbers that keep the digits they came with (wire/cluster-auth 2.4). */

/** A number of a body, as it was written: `1.50` and `1.5` are two texts. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): number {
    return Number(this.text);
  }
}
