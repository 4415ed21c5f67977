import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestResource } from '../../../support/server/serve-for-test.ts';

/** The execution settings in a document. */
function execution({ attributes, relationships }: TestResource): unknown {
  const overwrites = attributes['setting-overwrites'] as Record<string, boolean>;
  const pool = relationships['agent-pool']?.data as { id: string } | null;
  return [
    attributes['execution-mode'],
    attributes['operations'],
    overwrites['execution-mode'],
    overwrites['agent-pool'],
    pool?.id ?? null,
  ];
}

const INHERITS_REMOTE = ['remote', true, false, false, null];
const BUILDERS = 'apool-builders';

it('inherits the mode by default', async () => {
  const api = await serveForTest();
  expect(execution((await api.create({ name: 'a' })).resource)).toEqual(INHERITS_REMOTE);
});

it('inherits mode and pool from the organization', async () => {
  const api = await serveForTest({
    seed: seedWith({ 'default-execution-mode': 'agent', 'default-agent-pool': 'builders' }),
  });
  expect(execution((await api.create({ name: 'a' })).resource)).toEqual([
    'agent',
    true,
    false,
    false,
    BUILDERS,
  ]);
});

it('inherits from the project before the organization', async () => {
  const api = await serveForTest({
    seed: seedWith({ projects: [{ name: 'local', id: 'prj-local', 'default-execution-mode': 'local' }] }),
  });
  const answer = await api.create(
    { name: 'a' },
    { project: { data: { type: 'projects', id: 'prj-local' } } },
  );
  expect(execution(answer.resource)).toEqual(['local', false, false, false, null]);
});

it('stores a mode of the request as the workspace`s own, also if it equals the default', async () => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', 'execution-mode': 'remote' });
  expect(execution(answer.resource)).toEqual(['remote', true, true, true, null]);
});

it('accepts agent mode with its pool, and removes the pool when the mode changes', async () => {
  const api = await serveForTest();
  const { resource } = await api.create({ name: 'a', 'execution-mode': 'agent', 'agent-pool-id': BUILDERS });
  expect(execution(resource)).toEqual(['agent', true, true, true, BUILDERS]);
  const moved = await api.update(resource.id, { 'execution-mode': 'remote' });
  expect(execution(moved.resource)).toEqual(['remote', true, true, true, null]);
  const back = await api.update(resource.id, { 'execution-mode': 'agent' });
  expect(back.pointers).toEqual(['/data/attributes/agent-pool-id']);
});

it('keeps mode and pool in an update without them', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'execution-mode': 'agent', 'agent-pool-id': BUILDERS });
  const after = await api.update(id, { description: 'x' });
  expect(execution(after.resource)).toEqual(['agent', true, true, true, BUILDERS]);
});

it('removes its own mode with null', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'execution-mode': 'local' });
  expect(execution((await api.update(id, { 'execution-mode': null })).resource)).toEqual(INHERITS_REMOTE);
});

it('removes its own mode if the overwrite is false, even beside a mode', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'execution-mode': 'local' });
  const overwrites = { 'execution-mode': false, 'agent-pool': false };
  expect(execution((await api.update(id, { 'setting-overwrites': overwrites })).resource)).toEqual(
    INHERITS_REMOTE,
  );
  const both = await api.update(id, { 'execution-mode': 'remote', 'setting-overwrites': overwrites });
  expect(both.status).toBe(200);
  expect(execution(both.resource)).toEqual(INHERITS_REMOTE);
});

it('requires the mode together with an overwrite of true', async () => {
  const api = await serveForTest();
  const refused = await api.create({ name: 'a', 'setting-overwrites': { 'execution-mode': true } });
  expect(refused.status).toBe(422);
  expect(refused.pointers).toEqual(['/data/attributes/execution-mode']);
  const accepted = await api.create({
    name: 'a',
    'execution-mode': 'local',
    'setting-overwrites': { 'execution-mode': true },
  });
  expect(execution(accepted.resource)).toEqual(['local', false, true, true, null]);
  const repeated = await api.update(accepted.resource.id, {
    'setting-overwrites': { 'execution-mode': true },
  });
  expect(repeated.status).toBe(200);
});

it('uses the inherited pool if agent mode is its own, but the pool is not', async () => {
  const request = { name: 'a', 'execution-mode': 'agent', 'setting-overwrites': { 'agent-pool': false } };
  const without = await serveForTest();
  expect((await without.create(request)).pointers).toEqual(['/data/attributes/agent-pool-id']);
  const api = await serveForTest({ seed: seedWith({ 'default-agent-pool': 'builders' }) });
  expect(execution((await api.create(request)).resource)).toEqual(['agent', true, true, false, BUILDERS]);
});

it.each([
  [true, ['remote', true, true, true, null]],
  [false, ['local', false, true, true, null]],
])('reads operations %s as a mode', async (operations, expected) => {
  const api = await serveForTest();
  expect(execution((await api.create({ name: 'a', operations })).resource)).toEqual(expected);
});

it('refuses operations together with execution-mode', async () => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', operations: true, 'execution-mode': 'remote' });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/attributes/operations']);
});

it.each([
  ['without a pool', { 'execution-mode': 'agent' }],
  ['with a pool of another organization', { 'execution-mode': 'agent', 'agent-pool-id': 'apool-theirs' }],
  ['with an unknown pool', { 'execution-mode': 'agent', 'agent-pool-id': 'apool-none' }],
  ['for remote mode', { 'execution-mode': 'remote', 'agent-pool-id': BUILDERS }],
  ['for local mode', { 'execution-mode': 'local', 'agent-pool-id': BUILDERS }],
  ['for operations true', { operations: true, 'agent-pool-id': BUILDERS }],
  ['for an inherited mode that is not agent', { 'agent-pool-id': BUILDERS }],
])('refuses an agent pool %s', async (_case, attributes) => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', ...attributes });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/attributes/agent-pool-id']);
});

it('reads an empty agent-pool-id as none', async () => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', 'execution-mode': 'remote', 'agent-pool-id': '' });
  expect(answer.status).toBe(201);
});
