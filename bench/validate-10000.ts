/**
 * How long `validate` takes on one file with many documents, against reading the same text as YAML and nothing else.
 * `node bench/validate-10000.ts [documents] [rounds]`
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { trueup } from '../test/support/captured-host.ts';
import { asDocuments, names, role, workspace } from '../test/support/scale/counted-stack.ts';
import { printTimes, sideBySide } from './side-by-side.ts';

const [count = 10_000, rounds = 5] = process.argv.slice(2).map(Number);
const directory = await mkdtemp(join(tmpdir(), 'trueup-bench-'));
const file = join(directory, 'manifests.yaml');

const stack = {
  apiVersion: 'trueup.dev/v1',
  kind: 'Stack',
  metadata: { name: 'bench' },
  spec: {
    manifests: ['manifests.yaml'],
    targets: [
      { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' },
      { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'cluster' },
    ],
  },
};

const half = Math.ceil(count / 2);
const ring = names('ws', half).map((name, index, all) =>
  workspace(name, {
    autoApply: true,
    tags: { env: 'prod', number: `${index}` },
    ...(all.length < 2 ? {} : { remoteStateConsumers: [all[(index + 1) % all.length]] }),
  }),
);

try {
  await writeFile(join(directory, 'trueup.yaml'), JSON.stringify(stack));
  await writeFile(file, asDocuments([...ring, ...names('role', count - half).map((name) => role(name))]));
  console.log(`${count} documents in one file, ${rounds} rounds in turns:`);
  const timed = await sideBySide(
    {
      'js-yaml alone': async () => {
        loadAll(await readFile(file, 'utf8'));
      },
      'trueup validate': async () => {
        const { code, err } = await trueup(['validate'], { cwd: directory });
        if (code !== 0) throw new Error(err.slice(0, 2000));
      },
    },
    rounds,
  );
  printTimes(timed);
} finally {
  await rm(directory, { recursive: true });
}
