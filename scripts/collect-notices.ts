/** The licences of what is bundled: every package that gave a module, with the licence text that it ships. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param modules absolute paths of the modules in a bundle
 * @throws when a package ships no licence text: it must not be bundled then
 */
export async function collectNotices(modules: readonly string[]): Promise<string> {
  const packages = new Set(modules.flatMap((module) => packageOf(module) ?? []));
  const notices = await Promise.all([...packages].sort().map(noticeOf));
  return `The files beside this one contain the packages below.\n${notices.join('')}`;
}

/** The folder of the package that a module belongs to; undefined for our own. */
function packageOf(module: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0];
}

async function noticeOf(folder: string): Promise<string> {
  const about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const text = await licenceIn(folder);
  if (text === undefined) throw new Error(`the package ${about.name} has no licence text`);
  return `\n${'-'.repeat(80)}\n${about.name} ${about.version} (${about.license})\n\n${text.trim()}\n`;
}

/** The text in a file of its own, or at the end of the package's README. */
async function licenceIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const own = names.find((name) => /^licen[cs]e(?:\.|$)/i.test(name));
  if (own !== undefined) return readFile(join(folder, own), 'utf8');
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  if (readme === undefined) return undefined;
  const text = await readFile(join(folder, readme), 'utf8');
  return /^#+ licen[cs]e\s+([\s\S]*Permission is hereby granted[\s\S]*)/im.exec(text)?.[1];
}
