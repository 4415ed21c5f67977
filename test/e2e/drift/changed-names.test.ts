/** Drift of names: names were exchanged in the service, and the files did not change since the last apply. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import type { Checkout } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { openNames } from '../../support/cli/names-scene.ts';
import { openProjects, project } from '../../support/cli/projects-scene.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');

type Scene = Awaited<ReturnType<typeof openNames>>;

async function driftOf(stack: Checkout, code: number, ...words: string[]): Promise<DriftJson> {
  return JSON.parse((await stack.run(['drift', '--format', 'json', ...words], code)).out) as DriftJson;
}

/** Exchanges the names of two objects of one type. */
async function exchange({ bench }: Scene, type: string, [one, other]: readonly Named[]): Promise<void> {
  const rename = (thing: Named | undefined, name = '') =>
    bench.byHand.patch(`/${type}/${thing?.id}`, { data: { type, id: thing?.id, attributes: { name } } });
  await rename(one, 'meanwhile');
  await rename(other, one?.name);
  await rename(one, other?.name);
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const projects = [
  { id: 'prj-payments', name: 'payments' },
  { id: 'prj-network', name: 'network' },
];

async function exchangedProjects(...more: readonly object[]) {
  const scene = await openNames();
  await scene.stack.setUp(workspace('app', { project: 'payments' }), ...more);
  await exchange(scene, 'projects', projects);
  return scene;
}

describe('Drift after names were exchanged in the service', () => {
  it.each([
    { type: 'projects', things: projects, field: 'projectId', spec: { project: 'payments' } },
    {
      type: 'agent-pools',
      things: [
        { id: 'apool-linux', name: 'linux' },
        { id: 'apool-windows', name: 'windows' },
      ],
      field: 'agentPoolId',
      spec: { executionMode: 'agent', agentPool: 'linux' },
    },
    {
      type: 'ssh-keys',
      things: [
        { id: 'sshkey-modules', name: 'modules' },
        { id: 'sshkey-old', name: 'old' },
      ],
      field: 'sshKeyId',
      spec: { sshKey: 'modules' },
    },
  ])('reports for $type that the name refers to another object, and nothing as pending', async (sort) => {
    const { type, things, field, spec } = sort;
    const scene = await openNames();
    const { stack } = scene;
    await stack.setUp(workspace('app', spec));
    await exchange(scene, type, things);
    const [one, other] = things;
    const drift = await driftOf(stack, 3);
    expect(drift).toMatchObject({
      complete: true,
      summary: { drifted: 0, changedNames: 1, pending: 0, unchanged: 1 },
      drifted: [],
      pending: [],
      changedNames: [
        {
          address: 'Workspace/acme/app',
          field,
          given: one?.name,
          id: other?.id,
          recorded: [one?.id],
          message: `"${one?.name}" (${field}) was "${one?.id}" when it was applied, and is "${other?.id}" now; "${one?.id}" is called "${other?.name}" now`,
          fix: expect.stringContaining(`: ${other?.name}" to stay with "${one?.id}"; an apply refers to`),
          place: { file: 'manifests/all.yaml', line: 1 },
        },
      ],
    });
    await exchange(scene, type, [
      { id: one?.id ?? '', name: other?.name ?? '' },
      { id: other?.id ?? '', name: one?.name ?? '' },
    ]);
    expect((await driftOf(stack, 0)).changedNames).toEqual([]);
  });

  it('reports the name of a connection in the field of a repository', async () => {
    const { bench, stack } = await openNames();
    const vcsRepo = { identifier: 'acme/app', branch: 'main', connection: 'GitHub' };
    await stack.setUp(workspace('app', { vcsRepo }));
    const swapped: Readonly<Record<string, string>> = { GitHub: 'GitLab', GitLab: 'GitHub' };
    bench.wire.add({
      path: /\/oauth-clients/,
      times: 99,
      fault: {
        rewrite: (body: unknown) =>
          JSON.parse(
            JSON.stringify(body).replace(/"(GitHub|GitLab)"/g, (_, name: string) => `"${swapped[name]}"`),
          ),
      },
    });
    await stack.declare(workspace('app', { vcsRepo: { ...vcsRepo, branch: 'next' } }));
    const { pending, changedNames } = await driftOf(stack, 3);
    expect(pending.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(['/vcsRepo/branch']);
    expect(changedNames).toMatchObject([
      { field: 'vcsRepo.oauthTokenId', given: 'GitHub', id: 'ot-lab', recorded: ['ot-git'] },
    ]);
  });

  it('is reported with both ids and the next step in each format', async () => {
    const { stack } = await exchangedProjects();
    const { out: text } = await stack.run(['drift'], 3);
    for (const part of [
      'Names that refer to other objects than at the last apply',
      '"payments" (projectId) was "prj-payments" when it was applied, and is "prj-network" now',
      'fix: give the projects their names back in the service, or write "project: network"',
      '1 name that refers to another object, nothing pending, 1 as last applied',
    ])
      expect(flat(text)).toContain(part);
    expect(text).not.toMatch(/Pending|No drift|changed in the files/);
    const { out: markdown } = await stack.run(['drift', '--format', 'markdown'], 3);
    expect(markdown).toContain('`payments` (projectId) was `prj-payments`');
    expect(markdown).toContain('Give the objects their names back in the service, or `trueup accept` writes');
    expect(markdown).not.toMatch(/Pending|No drift/);
    expect(activeIn(markdown)).toEqual([]);
    const { out: html } = await stack.run(['drift', '--format', 'html'], 3);
    expect(html).toContain('<span class="action update">name</span>');
    expect(html).toContain('was &quot;prj-payments&quot; when it was applied');
    expect(html).not.toMatch(/No drift/);
  });

  it('includes drift of the workspace if somebody moved it, and no pending change', async () => {
    const { bench, stack } = await exchangedProjects();
    const relationships = { project: { data: { type: 'projects', id: 'prj-network' } } };
    const id = await bench.idOf('app');
    await bench.byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', relationships } });
    const { drifted, pending, changedNames } = await driftOf(stack, 3);
    expect(drifted).toMatchObject([{ fields: [{ path: '/projectId', after: 'prj-network' }] }]);
    expect(drifted[0]?.fields[0]).not.toHaveProperty('both');
    expect([pending, changedNames.length]).toEqual([[], 1]);
  });

  it('still reports changes of the files as pending', async () => {
    const { stack } = await exchangedProjects(workspace('two', { projectId: 'prj-payments' }));
    await stack.declare(
      workspace('app', { project: 'Payments EU' }),
      workspace('two', { project: 'payments' }),
    );
    const { pending, changedNames } = await driftOf(stack, 3);
    expect(pending).toMatchObject([
      { name: 'app', fields: [{ path: '/projectId', after: 'prj-eu' }] },
      { name: 'two', fields: [{ path: '/projectId', after: 'prj-network' }] },
    ]);
    expect(changedNames).toMatchObject([{ name: 'two', given: 'payments', recorded: ['prj-payments'] }]);
  });

  it('is reported for a part only if the part has the name', async () => {
    const { stack } = await exchangedProjects(workspace('two', { description: 'other' }));
    expect((await driftOf(stack, 0, '--select', 'Workspace/acme/two')).changedNames).toEqual([]);
    const { part, changedNames } = await driftOf(stack, 3, '--select', 'Workspace/acme/app');
    expect([part?.of, changedNames.map(({ name }) => name)]).toEqual([2, ['app']]);
  });

  it('says that the former object is gone if it was deleted and created again', async () => {
    const { bench, stack } = await openNames();
    await stack.setUp(workspace('app', { sshKey: 'modules' }));
    await bench.byHand.delete('/ssh-keys/sshkey-modules');
    const attributes = { name: 'modules', value: 'not kept' };
    await bench.byHand.post('/organizations/acme/ssh-keys', { data: { type: 'ssh-keys', attributes } });
    const { changedNames, pending } = await driftOf(stack, 3);
    expect(pending).toEqual([]);
    expect(changedNames[0]?.message).toContain('"sshkey-modules" was not found');
    expect(changedNames[0]?.fix).toMatch(/^make sure that "sshkey-\w+" is the right SSH key/);
  });

  it('ends with an acknowledged apply, which records the other ids', async () => {
    const { stack } = await exchangedProjects();
    await stack.applyAcknowledged();
    expect(await driftOf(stack, 0)).toMatchObject({ changedNames: [], pending: [] });
  });
});

describe('Accept after names were exchanged in the service', () => {
  it('writes the names that the objects have now, also with --all, and then nothing is planned', async () => {
    const { bench, stack, projectOf } = await exchangedProjects();
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(await readFile(join(stack.directory, 'manifests/all.yaml'), 'utf8')).toContain(
      '"project":"network"',
    );
    expect(await stack.plan(0)).toMatchObject({ changes: [], guards: [] });
    expect(await driftOf(stack, 0)).toMatchObject({ changedNames: [], pending: [] });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await projectOf('app')).toMatchObject({ data: { id: 'prj-payments' } });
  });

  it('refuses the name of a project that the stack manages, until the projects have their names back', async () => {
    const { stack, idOfProject, change } = await openProjects();
    await stack.setUp(project('one'), project('two'), workspace('app', { project: 'one' }));
    const [one, other] = [await idOfProject('one'), await idOfProject('two')];
    await change(one, { name: 'meanwhile' });
    await change(other, { name: 'one' });
    await change(one, { name: 'two' });
    const { drifted, pending, changedNames } = await driftOf(stack, 3);
    expect(drifted.map(({ is, name }) => `${is} ${name}`)).toEqual(['recreated one', 'recreated two']);
    expect([pending, changedNames.map(({ name, id }) => [name, id])]).toEqual([[], [['app', other]]]);
    for (const words of [['--all'], ['Workspace/acme/app']]) {
      const { out, err } = await stack.run(['accept', ...words, '--yes'], 1);
      expect(flat(out + err)).toContain('"projectId" of "Workspace/acme/app" refers to "Project/acme/one"');
    }
    expect(await readFile(join(stack.directory, 'manifests/all.yaml'), 'utf8')).toContain('"project":"one"');
  });
});
