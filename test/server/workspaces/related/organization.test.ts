import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const ACME = '/organizations/acme';

it('shows an organization to whoever belongs to it, and what it enforces', async () => {
  const api = await serveForTest({ seed: seedWith({ 'assessments-enforced': true }) });
  const answer = await api.get(ACME);
  expect(answer.status).toBe(200);
  expect(answer.resource).toMatchObject({
    id: 'acme',
    type: 'organizations',
    attributes: { name: 'acme', 'assessments-enforced': true, 'default-execution-mode': 'remote' },
  });
  expect((await api.as('managers').get(ACME)).resource).toEqual(answer.resource);
});

it('answers 404 for one that the caller does not belong to', async () => {
  const api = await serveForTest({ seed: seedWith({}) });
  expect((await api.get('/organizations/elsewhere')).status).toBe(404);
});
