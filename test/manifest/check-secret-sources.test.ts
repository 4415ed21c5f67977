// Where secrets of manifests may come from: `spec.secrets` of the stack, for every field that compares as a secret.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readManifests } from '../../src/manifest/read-manifests.ts';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';
import { sampleDialects, sampleKinds } from '../support/manifest/sample-kinds.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const settings = (source: string) =>
  `apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec:\n  host: x\n  authKey: ${source}\n`;
const stack = (secrets: string) => `${plainStack}  secrets: ${secrets}\n`;

/** The codes of the errors of this source under these limits. */
async function codes(source: string, secrets: string): Promise<string[]> {
  const { diagnostics } = await readOne(settings(source), stack(secrets));
  return diagnostics.map(({ code }) => code);
}

const refused = ['source-not-admitted'];

describe('the source of a secret', () => {
  it('may be anything if the stack has no spec.secrets', async () => {
    expect((await readOne(settings('{ env: ANY }'))).diagnostics).toEqual([]);
    expect((await readOne(settings('{ file: /etc/shadow }'))).diagnostics).toEqual([]);
  });

  it('has to be admitted by the stack, or it is reported at its place with what is admitted', async () => {
    const { diagnostics, complete } = await readOne(
      settings('{ env: CI_TOKEN }'),
      stack('{ env: [AUTH_*, KEY] }'),
    );
    expect(formatDiagnostics(diagnostics)).toEqual([
      'manifests/a.yaml:6:19+8 source-not-admitted: "spec.secrets" of the stack does not admit the environment variable "CI_TOKEN" as the source of a secret | allowed "AUTH_*" or "KEY" | fix: use one that is admitted, or add it to "spec.secrets.env" in the stack\'s file',
    ]);
    expect(diagnostics).toMatchObject([{ class: 'invalid', severity: 'error' }]);
    expect(complete).toBe(false);
  });

  it.each([
    ['AUTH_KEY', 'AUTH_*', true],
    ['AUTH_', 'AUTH_*', true],
    ['KEY', 'KEY', true],
    ['KEY_2', 'KEY', false],
    ['MY_AUTH_KEY', 'AUTH_*', false],
    ['auth_key', 'AUTH_*', false],
    ['ANY', '*', true],
  ])('from the variable %s is matched by %s: %s', async (name, pattern, admitted) => {
    expect(await codes(`{ env: ${name} }`, `{ env: ["${pattern}"] }`)).toEqual(admitted ? [] : refused);
  });

  it.each([
    ['/var/run/secrets/auth/token', '/var/run/secrets/**', true],
    ['/var/run/secrets/token', '/var/run/secrets/*', true],
    ['/var/run/secrets/auth/token', '/var/run/secrets/*', false],
    ['/var/run/secrets/../../../etc/shadow', '/var/run/secrets/**', false],
    ['/var/run/secrets/./auth//token', '/var/run/secrets/**', true],
    ['/var/run/secrets-of-others/token', '/var/run/secrets/**', false],
    ['/var/run/secrets', '/var/run/secrets/*', false],
    ['/run/token', '/run/token', true],
    ['/run/token/more', '/run/token', false],
    ['/RUN/token', '/run/token', false],
    ['secrets/auth.key', 'secrets/*.key', true],
    ['./secrets/auth.key', 'secrets/*.key', true],
    ['secrets/auth.key', './secrets/*.key', true],
    ['secrets/../auth.key', 'secrets/**', false],
    ['../outside.key', '**', false],
    ['../outside.key', '**/*.key', false],
    ['../shared/auth.key', '../shared/*.key', true],
    ['../shared/../auth.key', '../shared/*.key', false],
    ['../auth.key', '@(..|x)/*.key', false],
    ['secrets/.env', 'secrets/*', false],
    ['secrets/..key', 'secrets/..key', true],
    ['secrets/auth.key', 'secrets/x/../*.key', true],
  ])('from the file %s is matched by %s: %s', async (file, pattern, admitted) => {
    expect(await codes(`{ file: "${file}" }`, `{ files: ["${pattern}"] }`)).toEqual(admitted ? [] : refused);
  });

  it.each([
    ['secrets/auth.key', '<stack>/secrets/*'],
    ['<stack>/secrets/auth.key', 'secrets/*'],
  ])(
    'from the file %s is matched by %s: both are relative to the folder of the stack',
    async (file, pattern) => {
      const folder = temporaryFolder({});
      const absolute = (path: string) => path.replace('<stack>', folder);
      await writeFile(join(folder, 'trueup.yaml'), stack(`{ files: ["${absolute(pattern)}"] }`));
      await mkdir(join(folder, 'manifests'));
      await writeFile(join(folder, 'manifests', 'a.yaml'), settings(`{ file: "${absolute(file)}" }`));
      const { diagnostics } = await readManifests({
        cwd: folder,
        kinds: sampleKinds,
        dialects: sampleDialects,
      });
      expect(diagnostics).toEqual([]);
    },
  );

  it.each([
    ['secrets/auth.key', 'secrets/**', 'own.key', true],
    ['secrets/auth.key', 'secrets/**', '../elsewhere/id', false],
    ['secrets/auth.key', 'secrets/auth.key', '../elsewhere/id', false],
    ['secrets/auth.key', '**', '../elsewhere/id', true],
    ['secrets/auth.key', '**', '/etc/passwd', false],
    ['link/id', 'link/*', undefined, true],
    ['link/id', '*/id', undefined, true],
    ['secrets/link/id', 'secrets/**', undefined, false],
    ['secrets/none', 'secrets/*', undefined, true],
  ])(
    'behind the path %s, which %s admits, is the file that the link leads to (%s): %s',
    async (file, pattern, to, admitted) => {
      const folder = temporaryFolder({
        'trueup.yaml': stack(`{ files: ["${pattern}"] }`),
        'manifests/a.yaml': settings(`{ file: "${file}" }`),
        'secrets/own.key': 'x',
        'elsewhere/id': 'x',
      });
      if (to !== undefined) await symlink(to, join(folder, 'secrets', 'auth.key'));
      await symlink('elsewhere', join(folder, 'link'));
      await symlink('../elsewhere', join(folder, 'secrets', 'link'));
      const { diagnostics } = await readManifests({
        cwd: folder,
        kinds: sampleKinds,
        dialects: sampleDialects,
      });
      expect(diagnostics.map(({ code }) => code)).toEqual(admitted ? [] : refused);
    },
  );

  it.each([
    'var/run/secrets/auth/token',
    'var/run/secrets/**',
    'var/run/secrets/auth/*',
    'var/run/*/auth/token',
  ])('is admitted by %s if a pod mounts it, through several links', async (pattern) => {
    const folder = temporaryFolder({
      'trueup.yaml': stack(`{ files: ["${pattern}"] }`),
      'manifests/a.yaml': settings('{ file: var/run/secrets/auth/token }'),
      'run/secrets/auth/..2026_11_22/token': 'x',
      'var/lib/x': '',
    });
    await symlink('..2026_11_22', join(folder, 'run/secrets/auth/..data'));
    await symlink('..data/token', join(folder, 'run/secrets/auth/token'));
    await symlink('../run', join(folder, 'var/run'));
    const { diagnostics } = await readManifests({
      cwd: folder,
      kinds: sampleKinds,
      dialects: sampleDialects,
    });
    expect(diagnostics).toEqual([]);
  });

  it('is not admitted if the list of its type is missing', async () => {
    expect(await codes('{ file: /run/key }', '{ env: ["*"] }')).toEqual(refused);
    expect(await codes('{ env: KEY }', '{ files: ["/**"] }')).toEqual(refused);
    expect(await codes('{ env: KEY }', '{}')).toEqual(refused);
    const { diagnostics } = await readOne(settings('{ env: KEY }'), stack('{}'));
    expect(diagnostics).toMatchObject([{ allowed: 'no environment variable' }]);
  });

  it('that is a default of the stack is reported at its place', async () => {
    const defaults = `${stack('{ env: [KEY] }')}  defaults: { Settings: { authKey: { env: OTHER } } }\n`;
    const bare = 'apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec: { host: x }\n';
    const { diagnostics } = await readOne(bare, defaults);
    expect(diagnostics).toMatchObject([{ code: 'source-not-admitted', place: { file: 'trueup.yaml' } }]);
  });
});

describe('spec.secrets of a stack', () => {
  it('does not apply to the tokens of its targets', async () => {
    const target = 'url: https://x.example.com, dialect: neutral, mount: m, token: { env: TOKEN }';
    const text = stack('{ env: [KEY] }').replace('url: embedded }', `${target} }`);
    const { diagnostics } = await readOne(settings('{ env: KEY }'), text);
    expect(diagnostics.filter(({ code }) => code === 'source-not-admitted')).toEqual([]);
  });

  it.each(['{ env: KEY }', '{ env: ["a b"] }', '{ files: ["!secrets/**"] }', '{ file: ["x"] }'])(
    'is a list of names and one of files, but not %s',
    async (secrets) => {
      const { diagnostics, stack: read } = await readOne('', stack(secrets));
      expect(read).toBeUndefined();
      expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
    },
  );
});
