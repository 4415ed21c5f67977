import { describe, expect, it } from 'vitest';
import { readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest =
  'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, target: one }\nspec: {}\n';

const stack = (...targets: readonly string[]) => `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests]
  targets:
${targets.map((target) => `    - { ${target} }\n`).join('')}`;

/** The diagnostics of a stack with these targets, without the name of its file. */
async function messagesFor(targets: readonly string[], manifest = parentManifest): Promise<string[]> {
  const { diagnostics } = await readOne(manifest, stack(...targets));
  return formatDiagnostics(diagnostics).map((line) => line.replaceAll('trueup.yaml:', ''));
}

const organization = (name: string, about: string) =>
  `name: ${name}, service: workspaces, dialect: neutral, token: { env: T }, ${about}`;
const mount = (name: string, about: string) =>
  `name: ${name}, service: cluster-auth, dialect: neutral, token: { env: T }, ${about}`;
const secrets = 'url: "https://secrets.example.com"';

describe('two targets with the same identity', () => {
  it('are reported with both places, in any spelling of the address', async () => {
    expect(
      await messagesFor([
        organization('one', 'url: "https://app.example.com", organization: acme'),
        organization('two', 'url: "HTTPS://App.Example.com:443/", organization: Acme'),
      ]),
    ).toEqual([
      '8:15+3 one-place: targets "one" and "two" are the same place: workspaces acme at https://app.example.com | fix: keep one of them, and name it in the manifests of both | the other one 7:15',
    ]);
    expect(
      await messagesFor([
        organization('one', 'url: embedded, organization: acme'),
        mount('two', `${secrets}, mount: clusters/a, namespace: team`),
        mount('three', `${secrets}, mount: clusters/a, namespace: /team/, owns: ["a-*"]`),
      ]),
    ).toEqual([
      '9:15+5 one-place: targets "two" and "three" are the same place: cluster-auth team/auth/clusters/a at https://secrets.example.com | fix: keep one of them, or give each an "owns" that matches no name of the other one | the other one 8:15',
    ]);
  });

  it('are fine when both own names and no name can match both', async () => {
    const owning = (name: string, patterns: string) => mount(name, `${secrets}, owns: ${patterns}`);
    const first = organization('one', 'url: embedded, organization: acme');
    expect(
      await messagesFor([first, owning('two', '["pay-*", ops]'), owning('three', '["bill-*"]')]),
    ).toEqual([]);
    expect(
      await messagesFor([first, owning('two', '["pay-*", ops]'), owning('three', '["bill-*", "Op*"]')]),
    ).toEqual([
      '9:135+5 one-place: targets "two" and "three" are the same place: cluster-auth auth/cluster at https://secrets.example.com, and a name can match both "ops" and "Op*" | fix: narrow one of the two, so that no name matches both | the other one 8:132',
    ]);
  });

  it('are only reported if the whole identity is equal', async () => {
    expect(
      await messagesFor([
        organization('one', 'url: "https://app.example.com", organization: acme'),
        organization('two', 'url: "https://app.example.com", organization: acme2'),
        organization('three', 'url: "https://app.example.com:8443", organization: acme'),
        mount('four', secrets),
        mount('five', `${secrets}, mount: other`),
        mount('six', `${secrets}, namespace: team`),
      ]),
    ).toEqual([]);
  });

  it('are reported as a duplicate name if they have one', async () => {
    const twice = organization('one', 'url: embedded, organization: acme');
    expect(await messagesFor([twice, twice])).toEqual([
      '8:15+3 duplicate: two targets are called "one" | fix: give one of them another name | first here 7:15',
    ]);
  });
});

describe('a resource that exists once in a mount', () => {
  const shared = [
    organization('one', 'url: embedded, organization: acme'),
    mount('two', `${secrets}, owns: ["a-*"]`),
    mount('three', `${secrets}, owns: ["b-*"]`),
  ];
  const settings = (metadata: string) =>
    `apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main, ${metadata} }\nspec: { host: x }\n`;

  it('is declared for only one of the targets of that mount', async () => {
    expect(await messagesFor(shared, settings('target: two'))).toEqual([]);
    expect(await messagesFor(shared, `${settings('target: two')}---\n${settings('target: three')}`)).toEqual([
      'manifests/a.yaml:8:19+4 duplicate: Settings "main" is declared for the targets "two" and "three", which are the same place | fix: keep one of them | first declared here manifests/a.yaml:3:19',
    ]);
    expect(await messagesFor(shared, settings('targets: [two, three]'))).toEqual([
      'manifests/a.yaml:3:40+5 duplicate: Settings "main" is declared for the targets "two" and "three", which are the same place | fix: keep one of them | first declared here manifests/a.yaml:3:35',
    ]);
  });

  it('is declared for each target that is another mount', async () => {
    const apart = [...shared.slice(0, 2), mount('three', `${secrets}, mount: other`)];
    expect(await messagesFor(apart, settings('targets: [two, three]'))).toEqual([]);
  });
});
