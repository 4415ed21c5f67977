import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      'assessment-results': [
        { id: 'asmtres-1' },
        { id: 'asmtres-2', drifted: true, succeeded: false, 'error-message': 'no engine' },
      ],
    },
    { name: 'b', id: 'ws-b' },
  ],
  teams: [{ name: 'lookers', token: 'lookers', 'workspace-access': { a: ['can-lock'] } }],
});

it('shows the newest result as the current one of its workspace, and when it was found', async () => {
  const api = await serveForTest({ seed: SEED });
  const current = (await api.get('/workspaces/ws-a/current-assessment-result')).resource;
  expect(current).toMatchObject({
    id: 'asmtres-2',
    attributes: { drifted: true, succeeded: false, 'error-msg': 'no engine' },
  });
  const workspace = (await api.get('/workspaces/ws-a')).resource;
  expect(workspace.relationships['current-assessment-result']?.data).toEqual({
    id: 'asmtres-2',
    type: 'assessment-results',
  });
  expect(workspace.attributes['last-assessment-result-at']).toBe(current.attributes['created-at']);
  expect((await api.get('/assessment-results/asmtres-2')).resource).toEqual(current);
  const { resources } = await api.get('/workspaces/ws-a/assessment-results');
  expect(resources.map(({ id }) => id)).toEqual(['asmtres-2', 'asmtres-1']);
});

it('has no result for a workspace that was never assessed', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get('/workspaces/ws-b/current-assessment-result')).status).toBe(404);
  const { relationships, attributes } = (await api.get('/workspaces/ws-b')).resource;
  expect(relationships['current-assessment-result']).toEqual({ data: null });
  expect(attributes['last-assessment-result-at']).toBeNull();
});

it('hides results from users who may not read them', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as('lookers').get('/assessment-results/asmtres-1')).status).toBe(404);
  const { relationships, attributes } = (await api.as('lookers').get('/workspaces/ws-a')).resource;
  expect(relationships['current-assessment-result']).toEqual({ data: null });
  expect(attributes['last-assessment-result-at']).toBeNull();
  expect((await api.as('eve').get('/assessment-results/asmtres-1')).status).toBe(404);
});
