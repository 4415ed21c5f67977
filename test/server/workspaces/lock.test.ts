import { expect, it } from 'vitest';

import type { Seed, WorkspaceSeed } from '../../../src/server/seed/seed-schema.ts';
import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const A = { workspaces: [{ name: 'a', id: 'ws-a' }] };
const LOCK = '/workspaces/ws-a/actions/lock';
const UNLOCK = '/workspaces/ws-a/actions/unlock';
const FORCE_UNLOCK = '/workspaces/ws-a/actions/force-unlock';

it.each([
  ['the plain form', { reason: 'deploy' }, 'deploy'],
  ['the wrapped form', { data: { type: '', attributes: { reason: 'deploy' } } }, 'deploy'],
  ['no body', undefined, ''],
  ['an empty object', {}, ''],
])('locks with a reason in %s', async (_form, body, reason) => {
  const api = await serveForTest({ seed: seedWith(A) });
  const answer = await api.post(LOCK, body);
  expect(answer.status).toBe(200);
  expect(answer.resource.attributes).toMatchObject({ locked: true, 'locked-reason': reason });
  expect(answer.resource.relationships['locked-by']?.data).toMatchObject({ type: 'users' });
  expect((await api.get('/workspaces/ws-a')).resource).toEqual(answer.resource);
});

it.each([
  ['the plain form', { reason: 5 }, '/reason'],
  ['the wrapped form', { data: { attributes: { reason: ['deploy'] } } }, '/data/attributes/reason'],
])('refuses a reason that is not a text in %s, and locks nothing', async (_form, body, pointer) => {
  const api = await serveForTest({ seed: seedWith(A) });
  const answer = await api.post(LOCK, body);
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([pointer]);
  expect((await api.attributes('ws-a'))['locked']).toBe(false);
});

it('answers 409 to a second lock, for every caller', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.post(LOCK);
  expect((await api.post(LOCK)).status).toBe(409);
  expect((await api.as('managers').post(LOCK)).status).toBe(409);
});

it('unlocks for its holder, and shows an unlocked workspace', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.post(LOCK, { reason: 'deploy' });
  const answer = await api.post(UNLOCK);
  expect(answer.status).toBe(200);
  expect(answer.resource.attributes).toMatchObject({ locked: false, 'locked-reason': '' });
  expect(answer.resource.relationships['locked-by']).toEqual({ data: null });
});

it('answers 409 to an unlock and a force-unlock of an unlocked workspace', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  for (const path of [UNLOCK, FORCE_UNLOCK]) {
    const answer = await api.post(path);
    expect(answer.status).toBe(409);
    expect(answer.errors[0]?.detail).not.toContain('is locked by');
  }
});

it.each([
  ['User', 'ann', 'managers', 'is locked by User ann'],
  ['Team', 'managers', 'ann', 'is locked by Team managers'],
])('names the %s that holds the lock when another caller unlocks', async (_kind, holder, other, text) => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.as(holder).post(LOCK);
  const answer = await api.as(other).post(UNLOCK);
  expect(answer.status).toBe(409);
  expect(answer.errors[0]?.detail).toContain(text);
  expect((await api.get('/workspaces/ws-a')).resource.attributes['locked']).toBe(true);
});

it('does not let one user unlock what another has locked', async () => {
  const seed = seedWith({
    ...A,
    teams: [{ name: 'devs', members: ['bob'], 'workspace-access': { a: 'write' } }],
  });
  const api = await serveForTest({ seed });
  await api.as('bob').post(LOCK);
  const answer = await api.post(UNLOCK);
  expect(answer.status).toBe(409);
  expect(answer.errors[0]?.detail).toContain('is locked by User bob');
  expect((await api.as('bob').post(UNLOCK)).status).toBe(200);
});

it('names a run that holds the lock', async () => {
  const seed = seedWith({ workspaces: [{ name: 'a', id: 'ws-a', 'locked-by-run': 'run-7' }] });
  const api = await serveForTest({ seed });
  expect((await api.post(UNLOCK)).errors[0]?.detail).toContain('is locked by Run run-7');
  const { relationships } = (await api.get('/workspaces/ws-a')).resource;
  expect(relationships['locked-by']?.data).toEqual({ id: 'run-7', type: 'runs' });
});

it('locks and unlocks as a team with the token of the team', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  const locked = await api.as('managers').post(LOCK);
  expect(locked.resource.relationships['locked-by']?.data).toMatchObject({ type: 'teams' });
  expect((await api.as('managers').post(UNLOCK)).status).toBe(200);
});

it('lets only members of a team with the right to unlock release the lock of its token', async () => {
  const teams = [
    { name: 'devs', token: 'devs', members: ['bob'], 'workspace-access': { a: 'write' as const } },
    { name: 'others', members: ['eve'], 'workspace-access': { a: 'write' as const } },
  ];
  const api = await serveForTest({ seed: seedWith({ ...A, teams }) });
  await api.as('devs').post(LOCK);
  const refused = await api.as('eve').post(UNLOCK);
  expect([refused.status, refused.errors[0]?.detail]).toEqual([409, 'The workspace is locked by Team devs']);
  expect((await api.as('bob').post(UNLOCK)).status).toBe(200);
});

it('lets an admin force-unlock the lock of another user', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.post(LOCK);
  const answer = await api.as('managers').post(FORCE_UNLOCK);
  expect(answer.status).toBe(200);
  expect(answer.resource.attributes['locked']).toBe(false);
});

const PENDING = { name: 'a', id: 'ws-a', 'intermediate-state-version': 'pending' as const };

it('answers 503 to an unlock while the latest state version is pending, and stays locked', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [PENDING] }) });
  await api.post(LOCK);
  const answer = await api.post(UNLOCK);
  expect(answer.status).toBe(503);
  expect(answer.errors[0]?.detail).toContain('latest state version is still pending');
  expect((await api.get('/workspaces/ws-a')).resource.attributes['locked']).toBe(true);
});

it('force-unlocks even while a state version is pending', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [PENDING] }) });
  await api.post(LOCK);
  expect((await api.post(FORCE_UNLOCK)).status).toBe(200);
});

it('makes the finalized intermediate state version the current one on unlock', async () => {
  const workspaces = [{ name: 'a', id: 'ws-a', 'intermediate-state-version': 'finalized' as const }];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const before = (await api.post(LOCK)).resource.relationships['current-state-version'];
  expect(before).toEqual({ data: null });
  const after = (await api.post(UNLOCK)).resource.relationships['current-state-version'];
  expect(after?.data).toMatchObject({ type: 'state-versions', id: expect.stringMatching(/^sv-/) });
});

function withStates(...versions: NonNullable<WorkspaceSeed['state-versions']>): Seed {
  return seedWith({ workspaces: [{ name: 'a', id: 'ws-a', 'state-versions': versions }] });
}

async function currentAfterUnlock(seed: Seed): Promise<unknown> {
  const api = await serveForTest({ seed });
  await api.post(LOCK);
  const unlocked = await api.post(UNLOCK);
  expect(unlocked.status).toBe(200);
  return (unlocked.resource.relationships['current-state-version']?.data as { id: string } | null)?.id;
}

it('makes the latest of several finalized intermediate state versions current, with its resources', async () => {
  const seed = withStates(
    { id: 'sv-1', 'resource-count': 1 },
    { id: 'sv-2', intermediate: true, 'resource-count': 2 },
    { id: 'sv-3', intermediate: true, 'resource-count': 3 },
  );
  const api = await serveForTest({ seed });
  await api.post(LOCK);
  const answer = await api.post(UNLOCK);
  expect(answer.resource.relationships['current-state-version']?.data).toMatchObject({ id: 'sv-3' });
  expect(answer.resource.attributes['resource-count']).toBe(3);
  const { resources } = await api.get('/workspaces/ws-a/state-versions');
  expect(resources.map(({ id, attributes }) => [id, attributes['intermediate']])).toEqual([
    ['sv-3', false],
    ['sv-2', true],
    ['sv-1', false],
  ]);
});

it('never makes an older state version current again, even if it is locked and unlocked again', async () => {
  const api = await serveForTest({
    seed: withStates({ id: 'sv-1', intermediate: true }, { id: 'sv-2', intermediate: true }),
  });
  for (const _round of [1, 2, 3]) {
    await api.post(LOCK);
    const answer = await api.post(UNLOCK);
    expect(answer.resource.relationships['current-state-version']?.data).toMatchObject({ id: 'sv-2' });
  }
});

it('keeps the current state version if nothing newer was saved', async () => {
  const old = { id: 'sv-1', intermediate: true };
  expect(await currentAfterUnlock(withStates(old, { id: 'sv-2' }))).toBe('sv-2');
  expect(await currentAfterUnlock(withStates({ ...old, status: 'pending' }, { id: 'sv-2' }))).toBe('sv-2');
});

it('an unlock waits for the latest of several state versions, and does not use an older one instead', async () => {
  const api = await serveForTest({
    seed: withStates(
      { id: 'sv-1', intermediate: true },
      { id: 'sv-2', intermediate: true, status: 'pending' },
    ),
  });
  await api.post(LOCK);
  expect((await api.post(UNLOCK)).status).toBe(503);
  const { relationships } = (await api.get('/workspaces/ws-a')).resource;
  expect(relationships['current-state-version']).toEqual({ data: null });
});

it('unlocks after the pending state was uploaded', async () => {
  const api = await serveForTest({ seed: withStates({ id: 'sv-1', intermediate: true, status: 'pending' }) });
  await api.post(LOCK);
  expect((await api.post(UNLOCK)).status).toBe(503);
  const { attributes } = (await api.get('/state-versions/sv-1')).resource;
  await fetch(attributes['hosted-state-upload-url'] as string, { method: 'PUT', body: '{}' });
  const answer = await api.post(UNLOCK);
  expect(answer.status).toBe(200);
  expect(answer.resource.relationships['current-state-version']?.data).toMatchObject({ id: 'sv-1' });
});

const ACCESS = {
  workspaces: [{ name: 'a', id: 'ws-a' }],
  teams: [
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
    { name: 'admins', token: 'admins', 'workspace-access': { a: 'admin' } },
    { name: 'locksmiths', token: 'locksmiths', 'workspace-access': { a: ['can-lock', 'can-unlock'] } },
  ],
};

it.each([
  ['planners', 404, 404],
  ['writers', 200, 404],
  ['locksmiths', 200, 404],
  ['admins', 200, 200],
  ['readers', 404, 404],
  ['eve', 404, 404],
])('lets %s lock (%i) and force-unlock (%i)', async (token, lock, forceUnlock) => {
  const api = await serveForTest({ seed: seedWith(ACCESS) });
  expect((await api.as(token).post(LOCK)).status).toBe(lock);
  await api.post(LOCK);
  expect((await api.as(token).post(FORCE_UNLOCK)).status).toBe(forceUnlock);
});

it('accepts updates while it is locked', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.post(LOCK);
  expect((await api.update('ws-a', { description: 'x' })).status).toBe(200);
});

it('refuses a reason of more than 65,536 characters, and stays unlocked', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const answer = await api.post(`/workspaces/${id}/actions/lock`, { reason: 'r'.repeat(65_537) });
  expect([answer.status, answer.pointers]).toEqual([422, ['/reason']]);
  expect((await api.attributes(id))['locked']).toBe(false);
});
