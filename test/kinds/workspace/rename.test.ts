// Renames with the embedded service: a workspace keeps its id, its tags and its consumers, wherever it is renamed.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { consumers, tagBindings, workspace } from '../../support/cli/documents.ts';
import { type StackFolder, stackIn, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../../support/rig/temporary-folder.ts';
import {
  type Organization,
  openEmbeddedOrganization,
} from '../../support/services/workspaces/open-organization.ts';

let organization: Organization;
let stack: StackFolder;

beforeEach(async () => {
  organization = await openEmbeddedOrganization();
  stack = stackIn({
    directory: makeFolder(),
    stack: { targets: [workspacesTarget(organization.session.target.url)] },
    env: { API_TOKEN: 'owner-token' },
  });
});
afterEach(async () => {
  await organization.close();
  removeFolder(stack.directory);
});

async function run(documents: readonly object[], ...args: readonly string[]) {
  await stack.declare(...documents);
  return stack.tryRun(args);
}

const reader = workspace('reader', { description: 'reads' });
const app = (name: string, metadata: object = {}) => [
  workspace(name, {}, metadata),
  tagBindings(name, { tags: { env: 'prod' } }, metadata),
  consumers(name, { consumers: ['reader'] }, metadata),
];
const renamed = app('renamed', { renamedFrom: 'app' });

async function idsByName(): Promise<Record<string, string>> {
  const answer = await organization.session.reader.get('/organizations/acme/workspaces');
  const { data } = answer.body as unknown as { data: { id: string; attributes: { name: string } }[] };
  return Object.fromEntries(data.map(({ id, attributes }) => [attributes.name, id]));
}

describe('A workspace that is renamed', () => {
  it('in the service gets its name back, and nothing else is planned', async () => {
    const documents = [...app('app'), reader];
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
    expect(await run([...app('app'), reader], 'apply', '--yes')).toMatchObject({ code: 0 });
    const before = await idsByName();
    organization.seen.length = 0;
    const applied = await run([...renamed, reader], 'apply', '--yes');
    expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
    expect(organization.seen.filter((line) => !line.startsWith('GET'))).toEqual([
      `PATCH /workspaces/${before['app']}`,
    ]);
    expect(await idsByName()).toEqual({ renamed: before['app'], reader: before['reader'] });
    const again = await run([...renamed, reader], 'plan', '--exit-code');
    expect(again, again.out + again.err).toMatchObject({ code: 0 });
  });
});
