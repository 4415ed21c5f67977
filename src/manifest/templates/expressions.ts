/** The expressions in the texts of a template: `${each.key}`, and `$${` for the two characters themselves. Nothing is computed. */

/** `${each.value.team}`; the path is what follows `each`. */
export interface Expression {
  readonly path: readonly string[];
}

/** The parts of a text in order: plain texts, and expressions. */
export type TextParts = readonly (string | Expression)[];

/** Why a text is not valid. */
interface WrongExpression {
  /** as written */
  readonly wrong: string;
}

const marker = '${';
const parts = /\$\$\{|\$\{([^}]*)(\}?)/g;
const valid = /^\s*each((?:\.[\w-]+)+)\s*$/;

/** @returns undefined for a text without expressions and `$${` */
export function parseText(text: string): TextParts | WrongExpression | undefined {
  if (!text.includes(marker)) return undefined;
  const found: (string | Expression)[] = [];
  let plain = '';
  let at = 0;
  for (const match of text.matchAll(parts)) {
    const [written, inside, closing] = match;
    plain += text.slice(at, match.index);
    at = match.index + written.length;
    if (inside === undefined) {
      plain += marker;
      continue;
    }
    const path = closing === '' ? undefined : valid.exec(inside)?.[1];
    if (path === undefined) return { wrong: written };
    if (plain !== '') found.push(plain);
    plain = '';
    found.push({ path: path.slice(1).split('.') });
  }
  plain += text.slice(at);
  return plain === '' ? found : [...found, plain];
}

/** Whether a text may hold an expression; cheap. */
export function mayHoldExpression(text: string): boolean {
  return text.includes(marker);
}

/** As it is written. */
export function expressionText({ path }: Expression): string {
  return `${marker}${['each', ...path].join('.')}}`;
}
