/** What `trueup init` writes: a stack that works at once, all files or none, and never over an existing file. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { textsIn } from '../../support/cli/first-stack.ts';
import { temporaryFolder, writeFiles } from '../../support/rig/temporary-folder.ts';

const init = (cwd: string, ...args: readonly string[]) =>
  trueup(['init', ...args], { cwd, env: { HOME: cwd } });

interface StackFile {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly manifests: readonly unknown[];
    readonly ledger?: string;
    readonly targets: readonly Record<string, unknown>[];
  };
}
const stackOf = (directory: string) =>
  load(readFileSync(join(directory, 'trueup.yaml'), 'utf8')) as StackFile;

/** A stack of a real service, without a request to it. */
const real = ['--url', 'https://tfe.example.com', '--organization', 'acme', '--no-connect'];

describe('init with the embedded service', () => {
  it.each([
    ['workspaces', [], 'Workspace'],
    ['cluster-auth', ['--service', 'cluster-auth'], 'ClusterAuthRole'],
  ])(
    'makes a stack of %s that validates, plans and applies at once, without an account',
    async (_, args, kind) => {
      const cwd = temporaryFolder();
      expect(await init(cwd, '--embedded', ...args)).toMatchObject({ code: 0 });
      expect(await trueup(['validate'], { cwd })).toMatchObject({ code: 0, err: '' });
      const planned = await trueup(['plan', '--exit-code'], { cwd });
      expect(planned.code, planned.out + planned.err).toBe(2);
      expect(planned.out).toContain(`+ create  ${kind}/`);
      const applied = await trueup(['apply', '--yes'], { cwd });
      expect(applied.code, applied.out + applied.err).toBe(0);
      expect(await trueup(['plan', '--exit-code'], { cwd })).toMatchObject({ code: 0 });
    },
  );

  it('creates a missing directory for the stack, and names the stack after it', async () => {
    const cwd = temporaryFolder();
    expect(await init(cwd, 'stacks/Pay_Ments', '--embedded')).toMatchObject({ code: 0 });
    expect(stackOf(join(cwd, 'stacks/Pay_Ments')).metadata.name).toBe('pay-ments');
    expect(await trueup(['plan', 'stacks/Pay_Ments'], { cwd })).toMatchObject({ code: 0, err: '' });
  });
});

describe('init for a real service', () => {
  it('writes a valid stack that names the variable of the token and declares no resources', async () => {
    const cwd = temporaryFolder();
    expect(await init(cwd, ...real, '--name', 'platform')).toMatchObject({ code: 0, err: '' });
    const files = textsIn(cwd);
    expect(Object.keys(files)).toEqual(['.gitignore', 'manifests/README.md', 'trueup.yaml']);
    expect(files['trueup.yaml']).toMatch(/^# yaml-language-server: \$schema=.*stack\.schema\.json\n/);
    expect(files['trueup.yaml']).toContain('token: { env: TFE_TOKEN }');
    expect(stackOf(cwd).spec.targets).toEqual([
      {
        name: 'acme',
        service: 'workspaces',
        url: 'https://tfe.example.com',
        organization: 'acme',
        token: { env: 'TFE_TOKEN' },
        dialect: 'hcp-terraform',
      },
    ]);
    const { code, out } = await trueup(['validate', '--format', 'json'], { cwd });
    expect({ code, out: JSON.parse(out).diagnostics ?? [] }).toEqual({ code: 0, out: [] });
  });

  it('writes a README with a valid example of a manifest', async () => {
    for (const [args, field] of [
      [real, 'Workspace.tags'],
      [
        [
          '--url',
          'https://v.example',
          '--mount',
          'kubernetes',
          '--dialect',
          'vault',
          '--owns',
          'pay-*',
          '--no-connect',
        ],
        'ClusterAuthRole.tokenTtl',
      ],
    ] as const) {
      const cwd = temporaryFolder();
      expect(await init(cwd, ...args)).toMatchObject({ code: 0 });
      const page = textsIn(cwd)['manifests/README.md'] ?? '';
      const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
      writeFiles(cwd, { 'manifests/example.yaml': manifest });
      expect(await trueup(['validate'], { cwd })).toMatchObject({ code: 0, err: '' });
      expect(page).toContain(`trueup explain ${field}`);
      expect(await trueup(['explain', field], { cwd })).toMatchObject({ code: 0 });
    }
  });

  it('writes files in the format of "trueup fmt"', async () => {
    const vault = ['--url', 'https://v.example', '--mount', 'a', '--dialect', 'vault', '--owns', 'a-*'];
    const more = ['--namespace', 'n', '--ca-cert', 'ca.pem', '--no-connect', '--ci', 'github'];
    for (const args of [real, [...vault, ...more], ['--embedded']]) {
      const cwd = temporaryFolder();
      await init(cwd, ...args);
      expect(await trueup(['fmt', '--check'], { cwd })).toMatchObject({ code: 0 });
    }
  });

  it.each([
    ['without a flag', []],
    ['with the flag', ['--owns', '*']],
    ['beside other patterns', ['--owns', 'pay-*', '--owns', '*']],
  ])('writes "owns" into the stack also if it owns all names: %s', async (_, owns) => {
    const cwd = temporaryFolder();
    const mount = [
      '--url',
      'https://v.example',
      '--dialect',
      'vault',
      '--mount',
      'kubernetes',
      '--no-connect',
    ];
    expect(await init(cwd, ...mount, ...owns, '--yes')).toMatchObject({ code: 0, err: '' });
    expect(stackOf(cwd).spec.targets[0]).toMatchObject({ owns: ['*'] });
    expect(await trueup(['validate'], { cwd })).toMatchObject({ code: 0, err: '' });
  });

  it('quotes special values, so that they are read as given', async () => {
    const cwd = temporaryFolder();
    const args = [
      '--url',
      'https://v.example',
      '--dialect',
      'openbao',
      '--mount',
      'a: b',
      '--namespace',
      'null',
      '--no-connect',
    ];
    const flags = [
      '--owns',
      'a#b',
      '--owns',
      '"x"',
      '--owns',
      'one\ntwo',
      '--token-file',
      '~/a, b}',
      '--ca-cert',
      "it's",
    ];
    expect(await init(cwd, ...args, ...flags)).toMatchObject({ code: 0 });
    expect(stackOf(cwd).spec.targets[0]).toMatchObject({
      mount: 'a: b',
      namespace: 'null',
      owns: ['a#b', '"x"', 'one\ntwo'],
      token: { file: '~/a, b}' },
      caCert: { file: "it's" },
    });
  });
});

describe('A file that exists before init', () => {
  it.each([
    ['trueup.yaml', []],
    ['manifests/README.md', []],
    ['.github/workflows/trueup.yml', ['--ci', 'github']],
    ['.gitlab-ci.yml', ['--ci', 'gitlab']],
  ])('is kept and reported, and no other is written: %s', async (path, args) => {
    const cwd = temporaryFolder({ [path]: 'ours\n' });
    const { code, out, err } = await init(cwd, ...real, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`nothing was written: "${path}" exists already and is kept`);
    expect(textsIn(cwd)).toEqual({ [path]: 'ours\n' });
  });

  it('is reported with all others', async () => {
    const cwd = temporaryFolder({ 'manifests/README.md': '', '.gitlab-ci.yml': '' });
    const { err } = await init(cwd, ...real, '--ci', 'gitlab');
    expect(err).toContain('"manifests/README.md", ".gitlab-ci.yml" exist already and are kept');
  });

  it('can be a broken link, which is kept as well', async () => {
    const cwd = temporaryFolder();
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'trueup.yaml'));
    expect(await init(cwd, ...real)).toMatchObject({ code: 1 });
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false);
  });

  it('called .gitignore keeps its lines, and gets the lines that it lacks', async () => {
    const cwd = temporaryFolder({ '.gitignore': 'dist\n.trueup\n# the end' });
    const { code, out } = await init(cwd, ...real, '--ci', 'github');
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('2 lines added') });
    expect(textsIn(cwd)['.gitignore']).toBe(
      'dist\n.trueup\n# the end\nplan.json\ntools/trueup/node_modules/\n',
    );
    const again = await init(cwd, 'second', ...real);
    expect(again.code).toBe(0);
    expect(textsIn(cwd)['second/.gitignore']).toBe('.trueup/\nplan.json\n');
  });

  it('called .gitignore keeps its bytes and its line breaks', async () => {
    const bytes = Buffer.from('caf\xe9/\r\ndist', 'latin1');
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, '.gitignore'), bytes);
    expect(await init(cwd, ...real)).toMatchObject({ code: 0 });
    const added = Buffer.from('\r\n.trueup/\r\nplan.json\r\n');
    const expected = Buffer.concat([bytes, added]).toString('latin1');
    expect(readFileSync(join(cwd, '.gitignore'), 'latin1')).toBe(expected);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path), 'is not a regular file'],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['UTF-16', (path: string) => writeFileSync(path, 'dist', 'utf16le'), 'is not a text that git reads'],
  ])('called .gitignore is refused if it is %s, and nothing is written', async (_, make, why) => {
    const cwd = temporaryFolder();
    make(join(cwd, '.gitignore'));
    const { code, err } = await init(cwd, ...real);
    const expected = `error: nothing was written: ".gitignore" ${why}`;
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(expected) });
    expect(readdirSync(cwd)).toEqual(['.gitignore']);
  });

  it.each(['manifests', '.gitignore'])(
    'is not written through a symbolic link of the repository: %s',
    async (name) => {
      const elsewhere = temporaryFolder({ '.gitignore': 'theirs\n' });
      const cwd = temporaryFolder();
      symlinkSync(name === 'manifests' ? elsewhere : join(elsewhere, '.gitignore'), join(cwd, name));
      const { code, err } = await init(cwd, ...real);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('leads over a symbolic link') });
      expect(textsIn(elsewhere)).toEqual({ '.gitignore': 'theirs\n' });
    },
  );

  it('is not written through a symbolic link in a folder whose name begins with two dots', async () => {
    const elsewhere = temporaryFolder();
    const cwd = temporaryFolder();
    await mkdir(join(cwd, '.git'));
    await mkdir(join(cwd, '..x'));
    symlinkSync(elsewhere, join(cwd, '..x/manifests'));
    symlinkSync(elsewhere, join(cwd, '..y'));
    for (const [path, link] of [
      ['..x', '..x/manifests/example.yaml'],
      ['..y', '..y'],
    ] as const) {
      const { code, err } = await init(cwd, path, '--embedded');
      const why = `"${link}" leads over a symbolic link, which init does not follow`;
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(why) });
    }
    expect(textsIn(elsewhere)).toEqual({});
    expect(existsSync(join(cwd, '..x/trueup.yaml'))).toBe(false);
  });

  it('at the path of a folder stops init, which writes nothing', async () => {
    const cwd = temporaryFolder({ manifests: 'a file' });
    expect(await init(cwd, ...real)).toMatchObject({ code: 1 });
    expect(textsIn(cwd)).toEqual({ manifests: 'a file' });
  });
});

it('init resolves the path of a flag against the working directory', async () => {
  const cwd = temporaryFolder({ 'secrets/token': 'x', 'ca.pem': 'x' });
  const files = ['--token-file', 'secrets/token', '--ca-cert', './ca.pem'];
  const { out } = await init(cwd, 'stacks/pay', ...real, ...files);
  expect(stackOf(join(cwd, 'stacks/pay')).spec.targets[0]).toMatchObject({
    token: { file: '../../secrets/token' },
    caCert: { file: '../../ca.pem' },
  });
  expect(out).toContain('stacks/pay/trueup.yaml names the file ../../secrets/token for the token.');
  expect(await init(cwd, ...real, '--token-file', 'secrets/token')).toMatchObject({ code: 0 });
  expect(stackOf(cwd).spec.targets[0]).toMatchObject({ token: { file: 'secrets/token' } });
});

it.each([
  ['http://tfe.example.com', true],
  ['http://127.0.0.1:8080', false],
  ['http://10.1.2.3', false],
  ['https://tfe.example.com', false],
])('init warns of a token that %s would get without encryption: %s', async (url, warns) => {
  const { err } = await init(temporaryFolder(), '--url', url, '--organization', 'acme', '--no-connect');
  expect(err.includes('the token is sent without encryption')).toBe(warns);
});

it('init --dry-run prints every file, and writes none', async () => {
  const cwd = temporaryFolder();
  const { code, out } = await init(cwd, ...real, '--ci', 'gitlab', '--dry-run');
  expect({ code, files: textsIn(cwd) }).toEqual({ code: 0, files: {} });
  for (const text of ['trueup.yaml', 'manifests/README.md', '.gitlab-ci.yml', '.gitignore', 'env: TFE_TOKEN'])
    expect(out).toContain(text);
});

const example = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The files for a CI, by their paths in the repository, and the example of each. */
const ofCi = {
  github: {
    '.github/workflows/trueup.yml': 'examples/ci/github/pull-request.yml',
    '.github/workflows/trueup-apply.yml': 'examples/ci/github/apply.yml',
    '.github/actions/trueup/action.yml': 'action.yml',
  },
  gitlab: { '.gitlab-ci.yml': 'examples/ci/gitlab/.gitlab-ci.yml' },
} as const;

describe('The CI files of init', () => {
  it.each(['github', 'gitlab'] as const)(
    'for %s are the examples, with the token variable of the stack',
    async (ci) => {
      const cwd = temporaryFolder();
      const { out } = await init(cwd, ...real, '--token-env', 'ACME_READER', '--ci', ci);
      const files = textsIn(cwd);
      for (const [path, from] of Object.entries(ofCi[ci])) {
        expect(files[path]).toBe(example(from).replaceAll('API_TOKEN', 'ACME_READER'));
        expect(load(files[path] ?? '')).toBeTypeOf('object');
      }
      expect(out).toContain('trueup in tools/trueup: see the guide "CI" (docs/guides/ci.md)');
      expect(out).toContain(
        ci === 'github'
          ? 'ACME_READER_READ_ONLY: a secret of the repository'
          : 'ACME_READER: a masked variable with a token that may only read',
      );
    },
  );

  it.each(['github', 'gitlab'] as const)('for %s name no variable if the token is not in one', async (ci) => {
    for (const args of [['--embedded'], [...real, '--token-file', 'token']]) {
      const cwd = temporaryFolder({ token: 'x' });
      expect(await init(cwd, ...args, '--ci', ci)).toMatchObject({ code: 0 });
      const files = textsIn(cwd);
      for (const path of Object.keys(ofCi[ci])) {
        expect(files[path]).not.toContain('API_TOKEN');
        expect(load(files[path] ?? '')).toBeTypeOf('object');
      }
    }
  });

  it('are at the root of the repository, and serve its next stack as well', async () => {
    const cwd = temporaryFolder({
      '.git/config': '[remote "origin"]\n\turl = https://github.com/acme/infra.git\n',
    });
    await init(cwd, 'stacks/pay', ...real);
    const files = textsIn(cwd);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(Object.keys(ofCi.github)));
    expect(files['.gitignore']).toBe('tools/trueup/node_modules/\n');
    expect(files['stacks/pay/trueup.yaml']).toContain(
      '$schema=../../tools/trueup/node_modules/trueup/schemas/stack.schema.json',
    );
    const next = await init(cwd, 'stacks/net', ...real, '--token-env', 'NET_TOKEN');
    expect(next, next.err).toMatchObject({ code: 0 });
    expect(next.out).toContain('.github/workflows/trueup.yml is there already: it plans this stack, too');
    expect(next.out).toContain('Add the variable NET_TOKEN to "env" of both');
    const same = await init(cwd, 'stacks/web', ...real);
    expect(same.out).toMatch(/Both already have the variable \w+ of its token/);
    expect(same.out).not.toContain('Add the variable');
    expect(stackOf(join(cwd, 'stacks/net')).spec.ledger).toBe('git');
    const refused = await init(cwd, 'stacks/dns', ...real, '--ci', 'github');
    expect(refused.err).toContain('pass "--ci none" to keep the files of the CI');
  });

  it.each([
    ['https://github.com/acme/infra.git', 'github', 'git'],
    ['git@gitlab.example.com:acme/infra.git', 'gitlab', 'git'],
    ['https://git.example.com/acme/infra.git', 'none', 'local'],
  ])('follow the remote %s by default: %s, and a ledger in %s', async (url, ci, ledger) => {
    const cwd = temporaryFolder({ '.git/config': `[remote "origin"]\n\turl = ${url}\n` });
    await init(cwd, ...real);
    const names = Object.keys(textsIn(cwd)).join(' ');
    expect(
      names.includes('workflows/trueup.yml') ? 'github' : names.includes('gitlab') ? 'gitlab' : 'none',
    ).toBe(ci);
    expect(stackOf(cwd).spec.ledger).toBe(ledger);
  });
});
