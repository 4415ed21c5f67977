/** The licences of all bundled packages, with the licence texts that they ship. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param modules absolute paths of the modules in a bundle
 * @throws when a package ships no licence text: it must not be bundled then
 */
export async function collectNotices(modules: readonly string[]): Promise<string> {
  const packages = Map.groupBy(modules, (module) => packageOf(module) ?? '');
  packages.delete('');
  const sorted = [...packages].sort(([one], [other]) => (one < other ? -1 : 1));
  const notices = await Promise.all(sorted.map(([folder, files]) => noticeOf(folder, files)));
  return `The files beside this one contain the packages below.\n${notices.join('')}`;
}

/** The folder of the package that a module belongs to; undefined for our own. */
function packageOf(module: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0];
}

async function noticeOf(folder: string, modules: readonly string[]): Promise<string> {
  const about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const text = (await licenceIn(folder)) ?? (await apacheLicence(about.license, modules));
  if (text === undefined) throw new Error(`the package ${about.name} has no licence text`);
  return `\n${'-'.repeat(80)}\n${about.name} ${about.version} (${about.license})\n\n${text.trim()}\n`;
}

/**
 * The Apache licence has one text, which this repository has as well. Parts under the BSD licence have its text in the headers of
 * their modules.
 */
async function apacheLicence(licence: string, modules: readonly string[]): Promise<string | undefined> {
  const parts = licence.replace(/[()]/g, '').split(' AND ');
  if (!parts.includes('Apache-2.0')) return undefined;
  const apache = await readFile(new URL('../LICENSE', import.meta.url), 'utf8');
  if (parts.length === 1) return apache;
  if (parts.some((part) => part !== 'Apache-2.0' && part !== 'BSD-3-Clause')) return undefined;
  const headers = new Set<string>();
  for (const module of modules) {
    const [header = ''] = /^(?:\/\/.*\n)+/.exec(await readFile(module, 'utf8')) ?? [];
    if (/Redistribution and use in source/.test(header)) headers.add(header.replace(/^\/\/ ?/gm, ''));
  }
  return headers.size === 0 ? undefined : [apache, ...headers].join('\n\n');
}

/** The text in a licence file, or at the end of the package's README. */
async function licenceIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const own = names.find((name) => /^licen[cs]e(?:\.|$)/i.test(name));
  if (own !== undefined) return readFile(join(folder, own), 'utf8');
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  if (readme === undefined) return undefined;
  const text = await readFile(join(folder, readme), 'utf8');
  return /^#+ licen[cs]e\s+([\s\S]*Permission is hereby granted[\s\S]*)/im.exec(text)?.[1];
}
