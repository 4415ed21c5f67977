/**
 * Writes `src/report/html/page.json`: the script and the style of HTML reports, each as one text for a report. So reports are the
 * same from source and from the package. `--check` writes nothing and exits 1 when the file is not what would be written.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const folder = fileURLToPath(new URL('../src/report/html/page', import.meta.url));
const written = `${folder}.json`;

/** The text that `page.json` must hold. @param sources the folder of the page's sources */
export async function pageFile(sources: string): Promise<string> {
  const [style, script] = await Promise.all([styleOf(`${sources}/style`), scriptOf(`${sources}/main.ts`)]);
  return `${JSON.stringify({ style, script }, null, 2)}\n`;
}

/** Later files override earlier ones, so the rules for narrow windows and for print come last. */
const sheets = ['theme', 'base', 'head', 'risks', 'table', 'details', 'graph', 'narrow', 'print'];

/** The style without comments and layout. The style sheets have no text in which white space counts. */
async function styleOf(folder: string): Promise<string> {
  const texts = await Promise.all(sheets.map((name) => readFile(`${folder}/${name}.css`, 'utf8')));
  return texts
    .join('\n')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .trim();
}

async function scriptOf(input: string): Promise<string> {
  const build = await rolldown({
    input,
    platform: 'browser',
    // On a busy machine the bundler warns that plugins take long.
    checks: { bundlerTimings: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  const script = output[0].code.trim();
  // The script is inside a script element, so nothing in it may end that element.
  if (/<\/script|<script|<!--/i.test(script)) throw new Error('the script of the page would end its element');
  return script;
}

async function main(): Promise<void> {
  const wanted = await pageFile(folder);
  const isFresh = (await readFile(written, 'utf8').catch(() => '')) === wanted;
  if (process.argv.includes('--check')) {
    if (!isFresh) console.error('src/report/html/page.json is not fresh: run "npm run page"');
    process.exitCode = isFresh ? 0 : 1;
  } else if (!isFresh) {
    await writeFile(written, wanted);
    console.log(`wrote src/report/html/page.json, ${Math.ceil(wanted.length / 1024)} kB`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
