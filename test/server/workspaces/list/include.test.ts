import { expect, it } from 'vitest';

import { bindings, seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const IN_PLATFORM = { project: { data: { type: 'projects', id: 'prj-platform' } } };

it('includes organization and project once, even if several workspaces share them', async () => {
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

it('shows direct bindings without links, and inherited ones with their relationship', async () => {
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

it('has no linkage if the request has no include', async () => {
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
  'vars',
  'current_state_version',
  'current_assessment_result',
])('accepts the include %s, which is empty for a new workspace', async (name) => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  const answer = await api.get(`${LIST}?include=${name}`);
  expect(answer.status).toBe(200);
  expect(answer.document.included).toEqual([]);
});

const FULL = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      'configuration-versions': [
        { id: 'cv-run', 'ingress-attributes': { branch: 'main' } },
        { id: 'cv-current', 'ingress-attributes': { branch: 'next' } },
      ],
      runs: [{ id: 'run-1', status: 'applied', 'configuration-version': 'cv-run' }],
      'state-versions': [{ id: 'sv-1', outputs: [{ name: 'url', value: 'https://x' }] }],
      vars: [{ id: 'var-1', key: 'region', value: 'eu' }],
      'assessment-results': [{ id: 'asmtres-1', drifted: true }],
      readme: '# Hello',
    },
  ],
  teams: [{ name: 'lookers', token: 'lookers', 'workspace-access': { a: ['can-lock'] } }],
});

it.each([
  ['current_configuration_version', ['configuration-versions cv-current']],
  [
    'current_configuration_version.ingress_attributes',
    ['configuration-versions cv-current', expect.stringMatching(/^ingress-attributes /)],
  ],
  ['current_run.configuration_version', ['runs run-1', 'configuration-versions cv-run']],
  [
    'current_run.configuration_version.ingress_attributes',
    ['runs run-1', 'configuration-versions cv-run', expect.stringMatching(/^ingress-attributes /)],
  ],
  ['current_run.plan', ['runs run-1', expect.stringMatching(/^plans /)]],
  ['current_run.apply', ['runs run-1', expect.stringMatching(/^applies /)]],
  ['current_state_version', ['state-versions sv-1']],
  ['current-state-version', ['state-versions sv-1']],
  ['outputs', [expect.stringMatching(/^workspace-outputs wsout-/)]],
  ['vars', ['vars var-1']],
  ['readme', [expect.stringMatching(/^workspace-readme /)]],
  ['current_assessment_result', ['assessment-results asmtres-1']],
])('includes the linked resource with %s', async (name, expected) => {
  // The expiry of signed links depends on the clock.
  const noon = new Date('2026-06-01T12:00:00Z');
  const api = await serveForTest({ seed: FULL, now: () => noon });
  const shown = await api.get(`/workspaces/ws-a?include=${name}`);
  expect(shown.document.included?.map(({ type, id }) => `${type} ${id}`)).toEqual(expected);
  expect((await api.get(`${LIST}?include=${name}`)).document.included).toEqual(shown.document.included);
  const linked = JSON.stringify([shown.resource.relationships, shown.document.included]);
  for (const { id } of shown.document.included ?? [])
    expect(linked.split(`"${id}"`).length).toBeGreaterThan(2);
});

it('includes the same document as the address of each resource', async () => {
  const api = await serveForTest({ seed: FULL });
  const names =
    'current_run.plan,current_configuration_version.ingress_attributes,vars,current_assessment_result';
  const { included } = (await api.get(`/workspaces/ws-a?include=${names}`)).document;
  expect(included).toHaveLength(6);
  for (const item of included ?? []) {
    const self = (item.links?.['self'] ?? '').replace('/api/v2', '');
    expect([self, (await api.get(self)).resource]).toEqual([self, item]);
  }
});

it('includes the text of the README and the value of outputs', async () => {
  const api = await serveForTest({ seed: FULL });
  const { included } = (await api.get('/workspaces/ws-a?include=readme,outputs')).document;
  expect(included?.map(({ attributes }) => attributes['raw-markdown'] ?? attributes['value'])).toEqual([
    '# Hello',
    'https://x',
  ]);
});

it('neither includes nor links to what the caller may not read', async () => {
  const api = await serveForTest({ seed: FULL });
  const names = 'vars,outputs,current_state_version,current_assessment_result';
  const { document, resource } = await api.as('lookers').get(`/workspaces/ws-a?include=${names}`);
  expect(document.included).toEqual([]);
  expect([resource.relationships['vars'], resource.relationships['outputs']]).toEqual([
    { data: [] },
    { data: [] },
  ]);
});

it('includes the run that holds the lock', async () => {
  const workspaces = [{ name: 'a', 'locked-by-run': 'run-7' }];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const { included } = (await api.get(`${LIST}?include=locked_by`)).document;
  expect(included?.map(({ type, id }) => [type, id])).toEqual([['runs', 'run-7']]);
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
