import { describe, expect, it } from 'vitest';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const twoOrganizations = plainStack.replace(
  '    - { name: prod',
  '    - { name: beta, service: workspaces, url: embedded, organization: beta }\n    - { name: prod',
);
const parentManifest = (metadata: string) =>
  `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app${metadata} }\nspec: {}\n`;

async function choose(metadata: string, stack = twoOrganizations) {
  const { resources, diagnostics } = await readOne(parentManifest(metadata), stack);
  return {
    targets: resources.map(({ address }) => address.target),
    messages: formatDiagnostics(diagnostics),
  };
}

describe('the target of a manifest', () => {
  it('is the only one that serves its kind', async () => {
    expect(await choose('', plainStack)).toEqual({ targets: ['acme'], messages: [] });
  });

  it('has to be named if there are several', async () => {
    expect(await choose(', target: beta')).toEqual({ targets: ['beta'], messages: [] });
    expect(await choose('')).toEqual({
      targets: [],
      messages: [
        'manifests/a.yaml:3:1+8 ambiguous-target: several targets serve Parent, and "metadata.target" names none | allowed "acme" or "beta" | fix: add "target: acme" to "metadata", or another of them',
      ],
    });
  });

  it('may be several targets, with a resource for each', async () => {
    expect(await choose(', targets: [acme, beta]')).toEqual({ targets: ['acme', 'beta'], messages: [] });
  });

  it('has to exist', async () => {
    expect(await choose(', target: acmee')).toEqual({
      targets: [],
      messages: [
        'manifests/a.yaml:3:32+5 unknown-target: the stack has no target "acmee" | allowed "acme" or "beta" | fix: did you mean "acme"?',
      ],
    });
    expect((await choose(', targets: [acme, bata]')).messages).toEqual([
      'manifests/a.yaml:3:40+4 unknown-target: the stack has no target "bata" | allowed "acme" or "beta" | fix: did you mean "beta"?',
    ]);
  });

  it('has to be of the service that serves the kind', async () => {
    expect(await choose(', target: prod')).toEqual({
      targets: [],
      messages: [
        'manifests/a.yaml:3:32+4 wrong-service: target "prod" is of service "cluster-auth", which does not serve Parent | allowed "acme" or "beta" | fix: name one of these',
      ],
    });
  });

  it('is missing if no target serves the kind', async () => {
    const onlyProd = plainStack.replace(/ {4}- \{ name: acme.*\n/, '');
    expect(await choose('', onlyProd)).toEqual({
      targets: [],
      messages: [
        'manifests/a.yaml:3:1+8 no-target: no target of the stack serves Parent | fix: add a target of service "workspaces" to the stack',
      ],
    });
  });

  it('is written in only one way', async () => {
    expect((await choose(', target: acme, targets: [beta]')).messages).toEqual([
      'manifests/a.yaml:3:38+7 contradiction: "metadata.target" and "metadata.targets" are both set | fix: keep one of them | the other one manifests/a.yaml:3:32',
    ]);
    expect((await choose(', targets: []')).messages).toEqual([
      'manifests/a.yaml:3:33+2 too-few: "metadata.targets" has too few members | found 0 | allowed at least 1',
    ]);
  });
});
