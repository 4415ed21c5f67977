// Renames over the real wire: a workspace keeps its id, its tags and its consumers, whoever renames it and wherever.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-world.ts';
import {
  type Organization,
  openEmbeddedOrganization,
} from '../../support/services/workspaces/open-organization.ts';

let organization: Organization;
let directory: string;
const env = { API_TOKEN: 'owner-token' };

beforeEach(async () => {
  organization = await openEmbeddedOrganization();
  directory = await mkdtemp(join(tmpdir(), 'trueup-rename-'));
  const target = {
    name: 'acme',
    service: 'workspaces',
    url: organization.session.target.url,
    organization: 'acme',
    token: { env: 'API_TOKEN' },
    dialect: 'neutral',
  };
  const stack = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'payments' },
    spec: { manifests: ['manifests.yaml'], targets: [target] },
  };
  await writeFile(join(directory, 'trueup.yaml'), JSON.stringify(stack));
});
afterEach(async () => {
  await organization.close();
  await rm(directory, { recursive: true });
});

const manifest = (kind: string, metadata: object, spec: object) =>
  JSON.stringify({ apiVersion: 'trueup.dev/v1', kind, metadata, spec });

async function run(documents: readonly string[], ...args: readonly string[]) {
  await writeFile(join(directory, 'manifests.yaml'), documents.join('\n---\n'));
  const ran = await trueup(args, { cwd: directory, env });
  return ran;
}

const reader = manifest('Workspace', { name: 'reader' }, { description: 'reads' });
const app = (metadata: object) => [
  manifest('Workspace', metadata, {}),
  manifest('TagBindings', metadata, { tags: { env: 'prod' } }),
  manifest('RemoteStateConsumers', metadata, { consumers: ['reader'] }),
];
const renamed = { name: 'renamed', renamedFrom: 'app' };

async function idsByName(): Promise<Record<string, string>> {
  const answer = await organization.session.reader.get('/organizations/acme/workspaces');
  const { data } = answer.body as unknown as { data: { id: string; attributes: { name: string } }[] };
  return Object.fromEntries(data.map(({ id, attributes }) => [attributes.name, id]));
}

describe('A workspace that is renamed', () => {
  it('in the service gets its name back, and nothing else is planned', async () => {
    const documents = [...app({ name: 'app' }), reader];
    expect(await run(documents, 'apply', '--yes')).toMatchObject({ code: 0 });
    const before = await idsByName();
    for (const name of ['app', 'reader']) {
      await organization.send('PATCH', `/workspaces/${before[name]}`, {
        data: { type: 'workspaces', attributes: { name: `${name}-moved` } },
      });
    }
    organization.seen.length = 0;
    const applied = await run(documents, 'apply', '--yes');
    expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
    expect(organization.seen.filter((line) => !line.startsWith('GET')).toSorted()).toEqual(
      [before['app'], before['reader']].map((id) => `PATCH /workspaces/${id}`).toSorted(),
    );
    expect(await idsByName()).toEqual(before);
  });

  it('by its manifest keeps its id, its tags and its consumers', async () => {
    expect(await run([...app({ name: 'app' }), reader], 'apply', '--yes')).toMatchObject({ code: 0 });
    const before = await idsByName();
    organization.seen.length = 0;
    const applied = await run([...app(renamed), reader], 'apply', '--yes');
    expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
    expect(organization.seen.filter((line) => !line.startsWith('GET'))).toEqual([
      `PATCH /workspaces/${before['app']}`,
    ]);
    expect(await idsByName()).toEqual({ renamed: before['app'], reader: before['reader'] });
    const again = await run([...app(renamed), reader], 'plan', '--exit-code');
    expect(again, again.out + again.err).toMatchObject({ code: 0 });
  });
});
