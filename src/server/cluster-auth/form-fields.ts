/**
 * Forms and queries, read as the service's library reads them (wire/cluster-auth 2.1).
 * Invariant: a pair with a `;` or a broken escape is no pair. In a query it is left out; a form with one is refused.
 */

/** What a text of pairs holds. */
interface FormFields {
  /** A name that occurs more than once has a list. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether a pair could not be read. */
  readonly isBroken: boolean;
}

/** Reads `a=b&c=d`. */
export function readForm(text: string): FormFields {
  const byName = new Map<string, string[]>();
  let isBroken = false;
  for (const pair of text.split('&')) {
    const [name, value] = readPair(pair);
    if (name === undefined || value === undefined) isBroken = true;
    else if (pair !== '') byName.set(name, [...(byName.get(name) ?? []), value]);
  }
  const fields = [...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return { fields: Object.fromEntries(fields), isBroken };
}

function readPair(pair: string): readonly (string | undefined)[] {
  if (pair.includes(';')) return [];
  const equals = pair.indexOf('=');
  return equals < 0
    ? [unescaped(pair), '']
    : [unescaped(pair.slice(0, equals)), unescaped(pair.slice(equals + 1))];
}

/** Undefined for a `%` without two digits behind it. Bytes that are not UTF-8 become replacement characters. */
function unescaped(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  const bytes = text
    .replaceAll('+', ' ')
    .split(/(%[\da-f]{2})/i)
    .map((piece, at) => (at % 2 === 0 ? Buffer.from(piece) : Buffer.from(piece.slice(1), 'hex')));
  return Buffer.concat(bytes).toString('utf8');
}
