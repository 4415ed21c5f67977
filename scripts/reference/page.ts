/** Shared parts of the pages of docs/reference: their first line, and Markdown of texts and values. */
import { stringify } from 'yaml';
import { dumpYaml } from '../../src/manifest/yaml/write-manifests.ts';
import type { Json } from '../../src/model/json.ts';

/** The first line of a page. @param source where its facts are */
export function header(source: string): string {
  return `<!-- Written by "npm run reference" from ${source}: change it there. -->`;
}

/** Words in double quotes, as messages have them, and names of environment variables become code: they are what users type. */
export function withCode(text: string): string {
  return text.replaceAll(
    /"([^"\s][^"]*)"|\b([A-Z]+(?:_[A-Z0-9]+)+)\b/g,
    (_, words, name) => `\`${words ?? name}\``,
  );
}

/** Escapes characters that have a meaning in Markdown or in a cell of a table. */
export function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`')
        ? part.replaceAll('|', '\\|')
        : part.replaceAll(/[<>*_|]/g, (found) => `\\${found}`),
    )
    .join('');
}

/** In the form of `trueup fmt`. */
export function yamlBlock(value: Json): string {
  return `\`\`\`yaml\n${dumpYaml(value, { lineWidth: -1, noRefs: true }).trimEnd()}\n\`\`\``;
}

export function yamlLine(value: Json): string {
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

/** @param rows cells of Markdown */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
    .replaceAll('| --- ', '|---')
    .replaceAll('--- |', '---|');
}

/** Blocks with an empty line between them. */
export function blocks(...parts: readonly (string | readonly string[])[]): string {
  return `${parts.flat().filter(Boolean).join('\n\n')}\n`;
}

/** The first sentence, without its full stop: a cell of a table. */
export function firstSentence(text: string): string {
  return (/^.*?\.(?= )/.exec(text)?.[0] ?? text).replace(/\.$/, '');
}

/** As code forges make anchors of headings. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
