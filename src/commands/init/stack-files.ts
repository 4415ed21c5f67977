/**
 * Drafts and writes the files of a new stack: the stack itself, a first manifest or a page about manifests, CI files, and lines of
 * `.gitignore`.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { replaceFile, stateFolderName } from '../../files/write-file.ts';
import { displayPath, liesIn, slashes, stackFileName } from '../../manifest/files/find-stack.ts';
import { apiVersion } from '../../manifest/schema/manifest-schema.ts';
import { dumpYaml } from '../../manifest/yaml/write-manifests.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { pinFolder, schemaDirectory, schemaLine } from '../../run/editor-schemas.ts';
import { linkedPath, writeNew } from '../../run/new-files.ts';
import { type Ci, pipelinesOf } from './pipelines.ts';

export interface StackAnswers {
  readonly name: string;
  readonly target: Target;
  readonly ci: Ci;
  readonly ledger: string;
  /** absolute */
  readonly directory: string;
  /** absolute: the root of the repository */
  readonly root: string;
}

interface DraftedFile {
  /** absolute */
  readonly path: string;
  readonly text: string;
  /** what it is for, as a clause */
  readonly about: string;
}

/** Lines that a `.gitignore` must have. */
interface IgnoredPaths {
  /** absolute path of the `.gitignore` */
  readonly path: string;
  readonly lines: readonly string[];
}

interface Drafted {
  /** the stack file first; none of the files may exist yet */
  readonly files: readonly DraftedFile[];
  readonly ignored: readonly IgnoredPaths[];
}

export function draftFiles(answers: StackAnswers): Drafted {
  const { target, ci, directory, root } = answers;
  const pipelines = pipelinesOf(ci, tokenOf(target));
  const isPinned = pipelines.length === 0 ? {} : { isPinned: true };
  const schemas = schemaDirectory({ stack: directory, root, ...isPinned });
  const stack = {
    path: join(directory, stackFileName),
    text: `${schemaLine('stack', directory, schemas)}${stackText(answers)}`,
    about: 'the stack: its target and its settings',
  };
  const ofCi = pipelines.map(({ path, ...file }) => ({ ...file, path: join(root, path) }));
  const files = [stack, firstManifest(answers, schemas), ...ofCi];
  const local = { path: join(directory, '.gitignore'), lines: [`${stateFolderName}/`, 'plan.json'] };
  if (pipelines.length === 0) return { files, ignored: [local] };
  const installed = [`${pinFolder}/node_modules/`];
  return directory === root
    ? { files, ignored: [{ ...local, lines: [...local.lines, ...installed] }] }
    : { files, ignored: [local, { path: join(root, '.gitignore'), lines: installed }] };
}

/** The token source of a target; undefined if it has none, or uses a login. */
export function tokenOf({ token }: Target) {
  return token === undefined || 'login' in token ? undefined : token;
}

function stackText({ name, target, ci, ledger }: StackAnswers): string {
  const isEmbedded = target.url === 'embedded';
  const manifests = isEmbedded
    ? '  manifests: [manifests/**/*.yaml]\n'
    : '  # "optional" allows that there is no manifest yet. Remove it when there is one.\n' +
      '  manifests: [{ pattern: manifests/**/*.yaml, optional: true }]\n';
  const places = isEmbedded
    ? ''
    : '  # Where the record of each apply is kept. A team and a CI need "git" or "postgres".\n';
  const ledgerLine = isEmbedded && ci === 'none' && ledger === 'local' ? '' : `  ledger: ${ledger}\n`;
  return `# "trueup explain Stack.targets.url" explains a key, and "trueup explain Stack" lists all of them.
apiVersion: ${apiVersion}
kind: Stack
metadata: { name: ${scalar(name)} }
spec:
${manifests}  targets:
${targetText(target)}${ledgerLine === '' ? '' : places}${ledgerLine}`;
}

/** The members in the order in which guides show them. The default dialect of the embedded service is left out. */
function targetText(target: Target): string {
  const { name, service, url, organization, mount, namespace, token, caCert, dialect, owns } = target;
  const isEmbedded = url === 'embedded';
  const members: readonly (readonly [string, unknown])[] = [
    ['name', name],
    ['service', service],
    ['url', url],
    ['organization', organization],
    ['mount', mount],
    ['token', token],
    ['caCert', caCert],
    ['namespace', namespace],
    ['dialect', isEmbedded && dialect === 'neutral' ? undefined : dialect],
    ['owns', owns],
  ];
  const lines = members.flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${inline(JSON.parse(JSON.stringify(value)))}`,
  );
  return `    - ${lines.join('\n      ')}\n`;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isJsonObject(value)) return scalar(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${inline(member)}`)
    .join(', ')} }`;
}

/** As "trueup fmt" writes it: in quotes only if it would mean something else without them, also between braces. */
function scalar(value: Json): string {
  if (typeof value !== 'string' || /[\p{C}\p{Zl}\p{Zp}]/u.test(value)) return JSON.stringify(value);
  const written = dumpYaml(value, { lineWidth: -1 }).trim();
  const isPlain = written === value && /[,[\]{}]/.test(value);
  return isPlain ? `'${value.replaceAll("'", "''")}'` : written;
}

// The first manifest. For the embedded service it is a real manifest, which an apply creates at once. For a real service it is only shown
// in a page, because an apply must create nothing there that the user did not ask for.

function firstManifest({ target, name, directory }: StackAnswers, schemas: string): DraftedFile {
  const folder = join(directory, 'manifests');
  const kind = target.service === 'workspaces' ? 'workspace' : 'cluster-auth-role';
  const manifest = `${schemaLine(kind, folder, schemas)}${sample(target)}`;
  if (target.url === 'embedded')
    return { path: join(folder, 'example.yaml'), text: manifest, about: 'a first manifest' };
  return {
    path: join(folder, 'README.md'),
    text: pageText(name, target, manifest),
    about: 'how to begin a manifest',
  };
}

function sample({ service, owns: [pattern = 'example'] = [] }: Target): string {
  if (service === 'workspaces')
    return `apiVersion: ${apiVersion}
kind: Workspace
metadata: { name: example }
spec:
  description: A first workspace
  autoApply: false
  tags: { env: dev }
`;
  return `apiVersion: ${apiVersion}
kind: ClusterAuthRole
metadata: { name: ${scalar(pattern.replaceAll('*', 'example'))} }
spec:
  boundServiceAccountNames: [example]
  boundServiceAccountNamespaces: [default]
  audience: example
  tokenPolicies: [default]
  tokenTtl: 1h
`;
}

function pageText(name: string, { service }: Target, manifest: string): string {
  const kind = service === 'workspaces' ? 'Workspace' : 'ClusterAuthRole';
  return `# Manifests of the stack ${name}

Each YAML file in this folder, or in a folder below it, describes resources of the stack. For resources that exist already, trueup writes them:

\`\`\`sh
trueup export --out manifests
\`\`\`

A manifest for something new, such as \`example.yaml\`:

\`\`\`yaml
${manifest}\`\`\`

- \`trueup explain ${kind}\` lists the fields, and \`trueup explain ${kind}.${service === 'workspaces' ? 'tags' : 'tokenTtl'}\` explains one.
- \`trueup validate\` checks the files, and \`trueup plan\` shows what an apply would do.
`;
}

// Writes the files of a new stack: all of them or none. An existing file is never overwritten; lines that a `.gitignore` lacks are added
// at its end.

export interface PlannedFile extends DraftedFile {
  /** for an existing `.gitignore`: the mode that it keeps, and its new content in its own encoding. Absent for a new file */
  readonly extended?: { readonly mode: number; readonly content: Buffer };
}

interface Place {
  readonly cwd: string;
  /** absolute: no link below it is followed */
  readonly root: string;
}

/** The files to write, in order. @throws CommandStop if a file exists, or a path leads over a link */
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

/** @param paths absolute. @throws CommandStop if one of them exists, also as a broken link */
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

/** The `.gitignore` to write; empty if it has all lines. Lines are added as bytes: the file may have any encoding and line break. */
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

/** @throws the error of the file system, after it has removed the files that it had created */
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
