// README, tutorial, guides and examples are short, and all commands and files on their pages are valid.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { trueup } from './support/captured-host.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const guides = readdirSync(join(root, 'docs/guides')).map((file) => `docs/guides/${file}`);
const examples = readdirSync(join(root, 'examples'))
  .map((name) => `examples/${name}/README.md`)
  .filter((path) => existsSync(join(root, path)));
const pages = ['README.md', 'docs/tutorial.md', ...guides, ...examples];

function blocksOf(path: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...read(path).matchAll(fence)].map(([, text = '']) => text);
}

it('the README has at most 150 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151);
});

/** Counts sentences, which end with a mark before white space or the end. Code counts as one word. */
function sentencesIn(cell: string): number {
  const prose = cell.replaceAll(/`[^`]*`/g, 'code').trim();
  return prose.split(/[.!?](?:\s+|$)/).filter((part) => part !== '').length;
}

it.each(pages)('no cell of a table in %s has more than two sentences', (path) => {
  const rows = read(path)
    .split('\n')
    .filter((line) => /^\|.*\|$/.test(line));
  const cells = rows.flatMap((row) => row.slice(1, -1).split(/(?<!\\)\|/));
  expect(cells.filter((cell) => sentencesIn(cell) > 2)).toEqual([]);
});

interface Typed {
  readonly page: string;
  readonly line: string;
}

/** The words after `trueup` on lines of commands, without comments, redirections and quoted texts. */
const typed: readonly Typed[] = pages.flatMap((page) =>
  blocksOf(page, 'sh').flatMap((text) =>
    text
      .split('\n')
      .map((line) => line.replace(/(^|\s)#.*$/, '').replaceAll(/"[^"]*"|'[^']*'/g, 'QUOTED'))
      .flatMap((line) => [...line.matchAll(/(?:^|[\s/])trueup ([a-z][^|><&;]*)/g)])
      .map(([, line = '']) => ({ page, line: line.trim() })),
  ),
);

/** `history` is a command by itself, too. */
function commandOf([name = '', next = '']: readonly string[]): string[] {
  const hasMore =
    ['audit', 'role', 'history', 'ledger', 'ci', 'fleet'].includes(name) && /^[a-z]+$/.test(next);
  return hasMore ? [name, next] : [name];
}

describe('every command on a page', () => {
  it('is found', () => {
    expect(typed.length).toBeGreaterThan(60);
  });

  it.each(typed)('exists with its flags: trueup $line ($page)', async ({ line }) => {
    const words = line.split(/\s+/);
    const own = commandOf(words);
    const { code, out } = await trueup([...own, '--help'], { cwd: temporaryFolder() });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: trueup ${own.join(' ')}(?: |$)`, 'm'));
    for (const flag of words.filter((word) => word.startsWith('-') && word !== '-'))
      expect(out).toMatch(new RegExp(`(?:^|[ ,])${flag.split('=')[0]}(?:[ ,]|$)`, 'm'));
  });
});

/** Complete files: a stack, or manifests. Parts of a file have no apiVersion. */
const files = pages.flatMap((page) =>
  blocksOf(page, 'yaml')
    .filter((text) => /^apiVersion: trueup/m.test(text))
    .map((text) => ({ page, text, documents: loadAll(text) as { kind?: string }[] })),
);

/** The pages shorten this certificate. */
const certificate = /-----BEGIN [\s\S]*?-----END CERTIFICATE-----\n/.exec(
  read('examples/quickstart/manifests/cluster-auth.yaml'),
)?.[0];

const stack = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: documents }
spec:
  manifests: ["*.yaml", "!trueup.yaml"]
  targets:
    - { name: acme, service: workspaces, url: embedded, organization: acme }
    - { name: prod, service: cluster-auth, url: embedded, mount: cluster }
`;

describe('every complete file on a page', () => {
  it('is found', () => {
    expect(files.length).toBeGreaterThan(5);
  });

  it.each(files)('is valid: $text ($page)', async ({ text, documents }) => {
    const isStack = documents.some(({ kind }) => kind === 'Stack');
    const isPolicy = documents.some(({ kind }) => kind === 'Policy');
    const manifest = 'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\nspec: {}\n';
    const cwd = temporaryFolder(
      isPolicy
        ? {
            'trueup.yaml': `${stack}  policies: { files: [policies/*.yaml] }\n`,
            'app.yaml': manifest,
            'policies/page.yaml': text,
          }
        : isStack
          ? { 'trueup.yaml': text, 'manifests/app.yaml': manifest }
          : {
              'trueup.yaml': stack,
              'manifest.yaml': text.replace(
                /-----BEGIN CERTIFICATE-----\n +…\n +-----END CERTIFICATE-----\n/,
                () => certificate ?? '',
              ),
            },
    );
    const { code, out, err } = await trueup(['validate'], { cwd, env: { REVIEWER_JWT: 'x' } });
    expect({ code, err }, out).toEqual({ code: 0, err: '' });
  });
});

const readmes = readdirSync(join(root, 'src/kinds'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `src/kinds/${name}/README.md`);

it('the examples and the manifests of all pages are formatted', async () => {
  expect(await trueup(['fmt', '--check', 'examples'], { cwd: root })).toMatchObject({ code: 0, out: '' });
  for (const page of [...pages, ...readmes, 'docs/reference/manifests.md'])
    for (const text of blocksOf(page, 'yaml').filter((block) => /^apiVersion: trueup/m.test(block)))
      expect(await trueup(['fmt', '-'], { cwd: root, stdin: text }), page).toMatchObject({
        code: 0,
        out: text,
      });
});

type Spec = Readonly<Record<string, unknown>>;

/** Parts of a stack's spec that a page shows. Alternatives are separate parts. */
function specsIn(text: string): Spec[] {
  if (text.startsWith('spec: # with one of these'))
    return text
      .split('\n')
      .slice(1, -1)
      .map((line) => load(line) as Spec);
  if (text.startsWith('spec:')) return [(load(text) as { spec: Spec }).spec];
  if (text.startsWith('  targets:')) return [load(text) as Spec];
  return text.startsWith('    - name:') ? [{ targets: load(text) }] : [];
}

const parts = pages.flatMap((page) =>
  blocksOf(page, 'yaml').flatMap((text) => specsIn(text).map((spec) => ({ page, spec }))),
);

describe('every part of a stack that a page shows', () => {
  it('is found', () => {
    expect(parts.length).toBeGreaterThan(15);
  });

  it.each(parts)('is valid: $spec ($page)', async ({ spec }) => {
    const whole = load(stack) as { spec: Spec };
    const cwd = temporaryFolder({
      'trueup.yaml': JSON.stringify({ ...whole, spec: { ...whole.spec, manifests: [], ...spec } }),
      'manifests/app.yaml': 'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\nspec: {}\n',
      'seed.yaml': 'organizations: [{ name: acme }]\n',
    });
    const { code, out, err } = await trueup(['validate'], { cwd });
    expect({ code, err }, out).toEqual({ code: 0, err: '' });
  });
});

it('the files of the README can be planned and applied without changes', async () => {
  const named = blocksOf('README.md', 'yaml').flatMap((text) => {
    const path = /^# (\S+\.yaml)\n/.exec(text)?.[1];
    return path === undefined ? [] : [[path, text] as const];
  });
  expect(named.map(([path]) => path)).toEqual(['trueup.yaml', 'manifests/network.yaml']);
  const cwd = temporaryFolder(Object.fromEntries(named));
  expect(await trueup(['plan', '--exit-code'], { cwd })).toMatchObject({ code: 2, err: '' });
  expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
  expect(await trueup(['drift'], { cwd })).toMatchObject({ code: 0, err: '' });
});
