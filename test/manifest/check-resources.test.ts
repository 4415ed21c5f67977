import { describe, expect, it } from 'vitest';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest = (metadata: string, spec = 'spec: {}\n') =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { ${metadata} }\n${spec}`;
const role = (name: string) =>
  `apiVersion: trueup.dev/v1\nkind: Role\nmetadata: { name: ${name} }\nspec: { holders: [a] }\n`;
const messagesFor = async (manifest: string, stack = plainStack) =>
  formatDiagnostics((await readOne(manifest, stack)).diagnostics);

describe('the rules of a kind', () => {
  it('report the field that breaks them, with the second place', async () => {
    expect(
      await messagesFor(parentManifest('name: app', 'spec:\n  runMode: local\n  operations: true\n')),
    ).toEqual([
      'manifests/a.yaml:6:15+4 contradiction: "operations" and "runMode" say the same thing twice | the other one manifests/a.yaml:5:12',
    ]);
  });

  it('apply to short forms, at their place', async () => {
    expect(await messagesFor(parentManifest('name: app', 'spec:\n  tags: { trueup-x: a }\n'))).toEqual([
      'manifests/a.yaml:5:21+1 reserved-tag: "trueup-x" is reserved',
    ]);
  });

  it('report a default of the stack as such, and only once', async () => {
    const stack = `${plainStack}  defaults: { Parent: { workers: 7 } }\n`;
    expect(
      await messagesFor(`${parentManifest('name: one')}---\n${parentManifest('name: two')}`, stack),
    ).toEqual([
      'trueup.yaml:9:34+1 not-allowed: seven workers are unlucky in "acme" (a default of the stack) | applies to this manifest manifests/a.yaml:3:19',
    ]);
  });
});

describe('a name', () => {
  const owning = (patterns: string) =>
    plainStack.replace('{ name: prod,', `{ name: prod, owns: ${patterns},`);

  it('has to be one of those that its target owns', async () => {
    expect(await messagesFor(role('Payments-api'), owning('["PAYMENTS-*", ops]'))).toEqual([]);
    expect(await messagesFor(role('ops'), owning('["payments-*", ops]'))).toEqual([]);
    expect(await messagesFor(role('billing'), owning('["payments-*", ops]'))).toEqual([
      'manifests/a.yaml:3:19+7 outside-owns: target "prod" does not own the name "billing" | allowed "payments-*" or "ops" | fix: rename it, or add a pattern to "owns" of the target',
    ]);
    expect(await messagesFor(role('billing'), owning('[]'))).toEqual([
      'manifests/a.yaml:3:19+7 outside-owns: target "prod" does not own the name "billing" | allowed none | fix: rename it, or add a pattern to "owns" of the target',
    ]);
  });

  it('is not checked if the target has no owns, or the kind is not owned by name', async () => {
    expect(await messagesFor(role('anything'))).toEqual([]);
    const settings =
      'apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec: { host: x }\n';
    expect(await messagesFor(settings, owning('["payments-*"]'))).toEqual([]);
  });

  it('is an error if it is declared and another resource is renamed from it', async () => {
    expect(
      await messagesFor(
        `${parentManifest('name: new, renamedFrom: old')}---\n${parentManifest('name: old')}`,
      ),
    ).toEqual([
      'manifests/a.yaml:8:19+3 renamed-and-declared: Parent "old" is declared, and "new" is to be renamed from it | fix: remove the old document, or "renamedFrom" of the new one | renamed here manifests/a.yaml:3:19',
    ]);
    expect(await messagesFor(parentManifest('name: app, renamedFrom: app'))).toEqual([
      'manifests/a.yaml:3:19+3 renamed-and-declared: "metadata.renamedFrom" of "app" is its own name | fix: remove "renamedFrom"',
    ]);
    expect(await messagesFor(parentManifest('name: new, renamedFrom: old'))).toEqual([]);
  });
});

describe('a former name of a resource', () => {
  it('is an error if two resources have it, and both places are reported', async () => {
    const renamed = `${parentManifest('name: one, renamedFrom: old')}---\n${parentManifest('name: two, renamedFrom: old')}---\n${parentManifest('name: three, renamedFrom: other')}`;
    expect(await messagesFor(renamed)).toEqual([
      'manifests/a.yaml:8:37+3 renamed-twice: "one" and "two" are both to be renamed from Parent "old" of target "acme" | fix: keep "renamedFrom" in one of them | the other one manifests/a.yaml:3:37',
    ]);
    expect(await messagesFor(renamed.replaceAll('spec: {}', 'spec: { tags: { a: b } }'))).toHaveLength(1);
  });

  it('may be the former name of one resource in each of several targets', async () => {
    const stack = plainStack.replace(
      '    - { name: prod',
      '    - { name: beta, service: workspaces, url: embedded, organization: beta }\n    - { name: prod',
    );
    expect(
      await messagesFor(parentManifest('name: new, renamedFrom: old, targets: [acme, beta]'), stack),
    ).toEqual([]);
  });

  it('is not reported besides a resource that is declared twice', async () => {
    const twice = parentManifest('name: new, renamedFrom: old');
    expect(await messagesFor(`${twice}---\n${twice}`)).toEqual([
      'manifests/a.yaml:8:19+3 duplicate: Parent "new" is declared twice for target "acme" | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
  });
});

describe('a reference', () => {
  const reader = (name: string) => parentManifest('name: app', `spec:\n  readers: [app, ${name}]\n`);

  it('to a resource with a removal request is an error', async () => {
    expect(
      await messagesFor(`${reader('gone')}---\n${parentManifest('name: gone, remove: safe', '')}`),
    ).toEqual([
      'manifests/a.yaml:5:18+4 reference-to-removed: this refers to Parent "gone", which is to be removed | fix: remove the reference, or keep what it refers to | removed here manifests/a.yaml:9:19',
    ]);
  });

  it('to the former name of a resource is an error', async () => {
    expect(
      await messagesFor(`${reader('old')}---\n${parentManifest('name: new, renamedFrom: old')}`),
    ).toEqual([
      'manifests/a.yaml:5:18+3 reference-to-renamed: this refers to a Parent by the name that it had before | fix: write "new" | renamed here manifests/a.yaml:9:19',
    ]);
  });

  it('to an undeclared resource is left to the plan, because it may be live', async () => {
    expect(await messagesFor(reader('elsewhere'))).toEqual([]);
  });
});
