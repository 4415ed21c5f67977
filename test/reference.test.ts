// The reference in docs/reference is complete, up to date and correct.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { helpHost } from '../scripts/reference/commands.ts';
import { referencePages } from '../scripts/write-reference.ts';
import { wholeProgram } from '../src/command-line.ts';
import { kinds } from '../src/kinds/index.ts';
import { describeKinds } from '../src/manifest/schema/describe-fields.ts';
import { manifestSchema } from '../src/manifest/schema/manifest-schema.ts';
import { compileSchema, makeCompiler } from '../src/manifest/schema/compile-schema.ts';
import { stackDocumentSchema } from '../src/manifest/schema/stack-schema.ts';
import { guardIds } from '../src/model/guard.ts';
import { isJsonObject, type JsonObject, memberOf } from '../src/model/json.ts';
import { environmentVariables } from '../src/run/environment-variables.ts';
import { exitCodeMeanings } from '../src/run/exit-code-meanings.ts';
import { exitCodes } from '../src/run/exit-codes.ts';
import { filesBelow } from './architecture/source-tree.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = await referencePages();

it.each([...pages])(
  'docs/reference/%s is up to date: "npm run reference" would change nothing',
  (file, text) => {
    expect(readFileSync(join(root, 'docs/reference', file), 'utf8') === text).toBe(true);
  },
);

describe('manifests.md', () => {
  const page = pages.get('manifests.md') ?? '';
  const headings = new Set([...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading));
  const described = describeKinds(kinds);
  const fields = described.flatMap(({ name, fields: all }) => all.map((field) => ({ name, ...field })));

  it('has a heading for each field of each kind, and each key of the stack', () => {
    const inTables = [...kinds.values()].flatMap(({ name, fields: all }) =>
      Object.keys(all).map((field) => `${name}.${field}`),
    );
    expect(inTables.filter((name) => !headings.has(name))).toEqual([]);
    for (const name of ['Stack.targets.token.login.role', 'Workspace.vcsRepo.branch', 'metadata.protect'])
      expect(headings).toContain(name);
  });

  it('has an example of each key, which the schema accepts', () => {
    expect(fields.filter(({ examples }) => examples.length === 0).map(({ path }) => path)).toEqual([]);
    const wrong = fields.filter(({ name, path, examples }) => {
      const accepts = makeCompiler().compile(schemaAt(name, path));
      return examples.some((example) => !accepts(example));
    });
    expect(wrong.map(({ name, path }) => `${name} ${path}`)).toEqual([]);
  });

  it.each([...kinds.values()])('begins $name with a document that is valid', (kind) => {
    const written = new RegExp(`\\n## ${kind.name}\\n.*?\`\`\`yaml\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
    expect(compileSchema(kind, () => manifestSchema(kind))(parse(written))).toEqual([]);
  });

  it('begins with a stack that is valid', () => {
    const written = /\n## Stack\n.*?```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    const schema = stackDocumentSchema(kinds);
    expect(compileSchema(schema, () => schema)(parse(written))).toEqual([]);
  });
});

function schemaAt(name: string, path: string): JsonObject {
  const kind = kinds.get(name);
  const whole = kind === undefined ? stackDocumentSchema(kinds) : manifestSchema(kind);
  return path.split('.').reduce<JsonObject>((schema, member) => {
    const holder = isJsonObject(schema['items']) ? schema['items'] : schema;
    return (memberOf(holder['properties'] ?? {}, member) ?? {}) as JsonObject;
  }, whole);
}

it('commands.md has the help of each command and subcommand', async () => {
  const program = await wholeProgram(helpHost(() => {}));
  const page = pages.get('commands.md') ?? '';
  const listed = program.createHelp().visibleCommands(program);
  expect(listed.length).toBeGreaterThan(15);
  for (const command of listed.filter((one) => one.name() !== 'help')) {
    expect(page).toContain(`\n## trueup ${command.name()}\n\n\`\`\`text\nUsage: trueup ${command.name()}`);
    for (const option of command.options.filter(({ hidden }) => !hidden))
      expect(page).toContain(option.flags);
  }
  expect(page).toContain('\n### trueup history show\n');
});

it('guards.md explains each guard', () => {
  const page = pages.get('guards.md') ?? '';
  for (const id of guardIds) expect(page).toContain(`\n### ${id}\n`);
});

it('exit-codes.md and the help list each exit code once, in ascending order', () => {
  const codes = [...new Set<number>(Object.values(exitCodes))];
  expect(exitCodeMeanings.map(({ code }) => code)).toEqual(codes);
  const help = /\nExit codes:\n(.*?)\n\n/s.exec(pages.get('commands.md') ?? '')?.[1] ?? '';
  expect([...help.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code))).toEqual(codes);
});

it('environment.md lists each variable that the source reads, and no other', () => {
  const code = filesBelow(root, 'src')
    .filter((path) => path.endsWith('.ts') && !path.endsWith('environment-variables.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const listed = environmentVariables.flatMap(({ variables }) => Object.keys(variables));
  const read = [...code.matchAll(/\benv\['([A-Z_]+)'\]/g)].map(([, name]) => name);
  expect(read.filter((name) => !listed.includes(name ?? ''))).toEqual([]);
  const isRead = (name: string) => new RegExp(`\\b(?:${name}|${name.toLowerCase()})\\b`).test(code);
  // Node reads its own variables.
  expect(listed.filter((name) => !isRead(name) && !name.startsWith('NODE_'))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});
