/** Terminal output with colours as an SVG image: the text stays text, so that it can be selected and searched. */
import { stripVTControlCharacters } from 'node:util';

interface Look {
  readonly colour: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isUnderlined: boolean;
}

const plain: Look = { colour: '#e6edf3', isBold: false, isDim: false, isUnderlined: false };

/** By the number of the escape sequence. */
const colours: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
  39: plain.colour,
};

/** The beginning of an escape sequence that sets a colour; `m` ends it. */
const escapeSequence = '\u001b[';

const cell = { width: 8.43, height: 19 };
const margin = 18;
const bar = 34;

/** @param command the command line, shown before the output */
export function terminalSvg(command: string, output: string): string {
  const lines = [`\u001b[32m$\u001b[39m \u001b[1m${command}\u001b[22m`, '', ...output.trimEnd().split('\n')];
  const columns = Math.max(...lines.map((line) => [...stripVTControlCharacters(line)].length));
  const width = Math.ceil(columns * cell.width) + 2 * margin;
  const height = lines.length * cell.height + bar + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>Output of ${escapeXml(command)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `<circle cx="${20 + index * 18}" cy="18" r="5.5" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${plain.colour}">`,
    ...svgLines(lines),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The text of such an image, line by line, with the command in the first one. */
export function textOfSvg(svg: string): string {
  const lines = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = '']) => line);
  return lines
    .map((line) => line.replaceAll(/<[^>]*>/g, ''))
    .map((line) => line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
    .join('\n');
}

function svgLines(lines: readonly string[]): string[] {
  let look = plain;
  return lines.map((line, index) => {
    const y = bar + (index + 1) * cell.height - 5;
    const [first = '', ...others] = line.split(escapeSequence);
    const parts = others.map((part) => {
      const end = part.indexOf('m');
      look = part.slice(0, end).split(';').map(Number).reduce(after, look);
      return styled(part.slice(end + 1), look);
    });
    return `<text x="${margin}" y="${y}" xml:space="preserve">${escapeXml(first)}${parts.join('')}</text>`;
  });
}

function after(look: Look, code: number): Look {
  if (code === 0) return plain;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isDim: true };
  if (code === 22) return { ...look, isBold: false, isDim: false };
  if (code === 4 || code === 24) return { ...look, isUnderlined: code === 4 };
  const colour = colours[code];
  if (colour === undefined) throw new Error(`the picture does not know the escape sequence ${code}`);
  return { ...look, colour };
}

function styled(text: string, look: Look): string {
  if (text === '') return '';
  const attributes = [
    look.colour === plain.colour ? '' : ` fill="${look.colour}"`,
    look.isBold ? ' font-weight="bold"' : '',
    look.isDim ? ' opacity="0.65"' : '',
    look.isUnderlined ? ' text-decoration="underline"' : '',
  ].join('');
  return attributes === '' ? escapeXml(text) : `<tspan${attributes}>${escapeXml(text)}</tspan>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
