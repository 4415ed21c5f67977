// A kind is one folder and one line: a new kind needs no change of the core, and the program compiles without any kind.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { trueup as run } from './support/captured-host.ts';
import { bell } from './support/extending/bell.ts';
import { type BellService, serveBells } from './support/extending/serve-bells.ts';
import { makeFolder } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const elsewhere = makeFolder();
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

describe('a kind that is added from outside', () => {
  let service: BellService;
  let folder = '';

  beforeAll(async () => {
    service = await serveBells();
  });
  afterAll(() => service.close());

  const stackFile = () => `
apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: tower }
spec:
  manifests: [bells.yaml]
  defaults: { Bell: { lasts: 90s } }
  targets:
    - { name: acme, service: workspaces, url: "${service.url}", organization: acme, dialect: neutral, token: { env: TOKEN } }
`;

  const manifests = (spec: string, tower = 'tower') => `
apiVersion: trueup.dev/v1
kind: Bell
metadata: { name: noon }
spec: ${spec}
---
apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: ${tower} }
spec: { tags: { floor: top } }
`;

  beforeEach(() => {
    folder = mkdtempSync(join(elsewhere, 'stack-'));
    service.bells.clear();
    writeFileSync(join(folder, 'trueup.yaml'), stackFile());
  });

  function declare(text: string): void {
    writeFileSync(join(folder, 'bells.yaml'), text);
  }

  function trueup(...args: string[]) {
    const registry = new Map([...kinds, [bell.name, bell]]);
    return run([...args, folder], { cwd: folder, env: { TOKEN: service.token }, kinds: registry });
  }

  it('is validated, with its own rules', async () => {
    declare(manifests('{ workspace: tower, pitch: high, lasts: 1h }'));
    expect(await trueup('validate')).toMatchObject({ code: 7, err: expect.stringContaining('out-of-range') });
    declare(manifests('{ workspace: tower, pich: high }'));
    expect(await trueup('validate')).toMatchObject({ code: 7, err: expect.stringContaining('"pitch"') });
    declare(manifests('{ workspace: tower }'));
    expect(await trueup('validate')).toMatchObject({ code: 0, err: '' });
  });

  it('is planned and applied with a workspace that it needs, and then has no changes', async () => {
    declare(manifests('{ workspace: first, pitch: high, hours: [12, 9] }', 'first'));
    const plan = await trueup('plan', '--exit-code');
    expect(plan).toMatchObject({ code: 2, err: '' });
    expect(plan.out).toContain('Bell/acme/noon');
    expect(await trueup('apply', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(service.bells.get('noon')).toEqual({
      pitch: 'high',
      hours: expect.arrayContaining([9, 12]),
      lasts: 90,
      workspace: expect.stringMatching(/^ws-/),
    });
    expect(await trueup('plan', '--exit-code')).toMatchObject({ code: 0, err: '' });
  });

  it('is compared by its fields, updated and deleted', async () => {
    declare(manifests('{ workspace: second, hours: [12, 9] }', 'second'));
    expect(await trueup('apply', '--yes')).toMatchObject({ code: 0 });
    declare(manifests('{ workspace: second, hours: [9, 12, 9], lasts: 1m30s }', 'second'));
    expect(await trueup('plan', '--exit-code')).toMatchObject({ code: 0 });
    declare(manifests('{ workspace: second, hours: [9, 18], lasts: 5m }', 'second'));
    const { out } = await trueup('plan', '--format', 'json');
    const { changes } = JSON.parse(out);
    expect(changes).toMatchObject([{ action: 'update' }]);
    expect(await trueup('apply', '--yes')).toMatchObject({ code: 0 });
    expect(service.bells.get('noon')).toMatchObject({ hours: [18, 9], lasts: 300 });
    declare(manifests('{ workspace: second }', 'second').split('---')[1] ?? '');
    expect(await trueup('apply', '--yes'), 'it is the last bell').toMatchObject({ code: 5 });
    const { digest } = JSON.parse((await trueup('plan', '--format', 'json')).out);
    expect(await trueup('apply', '--approve', digest, '--ack', 'zero')).toMatchObject({ code: 0 });
    expect([...service.bells.keys()]).toEqual([]);
  });

  it('has a schema', async () => {
    const { code, out } = await run(['schema', 'Bell'], { cwd: folder, kinds: new Map([['Bell', bell]]) });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ title: 'Bell' });
  });
});

const folders = readdirSync(join(root, 'src', 'kinds'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('a program without one of its kinds', () => {
  // On a busy machine the compiler takes a minute.
  it.each(folders)('compiles without %s', { timeout: 180_000 }, async (kind) => {
    const copy = copyWithout(kind);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const problems = await new Promise<string>((done) => {
      execFile(process.execPath, [tsc, '-p', '.', '--skipLibCheck'], { cwd: copy }, (_, out) => done(out));
    });
    expect(problems.split('\n').filter(isOutsideRoleCheck).join('\n')).toBe('');
  });
});

/** `trueup role check` names two kinds, and is removed with them. No other code may name a kind. */
function isOutsideRoleCheck(line: string): boolean {
  return !line.startsWith('src/commands/role-check/') && !line.startsWith('  ');
}

/** Copies the sources without a kind's folder and its lines in the registry. @returns the path of the copy */
function copyWithout(kind: string): string {
  const copy = mkdtempSync(join(elsewhere, `without-${kind}-`));
  for (const path of ['src', 'types', 'tsconfig.json', 'package.json']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  rmSync(join(copy, 'src', 'kinds', kind), { recursive: true });
  const registry = join(copy, 'src', 'kinds', 'index.ts');
  const text = readFileSync(registry, 'utf8');
  const variable = new RegExp(`import \\{ (\\w+) \\} from './${kind}/index\\.ts';\n`).exec(text)?.[1];
  const without = text
    .replace(new RegExp(`import \\{ ${variable} \\}.*\n`), '')
    .replace(new RegExp(`\\b${variable},\\s*`), '');
  writeFileSync(registry, without);
  // Comments may contain the word.
  expect(without.replaceAll(/^\s*\/\/.*$/gm, '')).not.toContain(variable);
  return copy;
}
