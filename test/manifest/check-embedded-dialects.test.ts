import { expect, it } from 'vitest';
import { readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest =
  'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, target: one }\nspec: {}\n';

async function messagesFor(...targets: readonly string[]): Promise<string[]> {
  const stack = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests]
  targets:
${targets.map((target) => `    - { ${target} }\n`).join('')}`;
  const { diagnostics } = await readOne(parentManifest, stack);
  return formatDiagnostics(diagnostics);
}

const organization = 'name: one, service: workspaces, url: embedded, organization: acme';
const mount = (name: string, about: string) =>
  `name: ${name}, service: cluster-auth, url: embedded, mount: ${name}, ${about}`;

it('two targets that use different dialects with the embedded service are an error of validate', async () => {
  const [problem, ...others] = await messagesFor(
    organization,
    mount('two', 'dialect: fortress'),
    mount('three', 'dialect: neutral'),
  );
  expect(problem).toContain(
    'embedded-dialects: target "three" uses the dialect "neutral" with the embedded service, and "two" uses "fortress"',
  );
  expect(others).toEqual([]);
  expect(
    await messagesFor(organization, mount('two', 'dialect: fortress'), mount('three', 'owns: [a]')),
  ).toMatchObject([expect.stringContaining('target "three" uses the dialect "neutral"')]);
});

it('one dialect for all targets of a service is fine, beside another service at an address', async () => {
  const elsewhere = 'url: "https://secrets.example.com", dialect: fortress, token: { env: T }';
  expect(
    await messagesFor(
      organization,
      mount('two', 'dialect: fortress'),
      mount('three', 'dialect: fortress'),
      `name: four, service: cluster-auth, mount: cluster, ${elsewhere}`,
    ),
  ).toEqual([]);
});
