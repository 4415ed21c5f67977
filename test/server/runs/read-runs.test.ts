import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      'configuration-versions': [{ id: 'cv-1' }],
      runs: [
        { id: 'run-1', status: 'errored', 'plan-duration': 5 },
        {
          id: 'run-2',
          status: 'applied',
          'plan-duration': 5,
          'apply-duration': 7,
          'resource-additions': 2,
          'configuration-version': 'cv-1',
        },
        { id: 'run-3', status: 'pending' },
      ],
    },
  ],
});
const LIST = '/workspaces/ws-a/runs';

it('lists the runs of a workspace, the newest first, and filters them', async () => {
  const api = await serveForTest({ seed: SEED });
  const ids = async (query = '') => (await api.get(`${LIST}${query}`)).resources.map(({ id }) => id);
  expect(await ids()).toEqual(['run-3', 'run-2', 'run-1']);
  const [newest] = (await api.get(LIST)).resources;
  expect(newest).toMatchObject({ type: 'runs', attributes: { status: 'pending' } });
  expect((await api.get('/runs/run-3')).resource).toEqual(newest);
  expect(await ids('?filter[status]=applied,errored')).toEqual(['run-2', 'run-1']);
  expect(await ids('?filter[source]=somewhere')).toEqual([]);
  expect(await ids('?page[size]=1&page[number]=2')).toEqual(['run-2']);
});

it('shows a run with its plan and its apply, each at its own address', async () => {
  const api = await serveForTest({ seed: SEED });
  const { relationships } = (await api.get('/runs/run-2')).resource;
  expect(relationships['configuration-version']?.data).toEqual({
    id: 'cv-1',
    type: 'configuration-versions',
  });
  const plan = (await api.get('/runs/run-2/plan')).resource;
  expect(plan).toMatchObject({ type: 'plans', attributes: { status: 'finished', 'resource-additions': 2 } });
  expect(relationships['plan']?.data).toEqual({ id: plan.id, type: 'plans' });
  expect((await api.get(`/plans/${plan.id}`)).resource).toEqual(plan);
  const apply = (await api.get('/runs/run-2/apply')).resource;
  expect(apply).toMatchObject({
    type: 'applies',
    attributes: { status: 'finished', 'resource-additions': 2 },
  });
  expect((await api.get(`/applies/${apply.id}`)).resource).toEqual(apply);
});

it.each([
  ['run-1', 'finished', 'unreachable'],
  ['run-3', 'pending', 'pending'],
])('shows the progress of %s: plan %s, apply %s', async (run, plan, apply) => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get(`/runs/${run}/plan`)).resource.attributes['status']).toBe(plan);
  expect((await api.get(`/runs/${run}/apply`)).resource.attributes['status']).toBe(apply);
});

it.each(['/runs/run-1', '/runs/run-1/plan', LIST])(
  'hides %s from users of other organizations',
  async (path) => {
    const api = await serveForTest({ seed: SEED });
    expect((await api.as('eve').get(path)).status).toBe(404);
    expect((await api.as('readers').get(path)).status).toBe(200);
  },
);

it('answers 404 to runs, plans and applies that do not exist', async () => {
  const api = await serveForTest({ seed: SEED });
  for (const path of ['/runs/x', '/runs/x/plan', '/plans/x', '/applies/x', '/plans/run-1']) {
    expect([path, (await api.get(path)).status]).toEqual([path, 404]);
  }
  expect((await api.post('/runs/x/actions/apply')).status).toBe(404);
});
