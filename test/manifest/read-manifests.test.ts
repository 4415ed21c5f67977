import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as yaml from 'js-yaml';
import { describe, expect, it, vi } from 'vitest';
import { dialects } from '../../src/api/dialects.ts';
import { kinds } from '../../src/kinds/index.ts';
import { readManifests } from '../../src/manifest/read-manifests.ts';
import { plainStack, read, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';
import { sampleDialects, sampleKinds } from '../support/manifest/sample-kinds.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

vi.mock('js-yaml', { spy: true });

const parentManifest = (name: string) =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: ${name} }\nspec: {}\n`;
const names = ({ resources }: { resources: readonly { address: { name: string } }[] }) =>
  resources.map(({ address }) => address.name);

describe('a directory of manifests', () => {
  const files = {
    'trueup.yaml': plainStack,
    'manifests/b.yaml': `${parentManifest('two')}---\n${parentManifest('three')}`,
    'manifests/a.yml': parentManifest('one'),
    'manifests/notes.txt': 'not: [yaml',
  };

  it('is read in the order of its files, and its files are counted', async () => {
    const manifests = await read(files);
    expect(names(manifests)).toEqual(['one', 'two', 'three']);
    expect(manifests).toMatchObject({ files: 2, documents: 3, diagnostics: [], complete: true });
    expect(manifests.stack).toMatchObject({ name: 'payments', file: 'trueup.yaml' });
  });

  it('is found from below, and its files are shown as you would type them there', async () => {
    const manifests = await read(
      { ...files, 'manifests/c.yaml': 'a: [', '.git/HEAD': '' },
      { from: 'manifests' },
    );
    expect(manifests.stack?.file).toBe('../trueup.yaml');
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'c.yaml:1:4+1 yaml-syntax: a "[" or "{" is not closed | fix: close it',
    ]);
  });

  it('may be given as a path, or as its stack file', async () => {
    const elsewhere = Object.fromEntries(
      Object.entries(files).map(([path, text]) => [`stacks/pay/${path}`, text]),
    );
    expect(names(await read(elsewhere, { path: 'stacks/pay' }))).toEqual(['one', 'two', 'three']);
    const manifests = await read(elsewhere, { path: 'stacks/pay/trueup.yaml' });
    expect(manifests.resources[0]?.place.file).toBe('stacks/pay/manifests/a.yml');
    expect(manifests.stack?.directory).toMatch(/stacks\/pay$/);
  });

  it('may contain manifests beside the Stack, which is not counted as a manifest', async () => {
    const stack = `${plainStack.replace('[manifests]', '["**/*.yaml"]')}---\n${parentManifest('own')}`;
    const manifests = await read({ 'trueup.yaml': stack, 'a.yaml': parentManifest('one') });
    expect(names(manifests)).toEqual(['own', 'one']);
    expect(manifests).toMatchObject({ files: 2, documents: 2, complete: true });
  });

  it('is parsed once for each file, for any number of patterns, and with ten thousand documents in one file', async () => {
    vi.clearAllMocks();
    const many = Array.from({ length: 10_000 }, (_, number) => parentManifest(`app-${number}`)).join('---\n');
    const manifests = await read({
      'trueup.yaml': plainStack.replace('[manifests]', '[manifests, "**/*.yaml", manifests/a.yaml]'),
      'manifests/a.yaml': many,
    });
    expect(manifests).toMatchObject({ files: 1, documents: 10_000, diagnostics: [], complete: true });
    expect(yaml.parseEvents).toHaveBeenCalledTimes(2);
    expect(manifests.resources.at(-1)?.place).toMatchObject({ line: 49_998, column: 19, length: 8 });
    expect(yaml.constructFromEvents).toHaveBeenCalledTimes(2);
  });
});

describe('standard input', () => {
  const files = {
    'trueup.yaml': `${plainStack}---\n${parentManifest('own')}`,
    'manifests/a.yaml': parentManifest('one'),
  };

  it('is a complete selection of a stack that has its own files', async () => {
    for (const items of ['[manifests]', '[manifests, "-"]', '["!manifests/**"]']) {
      const stack = files['trueup.yaml'].replace('[manifests]', items);
      const manifests = await read(
        { ...files, 'trueup.yaml': stack },
        { path: '-', stdin: parentManifest('two') },
      );
      expect(names(manifests), items).toEqual(['two']);
      expect(manifests, items).toMatchObject({ isSelection: true, files: 1, documents: 1, complete: true });
    }
  });

  it('is the complete input of a stack without its own files, and of any stack on request', async () => {
    for (const items of ['["-"]', '[]']) {
      const stack = files['trueup.yaml'].replace('[manifests]', items);
      const manifests = await read(
        { ...files, 'trueup.yaml': stack },
        { path: '-', stdin: parentManifest('two') },
      );
      expect(names(manifests), items).toEqual(['own', 'two']);
      expect(manifests, items).toMatchObject({ isSelection: false, complete: true });
    }
    const manifests = await read(files, { path: '-', stdin: parentManifest('two'), inputIsWhole: true });
    expect(names(manifests)).toEqual(['own', 'two']);
    expect(manifests).toMatchObject({ isSelection: false, complete: true });
  });

  it('is reported with its mistakes and their places', async () => {
    const manifests = await read(files, {
      path: '-',
      stdin: `${parentManifest('two')}---\n${parentManifest('two')}`,
    });
    expect(manifests).toMatchObject({ files: 1, documents: 2, complete: false });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      '-:8:19+3 duplicate: Parent "two" is declared twice for target "acme" | fix: keep one of them | first declared here -:3:19',
    ]);
  });

  it('may contain its Stack', async () => {
    const stdin = `${parentManifest('one')}---\n${plainStack.replace('[manifests]', '["-"]')}`;
    const manifests = await read({}, { path: '-', stdin });
    expect(names(manifests)).toEqual(['one']);
    expect(manifests.stack).toMatchObject({ name: 'payments', file: '-' });
    expect(manifests).toMatchObject({ files: 1, isSelection: false, complete: true });
    const filed = await read(
      { 'manifests/a.yaml': parentManifest('two') },
      { path: '-', stdin: `${parentManifest('one')}---\n${plainStack}` },
    );
    expect(names(filed)).toEqual(['one', 'two']);
    expect(filed).toMatchObject({ files: 2, isSelection: false, complete: true });
  });

  it('may be one of the manifests of the stack', async () => {
    const files = {
      'trueup.yaml': plainStack.replace('[manifests]', '[manifests, "-"]'),
      'manifests/a.yaml': parentManifest('one'),
    };
    expect(names(await read(files, { stdin: parentManifest('two') }))).toEqual(['one', 'two']);
    const without = await read(files);
    expect(formatDiagnostics(without.diagnostics)).toEqual([
      'no-input: manifests are expected on standard input, and there is none',
    ]);
    expect(without.complete).toBe(false);
  });

  it('without a document is an error, for any way of requesting it', async () => {
    const empty = [
      'no-document: standard input holds no document | fix: pipe manifests into it; a stack without manifests has "manifests: []"',
    ];
    const files = { 'trueup.yaml': plainStack, 'manifests/a.yaml': parentManifest('one') };
    const listed = { ...files, 'trueup.yaml': plainStack.replace('[manifests]', '[manifests, "-"]') };
    for (const stdin of ['', ' \n', '# nothing\n', '---\n']) {
      for (const manifests of [
        await read(files, { path: '-', stdin }),
        await read(listed, { stdin }),
        await read(listed, { path: '-', stdin }),
      ]) {
        expect(formatDiagnostics(manifests.diagnostics), stdin).toEqual(empty);
        expect(manifests.diagnostics).toMatchObject([{ severity: 'error', class: 'invalid' }]);
        expect(manifests.complete).toBe(false);
      }
    }
  });

  it('with a Stack but no manifest is an error, unless the stack has no manifests', async () => {
    const bring = (items: string) => read({}, { path: '-', stdin: plainStack.replace('[manifests]', items) });
    expect(formatDiagnostics((await bring('["-"]')).diagnostics)).toEqual([
      'no-document: standard input holds a Stack and no manifest | fix: pipe manifests into it; a stack without manifests has "manifests: []"',
    ]);
    expect(await bring('[]')).toMatchObject({ diagnostics: [], resources: [], complete: true });
  });

  it('is read only when it is requested', async () => {
    const folder = temporaryFolder({ 'trueup.yaml': plainStack, 'manifests/a.yaml': parentManifest('one') });
    const stdin = () => Promise.reject(new Error('nobody asked'));
    const manifests = await readManifests({
      cwd: folder,
      stdin,
      kinds: sampleKinds,
      dialects: sampleDialects,
    });
    expect(manifests.complete).toBe(true);
  });

  it('without a stack is still checked for mistakes', async () => {
    const manifests = await read({}, { path: '-', stdin: parentManifest('"a b"') });
    expect(manifests.diagnostics.map(({ code }) => code)).toEqual(['no-stack', 'pattern']);
    expect(manifests.complete).toBe(false);
  });
});

describe('an incomplete read is reported', () => {
  it('when a file is not YAML, and reads the others', async () => {
    const manifests = await read({
      'trueup.yaml': plainStack,
      'manifests/a.yaml': 'a:b\nc: d',
      'manifests/b.yaml': parentManifest('one'),
    });
    expect(names(manifests)).toEqual(['one']);
    expect(manifests.complete).toBe(false);
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'manifests/a.yaml:1:2+1 yaml-syntax: a colon needs a space behind it | fix: write "field: value"',
    ]);
  });

  it('when a directory is empty, a pattern matches nothing, or a file is missing', async () => {
    const manifests = await read({
      'trueup.yaml': plainStack.replace('[manifests]', '[empty, "more/*.yaml", one.yaml]'),
      'empty/notes.txt': '',
    });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'trueup.yaml:5:15+5 no-manifests: the directory "empty" holds no manifest | fix: correct the patterns, or write { pattern: "empty", optional: true } if it may match nothing',
      'trueup.yaml:5:22+13 no-manifests: no file matches "more/*.yaml" | fix: correct the patterns, or write { pattern: "more/*.yaml", optional: true } if it may match nothing',
      'trueup.yaml:5:37+8 no-file: "one.yaml" does not exist | fix: correct the patterns, or write { pattern: "one.yaml", optional: true } if it may match nothing',
    ]);
    expect(manifests.diagnostics.map((diagnostic) => [diagnostic.severity, diagnostic.class])).toEqual([
      ['warning', 'incomplete'],
      ['warning', 'incomplete'],
      ['error', 'incomplete'],
    ]);
    expect(manifests.complete).toBe(false);
  });

  it('when exclusions remove all files of a pattern, or when there are only exclusions', async () => {
    const excluded = await read({
      'trueup.yaml': plainStack.replace('[manifests]', '[manifests, "!manifests/**"]'),
      'manifests/a.yaml': parentManifest('one'),
    });
    expect(formatDiagnostics(excluded.diagnostics)).toEqual([
      'trueup.yaml:5:15+9 no-manifests: the exclusions remove all files of "manifests" | fix: correct the patterns, or write { pattern: "manifests", optional: true } if it may match nothing',
    ]);
    const onlyExclusions = await read({
      'trueup.yaml': plainStack.replace('[manifests]', '["!manifests/**"]'),
      'manifests/a.yaml': parentManifest('one'),
    });
    expect(formatDiagnostics(onlyExclusions.diagnostics)).toEqual([
      'trueup.yaml:5:14+17 no-manifests: "spec.manifests" has only exclusions, and no pattern for manifests | fix: add a pattern; a stack without manifests has "manifests: []"',
    ]);
    for (const { complete, diagnostics } of [excluded, onlyExclusions]) {
      expect(complete).toBe(false);
      expect(diagnostics).toMatchObject([{ severity: 'warning', class: 'incomplete' }]);
    }
  });

  it('when a pattern matches only the stack file, unless that contains manifests, too', async () => {
    const stack = plainStack.replace('[manifests]', '["*.yaml"]');
    const alone = await read({ 'trueup.yaml': stack, 'a.yml': parentManifest('one') });
    expect(formatDiagnostics(alone.diagnostics)).toEqual([
      'trueup.yaml:5:15+8 no-manifests: "*.yaml" matches only the stack file, which holds no manifest | fix: correct the patterns, or write { pattern: "*.yaml", optional: true } if it may match nothing',
    ]);
    expect(alone.complete).toBe(false);
    const own = await read({ 'trueup.yaml': `${stack}---\n${parentManifest('own')}` });
    expect(own).toMatchObject({ diagnostics: [], complete: true });
  });

  it('when a file has no document, because it is empty or a comment', async () => {
    for (const text of ['', ' \n', '# nothing here any more\n', '---\n', '---\n# a\n---\n...\n', '~\n']) {
      const empty = await readOne(text);
      expect(formatDiagnostics(empty.diagnostics), text).toEqual([
        'empty-file: "manifests/a.yaml" holds no document | fix: write manifests into it, or delete it',
      ]);
      expect(empty, text).toMatchObject({ documents: 0, complete: false });
    }
    const beside = await readOne(`# a comment\n---\n${parentManifest('one')}---\n`);
    expect(beside).toMatchObject({ diagnostics: [], documents: 1, complete: true });
  });

  it('when a file cannot be read, or is not text', async () => {
    const folder = temporaryFolder({
      'trueup.yaml': plainStack,
      'manifests/b.yaml': new Uint8Array([0x61, 0x3a, 0x20, 0xff]),
    });
    await symlink(join(folder, 'nowhere'), join(folder, 'manifests/a.yaml'));
    const manifests = await readManifests({ cwd: folder, kinds: sampleKinds, dialects: sampleDialects });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'unreadable-file: "manifests/a.yaml" cannot be read: ENOENT | fix: check that it exists and may be read',
      'manifests/b.yaml:1:4+1 not-utf-8: "manifests/b.yaml" is not UTF-8 text | fix: save it as UTF-8',
    ]);
    expect(manifests.diagnostics.map((diagnostic) => diagnostic.class)).toEqual(['incomplete', 'invalid']);
    expect(manifests.complete).toBe(false);
  });

  it('when a manifest is invalid', async () => {
    expect(await readOne(parentManifest('"a b"'))).toMatchObject({ resources: [], complete: false });
  });
});

describe('a read without manifests is complete', () => {
  it('when the stack declares that there are none', async () => {
    const manifests = await read({ 'trueup.yaml': plainStack.replace('[manifests]', '[]') });
    expect(manifests).toMatchObject({ diagnostics: [], files: 0, documents: 0, complete: true });
  });

  it('when a pattern without a match is optional', async () => {
    const items =
      '[manifests, { pattern: more/**, optional: true }, { pattern: manifests/old, optional: true }, "!manifests/old/**"]';
    const files = {
      'trueup.yaml': plainStack.replace('[manifests]', items),
      'manifests/a.yaml': parentManifest('one'),
      'manifests/old/b.yaml': parentManifest('two'),
    };
    const manifests = await read(files);
    expect(names(manifests)).toEqual(['one']);
    expect(manifests).toMatchObject({ diagnostics: [], complete: true });
    expect(manifests.stack?.manifests).toEqual([
      'manifests',
      'more/**',
      'manifests/old',
      '!manifests/old/**',
    ]);
    const plain = await read({ ...files, 'trueup.yaml': files['trueup.yaml'].replace('true', 'false') });
    expect(plain.complete).toBe(false);
  });
});

describe('the stack', () => {
  it('may be missing', async () => {
    const manifests = await read({ 'a.yaml': parentManifest('one') });
    expect(manifests).toMatchObject({ resources: [], files: 0, complete: false });
    expect(manifests.diagnostics).toMatchObject([{ code: 'no-stack', class: 'failure' }]);
  });

  it('has to contain a document of kind Stack', async () => {
    const manifests = await read({ 'a.yaml': parentManifest('one') }, { path: 'a.yaml' });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'a.yaml:1:1+1 no-stack: "a.yaml" holds no document of kind "Stack" | allowed a document with "apiVersion: trueup.dev/v1", "kind: Stack", "metadata.name", "spec.manifests" and "spec.targets" | fix: add one, or give the path of the stack',
    ]);
  });

  it('is an error if another one is among the manifests', async () => {
    const manifests = await read({
      'trueup.yaml': plainStack.replace('[manifests]', '["**/*.yaml"]'),
      'other/trueup.yaml': plainStack,
    });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'other/trueup.yaml:2:7+5 second-stack: the manifests of a stack include another Stack | fix: exclude this file from "spec.manifests", with a pattern such as "!other/**" | the stack that is read trueup.yaml:2:7',
    ]);
  });

  it('is reported like any other file if it is not YAML', async () => {
    const manifests = await read({ 'trueup.yaml': 'kind: Stack\n\tspec: 1\n' });
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([
      'trueup.yaml:2:1+1 yaml-syntax: a tab indents this line | fix: indent with spaces',
    ]);
  });
});

describe('with the kinds of trueup', () => {
  const stack = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests]
  targets:
    - { name: acme, service: workspaces, url: embedded, organization: acme }
    - { name: prod, service: cluster-auth, url: embedded, owns: ["payments-*"] }
  defaults:
    Workspace: { executionMode: remote, allowDestroyPlan: false }
`;
  const readReal = async (manifest: string) => {
    const cwd = temporaryFolder({ 'trueup.yaml': stack, 'manifests/a.yaml': manifest });
    return readManifests({ cwd, kinds, dialects });
  };

  it('the example of the design is valid', async () => {
    const manifests = await readReal(`apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: network-prod }
spec:
  executionMode: remote
  engineVersion: ~> 1.9.0
  vcsRepo: { identifier: acme/network, oauthTokenId: ot-1, branch: main }
  tags: { env: prod, team: network }
  remoteStateConsumers: [app-prod, app-staging]
---
apiVersion: trueup.dev/v1
kind: ClusterAuthRole
metadata: { name: payments-api }
spec:
  boundServiceAccountNames: [payments-api]
  boundServiceAccountNamespaces: [payments]
  audience: payments
  tokenPolicies: [payments-read]
  tokenTtl: 1h
`);
    expect(formatDiagnostics(manifests.diagnostics)).toEqual([]);
    expect(
      manifests.resources.map(({ address }) => `${address.kind}/${address.target}/${address.name}`),
    ).toEqual([
      'Workspace/acme/network-prod',
      'TagBindings/acme/network-prod',
      'RemoteStateConsumers/acme/network-prod',
      'ClusterAuthRole/prod/payments-api',
    ]);
    expect(manifests.resources[0]?.fromDefaults).toEqual(['allowDestroyPlan']);
    expect(manifests.complete).toBe(true);
  });

  it('the spellings of the API are translated', async () => {
    const { diagnostics } = await readReal(
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: a }\nspec:\n  execution-mode: remote\n---\napiVersion: trueup.dev/v1\nkind: ClusterAuthRole\nmetadata: { name: payments-a }\nspec:\n  boundServiceAccountNames: [a]\n  boundServiceAccountNamespaces: [a]\n  token_ttl: 1h\n',
    );
    expect(
      formatDiagnostics(diagnostics).map((line) => line.replace(/ \| allowed .* \| fix/, ' | fix')),
    ).toEqual([
      'manifests/a.yaml:5:3+14 unknown-field: there is no field "execution-mode" in "spec" | fix: write "executionMode": fields have the API\'s names in camelCase',
      'manifests/a.yaml:13:3+9 unknown-field: there is no field "token_ttl" in "spec" | fix: write "tokenTtl": fields have the API\'s names in camelCase',
    ]);
  });

  it('a reviewer JWT in a manifest is refused and not shown', async () => {
    const { diagnostics } = await readReal(
      'apiVersion: trueup.dev/v1\nkind: ClusterAuthConfig\nmetadata: { name: config }\nspec:\n  clusterHost: https://10.0.0.1\n  tokenReviewerJwt: eyJplanted\n',
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['literal-secret']);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  });
});
