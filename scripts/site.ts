/**
 * `npm run docs`: builds the site of the documentation into `site/dist`, and fails when one of its links is dead. `--dev` serves it
 * while pages are written, `--base /trueup/` builds it for a path below a host. VitePress has its own lock file,
 * `site/package-lock.json`, and is installed again when that has changed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { placeOf } from '../site/pages.ts';

const site = fileURLToPath(new URL('../site/', import.meta.url));
const dist = join(site, 'dist');

/** Runs a program in the terminal. Exits with its code when it fails. */
function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: site, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs the packages if the lock file has changed: a copy of it is kept beside the installed packages. */
function install(): void {
  const lock = readFileSync(join(site, 'package-lock.json'), 'utf8');
  const installed = join(site, 'node_modules', '.installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  run('npm', ['ci', '--no-audit', '--no-fund']);
  writeFileSync(installed, lock);
}

/** Every file of the built site, below `site/dist`. */
function filesOf(folder = dist): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesOf(path) : [relative(dist, path)];
  });
}

const htmlOf = (page: string) => readFileSync(join(dist, page), 'utf8');
const { dev, base } = parseArgs({
  options: { dev: { type: 'boolean', default: false }, base: { type: 'string', default: '/' } },
}).values;

/** What VitePress does not check: links to headings and to files, and pictures. */
function deadLinks(files: readonly string[]): string[] {
  const present = new Set(files);
  const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html');
  const anchors = new Map(
    pages.map((page) => [page, new Set([...htmlOf(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  return pages.flatMap((page) =>
    [...htmlOf(page).matchAll(/ (?:href|src)="(?![a-z]+:)([^"]+)"/g)].flatMap(([, link = '']) => {
      const [path = '', anchor = ''] = link.split('#').map(decodeURIComponent);
      const at = path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(page), path);
      const file = path === '' ? page : at.replace(/(^|\/)$/, '$1index.html');
      if (!present.has(file)) return [`${page} links ${link}: there is no such file`];
      const isFound = anchor === '' || anchors.get(file)?.has(anchor) !== false;
      return isFound ? [] : [`${page} links ${link}: there is no such heading`];
    }),
  );
}

/** Addresses of other hosts that a page would load: pages must work without a network. */
function foreignLoads(files: readonly string[]): string[] {
  const loads =
    /<(?:script|img|source|iframe)\b[^>]* src="(?:https?:)?\/\/[^"]*"|<link\b[^>]* rel="(?:stylesheet|preload|preconnect)"[^>]* href="(?:https?:)?\/\/[^"]*"|@import\b[^;]*\/\/[^;]*|url\(["']?(?:https?:)?\/\/[^)]*\)/g;
  return files
    .filter((file) => /\.(?:html|css)$/.test(file))
    .flatMap((file) => [...htmlOf(file).matchAll(loads)].map(([found]) => `${file} loads ${found}`));
}

install();
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', dev ? 'dev' : 'build', '--base', base]);
if (!dev) {
  const files = filesOf();
  const wrong = [...new Set([...deadLinks(files), ...foreignLoads(files)])];
  const pages = globSync('docs/**/*.md', { cwd: join(site, '..') }).map((page) =>
    placeOf(page).replace(/md$/, 'html'),
  );
  for (const page of pages) if (!files.includes(page)) wrong.push(`there is no page ${page}`);
  if (!files.some((file) => /localSearchIndex/.test(file))) wrong.push('there is no index for the search');
  for (const line of wrong) console.error(line);
  if (wrong.length > 0) process.exit(1);
  console.log(`site/dist: ${files.filter((file) => file.endsWith('.html')).length} pages`);
}
