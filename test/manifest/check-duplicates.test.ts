import { describe, expect, it } from 'vitest';
import { plainStack, read, readOne, told } from '../support/manifest/manifest-folder.ts';

const whole = (name: string, spec = '{}') =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const say = async (manifest: string) => told((await readOne(manifest)).diagnostics);

describe('a resource that is declared twice', () => {
  it('is reported with both places, across files', async () => {
    const { diagnostics } = await read({
      'trueup.yaml': plainStack,
      'manifests/a.yaml': whole('one'),
      'manifests/b.yaml': `${whole('two')}---\n${whole('one')}`,
    });
    expect(told(diagnostics)).toEqual([
      'manifests/b.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('is reported when one of the two is invalid', async () => {
    expect(await say(`${whole('one', '{ runMode: x }')}---\n${whole('one')}`)).toEqual([
      'manifests/a.yaml:4:18+1 not-allowed: "spec.runMode" cannot have this value | found the text "x" | allowed "remote", "local", "agent" or null',
      'manifests/a.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may be a short form beside its own document', async () => {
    const document =
      'apiVersion: trueup.dev/v1\nkind: Labels\nmetadata: { name: app }\nspec: { labels: {} }\n';
    expect(await say(`${whole('app', '{ tags: { a: b } }')}---\n${document}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Labels "app" is declared twice for target "acme": by "tags" of Parent "app" and by a separate document | fix: keep one of them | first declared here manifests/a.yaml:4:9',
    ]);
    expect(await say(`${document}---\n${whole('app', '{ tags: { a: b } }')}`)).toEqual([
      'manifests/a.yaml:9:9+4 duplicate: Labels "app" is declared twice for target "acme": by "tags" of Parent "app" and by a separate document | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may have two names that fold to one', async () => {
    const role = (name: string) =>
      `apiVersion: trueup.dev/v1\nkind: Role\nmetadata: { name: ${name} }\nspec: { holders: [a] }\n`;
    expect(await say(`${role('App')}---\n${role('app')}`)).toEqual([
      'manifests/a.yaml:8:19+3 same-name: the names "App" and "app" fold to the same name: for target "prod" both are Role "app" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });

  it('may be declared and asked to be removed', async () => {
    const removalRequest = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: one, remove: safe }\n';
    expect(await say(`${whole('one')}---\n${removalRequest}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Parent "one" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });
});

it('one name in two targets, or for two kinds, is no duplicate', async () => {
  const stack = plainStack.replace(
    '    - { name: prod',
    '    - { name: beta, service: workspaces, url: embedded, organization: beta }\n    - { name: prod',
  );
  const targets = whole('one').replace('name: one', 'name: one, targets: [acme, beta]');
  const { diagnostics, resources } = await readOne(targets, stack);
  expect(diagnostics).toEqual([]);
  expect(resources).toHaveLength(2);
});
