import { describe, expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const ON = { name: 'net', 'assessments-enabled': true };

describe('Health assessments', () => {
  it.each([
    ['another mode', { 'execution-mode': 'local' }],
    ['agents', { 'execution-mode': 'agent', 'agent-pool-id': 'apool-builders' }],
    ['no operations', { operations: false }],
    ['an engine that is too old', { 'engine-version': '0.15.3' }],
    ['a constraint that only old engines meet', { 'engine-version': '~> 0.14.0' }],
  ])('cannot be enabled with %s', async (_case, attributes) => {
    const api = await serveForTest();
    const answer = await api.create({ ...ON, ...attributes });
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/attributes/assessments-enabled']);
    expect((await api.create({ ...ON, ...attributes, 'assessments-enabled': false })).status).toBe(201);
  });

  it('can be enabled with agents in the dialect hcp-terraform, but not with local runs', async () => {
    const api = await serveForTest({ dialects: ['hcp-terraform'] });
    const agents = { 'execution-mode': 'agent', 'agent-pool-id': 'apool-builders' };
    const made = await api.create({ ...ON, ...agents });
    expect(made.resource.attributes['assessments-enabled']).toBe(true);
    const local = await api.update(made.resource.id, {
      'assessments-enabled': true,
      'execution-mode': 'local',
    });
    expect(local.pointers).toEqual(['/data/attributes/assessments-enabled']);
  });

  it.each(['0.15.4', '~> 0.15.0', '>= 0.13', 'latest'])('can be enabled with engine %s', async (version) => {
    const api = await serveForTest();
    expect((await api.create({ ...ON, 'engine-version': version })).status).toBe(201);
  });

  it('are checked with the inherited mode', async () => {
    const api = await serveForTest({ seed: seedWith({ 'default-execution-mode': 'local' }) });
    expect((await api.create(ON)).status).toBe(422);
    expect((await api.create({ ...ON, 'execution-mode': 'remote' })).status).toBe(201);
  });

  it('are disabled by an update to a mode without them, which is refused if it also enables them', async () => {
    const api = await serveForTest();
    const id = await api.created(ON);
    const both = await api.update(id, { 'assessments-enabled': true, 'execution-mode': 'local' });
    expect(both.pointers).toEqual(['/data/attributes/assessments-enabled']);
    const local = await api.update(id, { 'execution-mode': 'local' });
    expect(local.resource.attributes).toMatchObject({
      'execution-mode': 'local',
      'assessments-enabled': false,
    });
  });

  it('are accepted in every mode if the organization enforces them', async () => {
    const api = await serveForTest({ seed: seedWith({ 'assessments-enforced': true }) });
    expect((await api.create({ ...ON, 'execution-mode': 'local' })).status).toBe(201);
  });

  it('cannot be enabled by their former name', async () => {
    const api = await serveForTest();
    const answer = await api.create({ name: 'net', 'drift-detection': true });
    expect(answer.status).toBe(201);
    expect(answer.resource.attributes['assessments-enabled']).toBe(false);
    expect(answer.resource.attributes).not.toHaveProperty('drift-detection');
  });
});
