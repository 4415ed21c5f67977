/** CSV as in RFC 4180. A cell that a spreadsheet would run as a formula gets a quote in front. */

export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const safe = /^[\s]*[=+\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? ['"', safe.replaceAll('"', '""'), '"'].join('') : safe;
}
