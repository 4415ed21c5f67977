/**
 * Writes the files of a new stack: all of them or none. A file that exists is never written over; lines that a `.gitignore` lacks
 * are added at its end.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { replaceFile } from '../../files/write-file.ts';
import { displayPath, liesIn, slashes } from '../../manifest/files/find-stack.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { linkedPath, writeNew } from '../../run/new-files.ts';
import type { Drafted, DraftedFile, IgnoredPaths } from './draft-files.ts';

export interface PlannedFile extends DraftedFile {
  /** a `.gitignore` that exists: the mode that it keeps, and its new content, in its own encoding. Absent for a new file */
  readonly extended?: { readonly mode: number; readonly content: Buffer };
}

interface Place {
  readonly cwd: string;
  /** absolute: no link below it is followed */
  readonly root: string;
}

/** What there is to write, in order. @throws CommandStop when a file exists, or a path leads over a link */
export async function planFiles({ files, ignored }: Drafted, place: Place): Promise<PlannedFile[]> {
  await refuseLinks([...files, ...ignored], place);
  refuseExisting(
    files.map(({ path }) => path),
    place.cwd,
  );
  return [...files, ...ignored.flatMap((paths) => ignoreFile(paths, place.cwd))];
}

async function refuseLinks(files: readonly { readonly path: string }[], { cwd, root }: Place): Promise<void> {
  const real = await realpath(root).catch(() => root);
  const outside = files.find(({ path }) => !liesIn({ root, isGit: false }, path));
  if (outside !== undefined) throw new Error(`${quoted(outside.path)} lies outside ${quoted(root)}`);
  const paths = files.map(({ path }) => slashes(relative(root, path)));
  const linked = linkedPath(paths, real, real);
  if (linked === undefined) return;
  throw new CommandStop(
    'output-refused',
    `nothing was written: ${quoted(displayPath(join(root, linked), cwd))} leads over a symbolic link, which init does not follow; remove the link`,
  );
}

/** @param paths absolute. @throws CommandStop when one of them exists, also as a link that leads nowhere */
export function refuseExisting(paths: readonly string[], cwd: string): void {
  const existing = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (existing.length === 0) return;
  const [isOne, names] = [existing.length === 1, existing.map((path) => quoted(displayPath(path, cwd)))];
  const isCi = existing.some((path) => /\.yml$/.test(path));
  const advice = isCi
    ? ', or pass "--ci none" to keep the files of the CI: those of trueup plan and apply each stack of the repository'
    : ', or name another directory';
  throw new CommandStop(
    'files-exist',
    `nothing was written: ${names.join(', ')} ${isOne ? 'exists already and is' : 'exist already and are'} kept; move what is in the way${advice}`,
  );
}

/** Nothing when all lines are there. Lines are added as bytes: the file may have any encoding, and either line break. */
function ignoreFile({ path, lines }: IgnoredPaths, cwd: string): PlannedFile | [] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { path, text: `${lines.join('\n')}\n`, about: 'what git ignores' };
  if (!found.isFile()) throw refusedIgnore(path, cwd, 'is not a regular file; move it out of the way');
  const bytes = readFileSync(path);
  if (bytes.includes(0)) throw refusedIgnore(path, cwd, 'is not a text that git reads; save it as UTF-8');
  const text = bytes.toString('utf8');
  const known = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = lines.filter((line) => !known.has(line) && !known.has(line.replace(/\/$/, '')));
  if (missing.length === 0) return [];
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const begin = text === '' || text.endsWith('\n') ? '' : lineBreak;
  const added = `${begin}${missing.map((line) => `${line}${lineBreak}`).join('')}`;
  return {
    path,
    text: `${text}${added}`,
    about: `${counted(missing.length, 'line')} added`,
    extended: { mode: found.mode & 0o7777, content: Buffer.concat([bytes, Buffer.from(added)]) },
  };
}

function refusedIgnore(path: string, cwd: string, why: string): CommandStop {
  return new CommandStop('output-refused', `nothing was written: ${quoted(displayPath(path, cwd))} ${why}`);
}

/** @throws the system's error; then no new file is left */
export async function writeFiles(files: readonly PlannedFile[]): Promise<void> {
  const written: string[] = [];
  try {
    for (const { path, text, extended } of files) {
      if (extended === undefined) {
        await writeNew(path, text);
        written.push(path);
      } else await replaceFile(path, extended.content, extended.mode);
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}
