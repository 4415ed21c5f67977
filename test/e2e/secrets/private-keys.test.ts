// A private key that somebody wrote into a manifest: it is reported, and shown nowhere.
import { describe, expect, it } from 'vitest';
import { caCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { clusterAuthTarget, stackIn } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** Made-up lines, which belong to no key. */
const lines = [
  'MC4CAQAwBQYDK2VwBCIEIKhv7DpvFMlgbLTjG1EL4f1UDFwkHVib',
  'qZ9xW3uR7tYb5r2ZfvRsRYM0PlankedKeyBody1Nn==',
];
const armoured = (label = 'PRIVATE KEY') => [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`];
const key = armoured().join('\n');

const head = 'apiVersion: trueup.dev/v1\nkind: ClusterAuthConfig\nmetadata: { name: config }\n';
const indented = (text: string, by = '    ') => text.replace(/^/gm, by);

/** A config in JSON on one line, its members in this order. */
const json = (spec: object) =>
  JSON.stringify({
    apiVersion: 'trueup.dev/v1',
    kind: 'ClusterAuthConfig',
    metadata: { name: 'config' },
    spec,
  });

const host = 'clusterHost: https://k';

const styles: readonly [title: string, text: string][] = [
  ['in JSON', json({ clusterHost: 'https://k', clusterCaCert: key })],
  [
    'in JSON, as one of several keys',
    json({ clusterHost: 'https://k', clusterCaCert: caCert, pemKeys: ['x', key] }),
  ],
  ['with a label', json({ clusterHost: 'https://k', clusterCaCert: armoured('EC PRIVATE KEY').join('\n') })],
  [
    'with a passphrase',
    json({
      clusterHost: 'https://k',
      clusterCaCert: key.replace(
        'KEY-----\n',
        'KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n',
      ),
    }),
  ],
  [
    'with escaped hyphens',
    json({ clusterHost: 'https://k', clusterCaCert: key }).replaceAll('-----', String.raw`\u002d----`),
  ],
  ['behind the certificate', json({ clusterHost: 'https://k', clusterCaCert: caCert + key })],
  ['cut off', json({ clusterHost: 'https://k', clusterCaCert: key.slice(0, -30) })],
  ['as a block', `${head}spec:\n  ${host}\n  clusterCaCert: |\n${indented(key)}\n`],
  ['as a folded block', `${head}spec:\n  ${host}\n  clusterCaCert: >-\n${indented(key)}\n`],
  ['as a plain text', `${head}spec:\n  ${host}\n  clusterCaCert:\n${indented(key)}\n`],
  ['on one line, without quotes', `${head}spec:\n  ${host}\n  clusterCaCert: ${key.replaceAll('\n', ' ')}\n`],
  ['in single quotes', `${head}spec:\n  ${host}\n  clusterCaCert: '${key.replaceAll('\n', '\\n')}'\n`],
  [
    'in quotes over several lines',
    `${head}spec:\n  ${host}\n  clusterCaCert: "${key.replaceAll('\n', '\\n\\\n    ')}"\n`,
  ],
  ['in a name that no field has', `${head}spec:\n  ${host}\n  cert: |\n${indented(key)}\n`],
];

/** The same manifest with one more mistake, right before the key or right behind it. */
const neighbours: readonly [title: string, change: (text: string) => string][] = [
  ['alone', (text) => text],
  ['behind a host that is a number', (text) => text.replace(/"?https:\/\/k"?/, '7')],
  [
    'before an issuer that is a number',
    (text) => text.replace(/\}\}$/, ',"issuer":7}}').replace(/\n$/, '\n  issuer: 7\n'),
  ],
  [
    'with a missing host',
    (text) => text.replace(/"clusterHost":"https:\/\/k",|clusterHost: https:\/\/k\n {2}/, ''),
  ],
];

async function validated(text: string): Promise<string> {
  const targets = [clusterAuthTarget('http://127.0.0.1:9')];
  const stack = stackIn({ directory: temporaryFolder(), stack: { targets } });
  await stack.write('manifests.yaml', text);
  const outputs: string[] = [];
  for (const args of [['validate'], ['validate', '--format', 'json'], ['plan']]) {
    const { out, err } = await stack.run(args, 7);
    outputs.push(out + err);
  }
  return outputs.join('\n');
}

/** Expects no eight consecutive characters of the body of the key. */
function expectNoKey(output: string): void {
  const shown = lines.flatMap((line) =>
    Array.from({ length: line.length - 7 }, (_, at) => line.slice(at, at + 8)).filter((part) =>
      output.includes(part),
    ),
  );
  expect(shown, output).toEqual([]);
}

describe.each(neighbours)('A private key in a manifest, %s', (_, change) => {
  it.each(styles)('is reported and not shown: %s', async (_style, text) => {
    const output = await validated(change(text));
    expect(output).toContain('holds a private key, which must not be in a manifest');
    expectNoKey(output);
  });
});

describe('A private key outside of the known fields is not shown', () => {
  const wrong = `${head}spec: { clusterHost: 7, clusterCaCert: x }`;
  it.each([
    ['in a comment', `${wrong} # ${key.replaceAll('\n', '\\n')}`],
    ['in a comment over several lines', `# ${key.replaceAll('\n', '\n# ')}\n${wrong}`],
    ['in the name of a field', `${head}spec:\n  ${host}\n  ${JSON.stringify(key)}: 1\n`],
    ['in a text that is not YAML', json({ clusterHost: 'https://k', clusterCaCert: key }).slice(0, -2)],
    ['in a block that is not YAML', `${head}spec:\n  clusterCaCert: |\n${indented(key)}\n @\n`],
    ['on lines that are not YAML', `${head}spec:\n  clusterCaCert: a: b\n${key}\n`],
    ['cut off, in a text that is not YAML', `${head}spec: [\n${key.slice(0, -30)}\n`],
    ['in a document of an unknown kind', `kind: Nothing\nmetadata: { name: ${JSON.stringify(key)} }`],
    [
      'in the name of the resource',
      json({ clusterHost: 'https://k' }).replace('"config"', JSON.stringify(key)),
    ],
  ])('%s', async (_, text) => {
    expectNoKey(await validated(text));
  });
});

it('A field after a private key is shown as usual', async () => {
  const output = await validated(`${head}spec:\n  clusterCaCert: |\n${indented(key)}\n  clusterHost: 7\n`);
  expect(output).toContain('clusterHost: 7');
  expectNoKey(output);
});
