// The labels of stacks: read from the stack files of a commit, and used for the interval of their checks.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readLabels } from '../../../src/commands/fleet/labels.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function labelsOf(files: Readonly<Record<string, string>>) {
  const directory = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  const stacks = Object.keys(files).map((path) => ({ path }));
  return Object.fromEntries(await readLabels({ directory, stacks }));
}

const head = 'apiVersion: trueup.dev/v1\nkind: Stack\n';
const stackText = (labels: string) =>
  `${head}metadata:\n  name: one\n  labels: ${labels}\nspec:\n  manifests: [manifests.yaml]\n  targets:\n    - name: acme\n      service: workspaces\n      url: https://app.example.com\n      token: { env: API_TOKEN }\n`;

it('reads the labels of each stack file, with the keys and values of Kubernetes', async () => {
  expect(
    await labelsOf({
      'a/trueup.yaml': stackText('{ tier: production, example.com/team: "a-b_c.9", empty: "" }'),
      'b/trueup.yaml': `${head}metadata: { name: b }\n`,
      'c/trueup.yaml': `kind: Other\nmetadata: { labels: { tier: wrong } }\n---\n${stackText('{ tier: test }')}`,
    }),
  ).toEqual({
    'a/trueup.yaml': { tier: 'production', 'example.com/team': 'a-b_c.9', empty: '' },
    'c/trueup.yaml': { tier: 'test' },
  });
});

it.each([
  ['that are not YAML', `${stackText('{ tier: production }')}\n  - [`],
  ['with a value that is not a text', stackText('{ tier: 3 }')],
  ['with a value that Kubernetes refuses', stackText('{ tier: "a b" }')],
  ['with a key that Kubernetes refuses', stackText('{ "-tier": a }')],
  ['with a key that is too long', stackText(`{ ${'a'.repeat(64)}: a }`)],
  ['with the key __proto__ and a map', stackText('{ "__proto__": { tier: production } }')],
  ['that are not a map', stackText('[tier]')],
  ['that are longer than 100 kB', `${stackText('{ tier: production }')}#${'x'.repeat(100_000)}`],
  [
    'with exploding aliases',
    stackText(
      `{ tier: production }\nx:\n  - &a [labels, labels]\n${Array.from({ length: 25 }, (_, level) => {
        const [name, before] = ['bcdefghijklmnopqrstuvwxyz'[level], 'abcdefghijklmnopqrstuvwxyz'[level]];
        return `  - &${name} [*${before}, *${before}, *${before}, *${before}]`;
      }).join('\n')}`,
    ),
  ],
])('reads no labels from stack files %s, and continues', async (_, text) => {
  const fine = stackText('{ tier: test }');
  expect(await labelsOf({ 'a/trueup.yaml': text, 'b/trueup.yaml': fine })).toEqual({
    'b/trueup.yaml': { tier: 'test' },
  });
});

it('continues if a file is missing, or is not a regular file', async () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, 'folder'));
  symlinkSync('/dev/zero', join(directory, 'device'));
  const stacks = ['gone', 'folder', 'device'].map((path) => ({ path }));
  expect([...(await readLabels({ directory, stacks }))]).toEqual([]);
});

it('reads the labels of 2,000 stack files in less than a second of processor time', async () => {
  const text = stackText('{ tier: production, team: payments }');
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'trueup.yaml'), text);
  const stacks = Array.from({ length: 2000 }, (_, index) => ({ path: `stack-${index}/../trueup.yaml` }));
  await readLabels({ directory, stacks });
  const began = process.cpuUsage();
  expect((await readLabels({ directory, stacks })).size).toBe(2000);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1e6).toBeLessThan(1);
});
