import { describe, expect, it } from 'vitest';
import { plainStack, readOne, told } from '../support/manifest/manifest-folder.ts';

const whole = (metadata: string, spec = 'spec: {}\n') =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { ${metadata} }\n${spec}`;
const role = (name: string) =>
  `apiVersion: trueup.dev/v1\nkind: Role\nmetadata: { name: ${name} }\nspec: { holders: [a] }\n`;
const say = async (manifest: string, stack = plainStack) =>
  told((await readOne(manifest, stack)).diagnostics);

describe("a kind's own rules", () => {
  it('are reported at the field that breaks them, with the second place', async () => {
    expect(await say(whole('name: app', 'spec:\n  runMode: local\n  operations: true\n'))).toEqual([
      'manifests/a.yaml:6:15+4 contradiction: "operations" and "runMode" say the same thing twice | the other one manifests/a.yaml:5:12',
    ]);
  });

  it('hold for short forms, at the place in the short form', async () => {
    expect(await say(whole('name: app', 'spec:\n  tags: { trueup-x: a }\n'))).toEqual([
      'manifests/a.yaml:5:21+1 reserved-tag: "trueup-x" is reserved',
    ]);
  });

  it('say when the value is a default of the stack, and say it once', async () => {
    const stack = `${plainStack}  defaults: { Parent: { workers: 7 } }\n`;
    expect(await say(`${whole('name: one')}---\n${whole('name: two')}`, stack)).toEqual([
      'trueup.yaml:9:34+1 not-allowed: seven workers are unlucky in "acme" (a default of the stack) | applies to this manifest manifests/a.yaml:3:19',
    ]);
  });
});

describe('a name', () => {
  const owning = (patterns: string) =>
    plainStack.replace('{ name: prod,', `{ name: prod, owns: ${patterns},`);

  it('is one of those that its target owns', async () => {
    expect(await say(role('Payments-api'), owning('["PAYMENTS-*", ops]'))).toEqual([]);
    expect(await say(role('ops'), owning('["payments-*", ops]'))).toEqual([]);
    expect(await say(role('billing'), owning('["payments-*", ops]'))).toEqual([
      'manifests/a.yaml:3:19+7 outside-owns: target "prod" does not own the name "billing" | allowed "payments-*" or "ops" | fix: rename it, or add a pattern to "owns" of the target',
    ]);
    expect(await say(role('billing'), owning('[]'))).toEqual([
      'manifests/a.yaml:3:19+7 outside-owns: target "prod" does not own the name "billing" | allowed none | fix: rename it, or add a pattern to "owns" of the target',
    ]);
  });

  it('is free where the target says nothing, and for kinds that are not owned by name', async () => {
    expect(await say(role('anything'))).toEqual([]);
    const settings =
      'apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec: { host: x }\n';
    expect(await say(settings, owning('["payments-*"]'))).toEqual([]);
  });

  it('that a resource is renamed from is not declared any more', async () => {
    expect(await say(`${whole('name: new, renamedFrom: old')}---\n${whole('name: old')}`)).toEqual([
      'manifests/a.yaml:8:19+3 renamed-and-declared: Parent "old" is declared, and "new" is to be renamed from it | fix: remove the old document, or "renamedFrom" of the new one | renamed here manifests/a.yaml:3:19',
    ]);
    expect(await say(whole('name: app, renamedFrom: app'))).toEqual([
      'manifests/a.yaml:3:19+3 renamed-and-declared: "metadata.renamedFrom" of "app" is its own name | fix: remove "renamedFrom"',
    ]);
    expect(await say(whole('name: new, renamedFrom: old'))).toEqual([]);
  });
});

describe('a name that a resource had before', () => {
  it('is given up by one resource only, and both places are reported', async () => {
    const heirs = `${whole('name: one, renamedFrom: old')}---\n${whole('name: two, renamedFrom: old')}---\n${whole('name: three, renamedFrom: other')}`;
    expect(await say(heirs)).toEqual([
      'manifests/a.yaml:8:37+3 renamed-twice: "one" and "two" are both to be renamed from Parent "old" of target "acme" | fix: keep "renamedFrom" in one of them | the other one manifests/a.yaml:3:37',
    ]);
    expect(await say(heirs.replaceAll('spec: {}', 'spec: { tags: { a: b } }'))).toHaveLength(1);
  });

  it('may be the former name of one resource in each of several targets', async () => {
    const stack = plainStack.replace(
      '    - { name: prod',
      '    - { name: beta, service: workspaces, url: embedded, organization: beta }\n    - { name: prod',
    );
    expect(await say(whole('name: new, renamedFrom: old, targets: [acme, beta]'), stack)).toEqual([]);
  });

  it('is not reported besides a resource that is declared twice', async () => {
    const twice = whole('name: new, renamedFrom: old');
    expect(await say(`${twice}---\n${twice}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Parent "new" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });
});

describe('a reference', () => {
  const reader = (name: string) => whole('name: app', `spec:\n  readers: [app, ${name}]\n`);

  it('to what is asked to be removed is impossible', async () => {
    expect(await say(`${reader('gone')}---\n${whole('name: gone, remove: safe', '')}`)).toEqual([
      'manifests/a.yaml:5:18+4 reference-to-removed: this refers to Parent "gone", which is to be removed | fix: remove the reference, or keep what it refers to | removed here manifests/a.yaml:9:19',
    ]);
  });

  it('to the name that something had before is out of date', async () => {
    expect(await say(`${reader('old')}---\n${whole('name: new, renamedFrom: old')}`)).toEqual([
      'manifests/a.yaml:5:18+3 reference-to-renamed: this refers to a Parent by the name that it had before | fix: write "new" | renamed here manifests/a.yaml:9:19',
    ]);
  });

  it('to what is not declared may be live: that is for the plan', async () => {
    expect(await say(reader('elsewhere'))).toEqual([]);
  });
});
