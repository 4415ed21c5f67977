/** `trueup fmt`: one form for all files, without loss of anything that people wrote. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import type { Kind } from '../../../src/model/kind.ts';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const stackText = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests/**/*.yaml, '!manifests/drafts/**']
  targets:
    - { name: acme, service: workspaces, url: embedded, organization: acme }
`;
const tidy = `apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: app }
spec: {}
`;
const untidy = `kind: Workspace
apiVersion: "trueup.dev/v1"
metadata: {name: app}
spec: {}
`;

/** A stack in a git repository of its own. */
function stackWith(files: Readonly<Record<string, string>>): string {
  const cwd = temporaryFolder({ 'trueup.yaml': stackText, ...files });
  mkdirSync(join(cwd, '.git'));
  return cwd;
}

const read = (cwd: string, path: string) => readFileSync(join(cwd, path), 'utf8');

/** The text as `trueup fmt` formats it. */
async function formOf(text: string): Promise<string> {
  const { code, out, err } = await trueup(['fmt', '-'], { cwd: temporaryFolder(), stdin: text });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

describe('the form', () => {
  it('has members in the order of the schema, two spaces a level, few quotes, and every comment in its place', async () => {
    const text = `---
# the file

kind: "Workspace" # the kind
apiVersion: 'trueup.dev/v1'
metadata: {adopt: true,   name: "app"}


spec:   # the settings
    # It is applied at once.
    autoApply:    true   # yes

    executionMode: "remote"
    tags: { "env": 'prod', cost-center: "4711", since: "2026-01-01" }
    # above the list
    triggerPatterns:
    - "/app/**/*"
    - '*b'
    remoteStateConsumers: [
      net, # N
      db
      ]
    vcsRepo:
      branch: main
      # who reads it
      identifier: acme/app
    # lock: { reason: later }
# the end
`;
    expect(await formOf(text)).toBe(`---
# the file

apiVersion: trueup.dev/v1
kind: Workspace # the kind
metadata: { name: app, adopt: true }

spec: # the settings
  executionMode: remote
  # It is applied at once.
  autoApply: true # yes
  vcsRepo:
    # who reads it
    identifier: acme/app
    branch: main
  # above the list
  triggerPatterns:
    - /app/**/*
    - '*b'
  tags: { env: prod, cost-center: '4711', since: '2026-01-01' }
  remoteStateConsumers:
    - net # N
    - db
  # lock: { reason: later }
# the end
`);
  });

  it('keeps anchors, aliases, merge keys, tags, blocks of text, numbers and documents', async () => {
    const text = `apiVersion: trueup.dev/v1
kind: Workspace
spec: &base
    description: >-
        one
        line
    autoApply:   !!bool  true
    list: &l [1.50,   0x1F, ~ ,  1e3]
    again: *l
---
kind: Workspace
spec:
    autoApply: false
    description: |2+
         kept

    <<: {queueAllRuns: true}
    engineVersion:   !!str 1.9
apiVersion: trueup.dev/v1
...
---
apiVersion: trueup.dev/v1
kind: Workspace
list:
- &x { a:   no }
- *x
`;
    expect(await formOf(text)).toBe(`apiVersion: trueup.dev/v1
kind: Workspace
spec: &base
  description: >-
    one
    line
  autoApply: !!bool true
  list: &l [1.50, 0x1F, ~, 1e3]
  again: *l
---
apiVersion: trueup.dev/v1
kind: Workspace
spec:
  <<: { queueAllRuns: true }
  description: |2+
       kept

  autoApply: false
  engineVersion: !!str 1.9
...
---
apiVersion: trueup.dev/v1
kind: Workspace
list:
  - &x { a: 'no' }
  - *x
`);
  });

  it('keeps a comment below a block of text out of the text', async () => {
    const text =
      'description: |\n    kept\n  # a comment\nlist:\n    - >\n      one\n     # another\n    - two\n';
    const head = 'apiVersion: trueup.dev/v1\nkind: Workspace\n';
    expect(await formOf(head + text)).toBe(
      `${head}description: |\n  kept\n# a comment\nlist:\n  - >\n    one\n  # another\n  - two\n`,
    );
  });

  it('moves a comment above the first key with its key, but not one above an empty line or the line for editors', async () => {
    const [kind, version] = ['kind: Workspace\n', 'apiVersion: trueup.dev/v1\n'];
    expect(await formOf(`# about the kind\n# in two lines\n${kind}${version}`)).toBe(
      `${version}# about the kind\n# in two lines\n${kind}`,
    );
    expect(await formOf(`# the file\n\n# about the kind\n${kind}${version}`)).toBe(
      `# the file\n\n${version}# about the kind\n${kind}`,
    );
    expect(await formOf(`# the file\n\n${kind}${version}`)).toBe(`# the file\n\n${version}${kind}`);
    const editor = '# yaml-language-server: $schema=x.json\n';
    expect(await formOf(`${editor}# about the kind\n${kind}${version}---\n${editor}${kind}${version}`)).toBe(
      `${editor}${version}# about the kind\n${kind}---\n${editor}${version}${kind}`,
    );
  });

  it('keeps a comment behind an opening bracket on its line', async () => {
    const text = `${tidy.replace('{}', '')}  tags: { # gitleaks:allow
      env: x }
  triggerPatterns: [  # gitleaks:allow
      a, b ]
  remoteStateConsumers: &r [ # empty
    # really
    ]
  lists:
    - [ # one
      1 ]
`;
    expect(await formOf(text)).toBe(`${tidy.replace(' {}', '')}  triggerPatterns: # gitleaks:allow
    - a
    - b
  tags: # gitleaks:allow
    env: x
  remoteStateConsumers: &r [] # empty
    # really
  lists:
    - # one
      - 1
`);
    const nested = tidy.replace('{}', '{ tags: { # gitleaks:allow\n  env: x } }');
    expect(await trueup(['fmt', '-'], { cwd: temporaryFolder(), stdin: nested })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('a comment follows two opening brackets on one line'),
    });
  });

  it('has null for an empty value in brackets', async () => {
    expect(await formOf(tidy.replace('{}', '{a: , b: 1}'))).toBe(tidy.replace('{}', '{ a: null, b: 1 }'));
    expect(await formOf(tidy.replace('{}', '{\n  a: , # A\n  b: # B\n  , c: }'))).toBe(
      tidy.replace(' {}', '\n  a: # A\n  b: # B\n  c:'),
    );
  });

  it('can be computed for a text with very many lines', async () => {
    const text = tidy.replace('{}', `\n  description: |\n${'    a\n'.repeat(150_000)}`);
    expect(await formOf(text.replace('spec: ', 'spec:').trimEnd())).toBe(
      text.replace('spec: ', 'spec:').trimEnd(),
    );
  });

  it('of JSON is JSON', async () => {
    const value = { kind: 'Workspace', apiVersion: 'trueup.dev/v1', metadata: { name: 'a' }, spec: {} };
    const { kind, apiVersion, ...rest } = value;
    const ordered = { apiVersion, kind, ...rest };
    expect(await formOf(JSON.stringify(value))).toBe(JSON.stringify(ordered));
    expect(await formOf(`${JSON.stringify(value, null, 4)}\n`)).toBe(`${JSON.stringify(ordered, null, 2)}\n`);
  });

  it('of JSON keeps the spelling of numbers', async () => {
    const json =
      '{"apiVersion":"trueup.dev/v1","kind":"Workspace","id":12345678901234567890,"v":[1.10,1E2,-0],"t":"\\"1.10\\u0020number1end"}';
    expect(await formOf(json)).toBe(json.replace('\\u0020', ' '));
  });

  it.each(['neutral', 'hcp-terraform'])(
    'is what export writes, from a service that speaks %s',
    async (dialect) => {
      const bench = await openBench({
        dialects: [dialect],
        organization: {
          workspaces: [
            { name: 'net', 'tag-bindings': { env: 'prod', 'cost-center': '4711' }, tags: ['core'] },
            { name: 'app' },
          ],
        },
      });
      const net = await bench.idOf('net');
      await bench.byHand.update(net, {
        description: 'two\nlines\n\n',
        'execution-mode': 'local',
        'trigger-patterns': ['/net/**/*', '*odd'],
      });
      const consumer = { type: 'workspaces', id: await bench.idOf('app') };
      await bench.byHand.post(`/workspaces/${net}/relationships/remote-state-consumers`, {
        data: [consumer],
      });
      await bench.byHandMount('POST', 'role/web', {
        bound_service_account_names: ['web'],
        bound_service_account_namespaces: ['*'],
        token_policies: ['read'],
        token_ttl: 5400,
      });
      const stack = await bench.checkout({
        workspaces: { dialect },
        spec: { manifests: ['manifests/**/*.yaml'] },
      });
      await stack.run(['export', '--out', 'manifests'], 0);
      const { out, err } = await stack.run(['fmt', '--check', 'manifests'], 0);
      expect({ out, err }).toEqual({
        out: '',
        err: expect.stringMatching(/^formatted already: [3-9] files\n$/),
      });
    },
  );
});

describe('the files', () => {
  it('of a stack are formatted and listed, and a second run changes nothing', async () => {
    const cwd = stackWith({
      'manifests/a.yaml': untidy,
      'manifests/b.yaml': tidy.replace('app', 'b'),
      'manifests/drafts/c.yaml': untidy,
      'manifests/.hidden/d.yaml': untidy,
      'other.yaml': untidy,
    });
    const first = await trueupProcess(['fmt'], { cwd });
    expect(first).toEqual({ code: 0, out: 'manifests/a.yaml\n', err: 'formatted: 1 of 3 files\n' });
    expect(read(cwd, 'manifests/a.yaml')).toBe(tidy);
    const second = await trueupProcess(['fmt'], { cwd });
    expect(second).toEqual({ code: 0, out: '', err: 'formatted already: 3 files\n' });
    for (const left of ['manifests/drafts/c.yaml', 'manifests/.hidden/d.yaml', 'other.yaml'])
      expect(read(cwd, left)).toBe(untidy);
  });

  it('are only listed with --check, which exits with 2', async () => {
    const cwd = stackWith({ 'manifests/a.yaml': untidy });
    expect(await trueup(['fmt', '--check'], { cwd })).toEqual({
      code: 2,
      out: 'manifests/a.yaml\n',
      err: 'not formatted: 1 of 2 files; run "trueup fmt" to format them\n',
    });
    expect(read(cwd, 'manifests/a.yaml')).toBe(untidy);
  });

  it('are shown as a patch with --diff, which hides addresses and writes nothing', async () => {
    const cwd = stackWith({
      'trueup.yaml': stackText.replace('url: embedded', 'url:   "https://u:pw@host"'),
    });
    const { code, out } = await trueup(['fmt', '--diff'], { cwd });
    expect(code).toBe(2);
    expect(out).toContain('--- a/trueup.yaml\n+++ b/trueup.yaml\n');
    expect(out).not.toContain('pw@');
    expect(read(cwd, 'trueup.yaml')).toContain('url:   "');
  });

  it('keep mode, line ends, byte order mark and a missing last line break', async () => {
    const text = `\uFEFF${untidy.replaceAll('\n', '\r\n').trimEnd()}`;
    const cwd = stackWith({ 'manifests/a.yaml': text });
    chmodSync(join(cwd, 'manifests/a.yaml'), 0o640);
    expect(await trueup(['fmt'], { cwd })).toMatchObject({ code: 0 });
    expect(read(cwd, 'manifests/a.yaml')).toBe(`\uFEFF${tidy.replaceAll('\n', '\r\n').trimEnd()}`);
    expect(statSync(join(cwd, 'manifests/a.yaml')).mode & 0o777).toBe(0o640);
  });

  it('can be named one by one, or by a directory', async () => {
    const cwd = stackWith({ 'manifests/a.yaml': untidy, 'more/s.yml': untidy, 'odd.txt': untidy });
    const { code, out } = await trueup(['fmt', 'more', 'odd.txt'], { cwd });
    expect({ code, out: out.split('\n').sort() }).toEqual({ code: 0, out: ['', 'more/s.yml', 'odd.txt'] });
    expect([read(cwd, 'more/s.yml'), read(cwd, 'odd.txt')]).toEqual([tidy, tidy]);
    expect(read(cwd, 'manifests/a.yaml')).toBe(untidy);
  });

  it('of a directory that are not manifests are left as they are and counted', async () => {
    const other = 'enabled:   yes\noff_peak: off\nday: 2020-01-01\nlimit: .inf\non: push\n';
    const left = {
      'all/workflow.yaml': other,
      'all/service.yaml': 'kind: Service\napiVersion:   v1\n',
      'all/kind.yaml': 'apiVersion:   trueup.dev/v1\nkind: Service\n',
      'all/group.yaml': 'apiVersion:   v1\nkind: Workspace\n',
      'all/mixed.yaml': `${untidy}---\n${other}`,
      'all/template.yaml': 'a: {{ .Values.a }}\n',
      'all/empty.yaml': '#   \n\n\n# nothing\n',
    };
    const cwd = stackWith({ ...left, 'all/a.yaml': untidy });
    expect(await trueup(['fmt', 'all'], { cwd })).toEqual({
      code: 0,
      out: 'all/a.yaml\n',
      err: 'formatted: 1 of 1 file\n7 files that are not manifests were skipped\n',
    });
    for (const [path, text] of Object.entries(left)) expect(read(cwd, path)).toBe(text);
    expect(await trueup(['fmt', '--check', 'all'], { cwd })).toMatchObject({ code: 0, out: '' });
  });

  it('that are named and are not manifests are refused with the reason', async () => {
    const text = `${untidy}---\non:   push\n`;
    const cwd = stackWith({ 'a.yaml': untidy, 'b.yaml': text });
    const { code, out, err } = await trueup(['fmt', 'a.yaml', 'b.yaml'], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: 'a.yaml\n' });
    expect(err).toContain('error[not-formattable] b.yaml:6:1');
    expect(err).toContain('it has a document that is not a manifest');
    expect(read(cwd, 'b.yaml')).toBe(text);
    const input = await trueup(['fmt', '-'], { cwd, stdin: 'on:   push\n' });
    expect(input).toMatchObject({ code: 1, out: '', err: expect.stringContaining('-:1:1') });
  });

  it('of a stack are formatted also if validate refuses their kind, and also if a directory names them too', async () => {
    const cwd = stackWith({ 'manifests/a.yaml': 'kind:   Workspce\n' });
    expect(await trueup(['fmt', '.', 'manifests'], { cwd })).toMatchObject({
      code: 0,
      out: 'manifests/a.yaml\n',
    });
    expect(read(cwd, 'manifests/a.yaml')).toBe('kind: Workspce\n');
  });

  it('from standard input go to standard output', async () => {
    const cwd = temporaryFolder();
    expect(await trueup(['fmt', '-'], { cwd, stdin: untidy })).toEqual({ code: 0, out: tidy, err: '' });
    expect(await trueup(['fmt', '-', '--check'], { cwd, stdin: untidy })).toMatchObject({
      code: 2,
      out: '-\n',
    });
    expect(await trueup(['fmt', '-', '--check'], { cwd, stdin: tidy })).toMatchObject({ code: 0, out: '' });
    expect(await trueup(['fmt', '-'], { cwd, stdin: 'a: [' })).toMatchObject({ code: 7, out: '' });
    expect(await trueup(['fmt', '-'], { cwd, stdin: `\uFEFF${untidy}` })).toMatchObject({
      code: 0,
      out: `\uFEFF${tidy}`,
    });
  });
});

describe('a file that cannot be formatted', () => {
  it.each([
    [
      'an anchor below its alias',
      'kind: Workspace\nspec: &s x\napiVersion: trueup.dev/v1\nmetadata: *s\n',
      '&s',
    ],
    ['a key behind "?"', '? a\n: b\n', '"?"'],
    ['an anchor on a key', '&k a: b\nc: *k\n', '&k'],
  ])(
    'because of %s is left as it is and reported, and the others are formatted',
    async (_, text, message) => {
      const cwd = stackWith({ 'manifests/a.yaml': untidy, 'manifests/odd.yaml': text });
      const { code, out, err } = await trueup(['fmt'], { cwd });
      expect({ code, out }).toEqual({ code: 1, out: 'manifests/a.yaml\n' });
      expect(err).toContain('error[not-formattable]');
      expect(err).toContain('"manifests/odd.yaml" cannot be formatted and is left as it is');
      expect(err).toContain(message);
      expect(read(cwd, 'manifests/odd.yaml')).toBe(text);
    },
  );

  it('because trueup fails on it is left as it is and reported, and the others are formatted', async () => {
    const text = tidy.replace('Workspace', 'Broken');
    const cwd = stackWith({ 'manifests/a.yaml': untidy, 'manifests/odd.yaml': text });
    const broken = new (class extends Map<string, Kind> {
      override get(name: string) {
        if (name === 'Broken') throw new RangeError('with a part of the file');
        return super.get(name);
      }
    })(kinds);
    const args = ['fmt', 'manifests/odd.yaml', 'manifests/a.yaml'];
    const { code, out, err } = await trueup(args, { cwd, kinds: broken });
    expect({ code, out }).toEqual({ code: 1, out: 'manifests/a.yaml\n' });
    expect(err).toContain('error[not-formattable]');
    expect(err).toContain('trueup failed on it with RangeError');
    expect(err).not.toContain('with a part of the file');
    expect(read(cwd, 'manifests/odd.yaml')).toBe(text);
  });

  it('because it is not YAML is reported with its place, and the others are formatted', async () => {
    const cwd = stackWith({ 'manifests/a.yaml': untidy, 'manifests/odd.yaml': 'a: 1\nb: [\n' });
    const { code, out, err } = await trueup(['fmt'], { cwd });
    expect({ code, out }).toEqual({ code: 7, out: 'manifests/a.yaml\n' });
    expect(err).toContain('error[yaml-syntax] manifests/odd.yaml:2:4');
  });

  it('because it lies outside of the repository is refused', async () => {
    const outside = temporaryFolder({ 'x.yaml': untidy });
    const cwd = stackWith({ 'manifests/a.yaml': tidy });
    symlinkSync(join(outside, 'x.yaml'), join(cwd, 'manifests/x.yaml'));
    for (const args of [
      ['fmt'],
      ['fmt', 'manifests'],
      ['fmt', 'manifests/x.yaml'],
      ['fmt', join(outside, 'x.yaml')],
    ]) {
      const { code, err } = await trueup(args, { cwd });
      expect({ args, code, err }).toMatchObject({
        code: 7,
        err: expect.stringContaining('outside-repository'),
      });
    }
    expect(read(outside, 'x.yaml')).toBe(untidy);
  });

  it('because it does not exist is an error', async () => {
    const cwd = stackWith({});
    expect(await trueup(['fmt', 'none.yaml'], { cwd })).toMatchObject({ code: 1, out: '' });
    mkdirSync(join(cwd, 'empty'));
    expect(await trueup(['fmt', 'empty'], { cwd })).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no YAML file in "empty"'),
    });
  });
});

it('a link inside the repository stays a link, and its target is formatted', async () => {
  const cwd = stackWith({ 'shared/a.yaml': untidy });
  mkdirSync(join(cwd, 'manifests'));
  symlinkSync('../shared/a.yaml', join(cwd, 'manifests/a.yaml'));
  expect(await trueup(['fmt'], { cwd })).toMatchObject({ code: 0, out: 'manifests/a.yaml\n' });
  expect(lstatSync(join(cwd, 'manifests/a.yaml')).isSymbolicLink()).toBe(true);
  expect(read(cwd, 'shared/a.yaml')).toBe(tidy);
});

it('fmt also formats manifests that validate refuses', async () => {
  const cwd = stackWith({ 'manifests/a.yaml': `${untidy}unknown:   1\n` });
  expect(await trueup(['fmt'], { cwd })).toMatchObject({ code: 0 });
  expect(read(cwd, 'manifests/a.yaml')).toBe(`${tidy}unknown: 1\n`);
});
