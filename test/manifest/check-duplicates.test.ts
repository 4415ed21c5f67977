import { describe, expect, it } from 'vitest';
import { plainStack, read, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest = (name: string, spec = '{}') =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const messagesFor = async (manifest: string) => formatDiagnostics((await readOne(manifest)).diagnostics);

describe('a resource that is declared twice', () => {
  it('is reported with both places, across files', async () => {
    const { diagnostics } = await read({
      'trueup.yaml': plainStack,
      'manifests/a.yaml': parentManifest('one'),
      'manifests/b.yaml': `${parentManifest('two')}---\n${parentManifest('one')}`,
    });
    expect(formatDiagnostics(diagnostics)).toEqual([
      'manifests/b.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('is reported even if one of the two is invalid', async () => {
    expect(
      await messagesFor(`${parentManifest('one', '{ runMode: x }')}---\n${parentManifest('one')}`),
    ).toEqual([
      'manifests/a.yaml:4:18+1 not-allowed: "spec.runMode" cannot have this value | found the text "x" | allowed "remote", "local", "agent" or null',
      'manifests/a.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may be declared by a short form and by its own document', async () => {
    const document =
      'apiVersion: trueup.dev/v1\nkind: Labels\nmetadata: { name: app }\nspec: { labels: {} }\n';
    expect(await messagesFor(`${parentManifest('app', '{ tags: { a: b } }')}---\n${document}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Labels "app" is declared twice for target "acme": by "tags" of Parent "app" and by a separate document | fix: keep one of them | first declared here manifests/a.yaml:4:9',
    ]);
    expect(await messagesFor(`${document}---\n${parentManifest('app', '{ tags: { a: b } }')}`)).toEqual([
      'manifests/a.yaml:9:9+4 duplicate: Labels "app" is declared twice for target "acme": by "tags" of Parent "app" and by a separate document | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may have two names that are the same in lower case', async () => {
    const role = (name: string) =>
      `apiVersion: trueup.dev/v1\nkind: Role\nmetadata: { name: ${name} }\nspec: { holders: [a] }\n`;
    expect(await messagesFor(`${role('App')}---\n${role('app')}`)).toEqual([
      'manifests/a.yaml:8:19+3 same-name: the names "App" and "app" fold to the same name: for target "prod" both are Role "app" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may be declared and have a removal request', async () => {
    const removalRequest = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: one, remove: safe }\n';
    expect(await messagesFor(`${parentManifest('one')}---\n${removalRequest}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });
});

it('the same name in two targets, or for two kinds, is not a duplicate', async () => {
  const stack = plainStack.replace(
    '    - { name: prod',
    '    - { name: beta, service: workspaces, url: embedded, organization: beta }\n    - { name: prod',
  );
  const targets = parentManifest('one').replace('name: one', 'name: one, targets: [acme, beta]');
  const { diagnostics, resources } = await readOne(targets, stack);
  expect(diagnostics).toEqual([]);
  expect(resources).toHaveLength(2);
});
