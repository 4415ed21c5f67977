/** A stack whose services are the embedded one, in a directory of its own. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { role, workspace } from './documents.ts';

export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'trueup-serve-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/** A stack whose two targets are the embedded service; `more` stands in its `spec`, too. */
export async function embeddedStack(more: object = {}): Promise<string> {
  const directory = await emptyDirectory();
  await mkdir(join(directory, 'manifests'));
  const stack = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'payments' },
    spec: {
      manifests: ['manifests/*.yaml'],
      targets: [
        { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' },
        { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'cluster' },
      ],
      ...more,
    },
  };
  await writeFile(join(directory, 'trueup.yaml'), JSON.stringify(stack));
  const documents = [workspace('app', { tags: { env: 'prod' } }), role('web')];
  await writeFile(
    join(directory, 'manifests', 'all.yaml'),
    documents.map((document) => JSON.stringify(document)).join('\n---\n'),
  );
  return directory;
}
