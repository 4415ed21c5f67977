/**
 * `npm run reference`: writes the pages of docs/reference from the source. `--check` writes nothing and exits 1 when a page is not
 * what would be written.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commandsPage } from './reference/commands.ts';
import { environmentPage } from './reference/environment.ts';
import { errorsPage } from './reference/errors.ts';
import { exitCodesPage } from './reference/exit-codes.ts';
import { filesPage } from './reference/files.ts';
import { guardsPage } from './reference/guards.ts';
import { manifestsPage } from './reference/manifests.ts';

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url));

/** What each file of docs/reference must hold. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['commands.md', await commandsPage()],
    ['environment.md', environmentPage()],
    ['errors.md', errorsPage()],
    ['exit-codes.md', exitCodesPage()],
    ['files.md', filesPage()],
    ['guards.md', guardsPage()],
    ['manifests.md', manifestsPage()],
  ]);
}

async function stalePages(wanted: ReadonlyMap<string, string>): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const present = await readdir(folder);
  const changed = await Promise.all(
    [...wanted].map(async ([file, text]) =>
      present.includes(file) && (await readFile(`${folder}${file}`, 'utf8')) === text ? [] : [file],
    ),
  );
  return [...present.filter((file) => !wanted.has(file)), ...changed.flat()].sort();
}

async function main(): Promise<void> {
  const wanted = await referencePages();
  const stale = await stalePages(wanted);
  if (process.argv.includes('--check')) {
    for (const file of stale) console.error(`docs/reference/${file} is not fresh: run "npm run reference"`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  for (const file of stale) {
    const text = wanted.get(file);
    if (text === undefined) await rm(`${folder}${file}`);
    else await writeFile(`${folder}${file}`, text);
    console.log(`${text === undefined ? 'removed' : 'wrote'} docs/reference/${file}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
