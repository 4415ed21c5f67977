import { expect, it } from 'vitest';

import { bindings, seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const IN_PLATFORM = { project: { data: { type: 'projects', id: 'prj-platform' } } };

it('includes organization and project once, however many workspaces share them', async () => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  await api.created({ name: 'b' });
  await api.created({ name: 'c' }, IN_PLATFORM);
  const { included } = (await api.get(`${LIST}?include=organization,project`)).document;
  expect(included?.map(({ type, attributes }) => `${type} ${attributes['name']}`).toSorted()).toEqual([
    'organizations acme',
    'projects Default Project',
    'projects platform',
  ]);
});

it('includes effective tag bindings on list, and links each workspace to its own', async () => {
  const api = await serveForTest();
  await api.created({ name: 'a' }, { ...bindings({ env: 'prod' }), ...IN_PLATFORM });
  await api.created({ name: 'b' }, IN_PLATFORM);
  await api.created({ name: 'c' });
  const { resources, document } = await api.get(`${LIST}?sort=name&include=effective_tag_bindings`);
  expect(document.included).toHaveLength(3);
  const byId = new Map(document.included?.map((item) => [item.id, item]));
  const bound = resources.map(({ relationships }) => {
    const linkage = relationships['effective-tag-bindings']?.data as { id: string; type: string }[];
    return linkage.map(({ id, type }) => {
      expect(type).toBe('effective-tag-bindings');
      const item = byId.get(id);
      return [item?.attributes['key'], item?.attributes['value'], item?.links?.['inherited-from']];
    });
  });
  const project = '/api/v2/projects/prj-platform';
  expect(bound).toEqual([
    [
      ['env', 'prod', undefined],
      ['tier', 'gold', project],
    ],
    [
      ['tier', 'gold', project],
      ['env', 'shared', project],
    ],
    [],
  ]);
});

it('gives direct bindings no links object at all, and inherited ones their relationship', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, { ...bindings({ own: 'x' }), ...IN_PLATFORM });
  const { included } = (await api.get(`/workspaces/${id}?include=effective_tag_bindings`)).document;
  const direct = included?.find(({ attributes }) => attributes['key'] === 'own');
  const inherited = included?.find(({ attributes }) => attributes['key'] === 'tier');
  expect(Object.keys(direct ?? {})).toEqual(['id', 'type', 'attributes']);
  expect(inherited?.relationships).toEqual({
    'inherited-from': { data: { id: 'prj-platform', type: 'projects' } },
  });
});

it('puts no linkage where the include was not asked for', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, bindings({ own: 'x' }));
  const plain = await api.get(`/workspaces/${id}`);
  expect(plain.document).not.toHaveProperty('included');
  expect(plain.resource.relationships['effective-tag-bindings']).toEqual({
    links: { related: `/api/v2/workspaces/${id}/effective-tag-bindings` },
  });
});

it('includes the user or the team that holds the lock', async () => {
  const api = await serveForTest();
  const a = await api.created({ name: 'a' });
  const b = await api.created({ name: 'b' });
  await api.post(`/workspaces/${a}/actions/lock`);
  await api.as('managers').post(`/workspaces/${b}/actions/lock`);
  const { included } = (await api.get(`${LIST}?include=locked_by`)).document;
  expect(
    included?.map(({ type, attributes }) => [type, attributes['username'] ?? attributes['name']]),
  ).toEqual([
    ['users', 'ann'],
    ['teams', 'managers'],
  ]);
});

it('includes the current run', async () => {
  const workspaces = [{ name: 'a', runs: [{ status: 'applied' }, { status: 'planned', id: 'run-2' }] }];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const { resource, document } = await api.get('/organizations/acme/workspaces/a?include=current_run');
  expect(resource.relationships['current-run']?.data).toEqual({ id: 'run-2', type: 'runs' });
  expect(resource.relationships['latest-run']).toEqual(resource.relationships['current-run']);
  expect(document.included?.map(({ id, attributes }) => [id, attributes['status']])).toEqual([
    ['run-2', 'planned'],
  ]);
});

it.each([
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'outputs',
  'readme',
])('knows the include %s, which has nothing to give here', async (name) => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  const answer = await api.get(`${LIST}?include=${name}`);
  expect(answer.status).toBe(200);
  expect(answer.document.included).toEqual([]);
});

it('accepts includes joined by commas and repeated', async () => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  const { included } = (await api.get(`${LIST}?include=organization,readme&include=project`)).document;
  expect(included?.map(({ type }) => type)).toEqual(['organizations', 'projects']);
});

it.each([LIST, `${LIST}/a`])('answers 400 to an unknown include on %s', async (path) => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  const answer = await api.get(`${path}?include=organization,moon`);
  expect(answer.status).toBe(400);
  expect(answer.errors).toEqual([
    {
      status: '400',
      title: 'bad request',
      detail: '"moon" is not a valid include parameter',
      source: { parameter: 'include' },
    },
  ]);
});

it.each(['constructor', '__proto__', 'toString'])('does not mistake %s for an include', async (name) => {
  const api = await serveForTest();
  expect((await api.get(`${LIST}?include=${name}`)).status).toBe(400);
});
