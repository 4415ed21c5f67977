/** Copies an example into a temporary folder, without files of earlier runs; the copy is removed at the end of the test. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export const examples = new URL('../../../examples/', import.meta.url).pathname;

/** The path of the copy. */
export async function copyExample(name: string): Promise<string> {
  const directory = temporaryFolder();
  const filter = (path: string) => basename(path) !== '.trueup';
  await cp(join(examples, name), directory, { recursive: true, filter });
  return directory;
}

/** Replaces the only occurrence of a text in a file. @throws when there is none, or more than one */
export async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const times = text.split(from).length - 1;
  if (times !== 1) throw new Error(`${JSON.stringify(from)} stands ${times} times in ${file}`);
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}
