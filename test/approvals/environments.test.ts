/** Approvals of a run of GitHub Actions by the reviewers of an environment. */
import { describe, expect, it } from 'vitest';
import { readEnvironmentApprovals } from '../../src/approvals/environments.ts';
import type { ApprovalRules } from '../../src/model/approval.ts';
import { digest, openGithubScene, sha } from '../support/code-host/approval-scene.ts';

const now = '2026-11-25T12:00:00Z';

async function started() {
  const scene = await openGithubScene();
  const run = scene.state.startRun({ id: 500, commit: sha('d'), by: 'ann' });
  const read = (more: { id?: number; environment?: string; commit?: string; rules?: ApprovalRules } = {}) =>
    readEnvironmentApprovals({
      pullRequests: scene.reader(),
      run: { id: more.id ?? 500, environment: more.environment ?? 'production' },
      ...{ rules: more.rules ?? {}, digest, commit: more.commit ?? sha('d'), contributors: ['dave'], now },
    });
  const approve = (by: string, about: { environment?: string; state?: string } = {}) =>
    scene.state.approveRun(run, { by, environment: 'production', ...about });
  return { ...scene, run, read, approve };
}

describe('an approval of a run', () => {
  it('approves the digest of this run; the case of the environment name does not matter', async () => {
    const { read, approve, state, run } = await started();
    approve('bob', { environment: 'Production' });
    state.restartRun(run, 'carol');
    expect(await read()).toEqual({
      approvals: [{ method: 'environment', by: 'bob', digest, commit: sha('d'), at: now, acknowledged: [] }],
      refused: [],
      attempt: 2,
    });
  });

  it('counts only for its own run and environment', async () => {
    const { read, approve, state } = await started();
    expect(await read()).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('has no approval') }],
    });
    approve('bob', { environment: 'staging' });
    state.startRun({ id: 501, commit: sha('d'), by: 'ann' });
    expect((await read()).approvals).toEqual([]);
    expect((await read({ id: 501, environment: 'staging' })).approvals).toEqual([]);
    await expect(read({ id: 502 })).rejects.toThrow('answered 404');
  });

  it('does not count if the run is of another commit', async () => {
    const { read, approve } = await started();
    approve('bob');
    expect(await read({ commit: sha('e') })).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining(`is of commit "${sha('d')}"`) }],
    });
  });

  it('counts from the starter of the run and from authors only with selfApprove', async () => {
    const { read, approve, state, run } = await started();
    state.restartRun(run, 'carol');
    // The same person twice is one person.
    for (const by of ['Ann', 'carol', 'dave', 'bob', 'Bob']) approve(by);
    expect((await read()).approvals.map(({ by }) => by)).toEqual(['bob']);
    expect((await read({ rules: { selfApprove: true } })).approvals).toHaveLength(4);
  });

  it('does not count after a reviewer rejected the run', async () => {
    const { read, approve } = await started();
    approve('bob');
    approve('carol', { state: 'rejected' });
    expect(await read()).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('"carol" rejected') }],
    });
  });

  it('does not count while it is pending, and an unknown state is an error', async () => {
    const { read, approve } = await started();
    approve('bob', { state: 'pending' });
    expect((await read()).approvals).toEqual([]);
    approve('bob', { state: 'maybe' });
    await expect(read()).rejects.toThrow('"maybe"');
  });

  it('counts from the people that the stack names, or else from all with write permission', async () => {
    const { read, approve, state } = await started();
    state.permissions.set('guest', 'read');
    state.teams.set('acme/platform', new Map([['guest', 'active']]));
    for (const by of ['guest', 'bob', 'deployer[bot]']) approve(by);
    const by = async (rules: ApprovalRules) => (await read({ rules })).approvals.map((one) => one.by);
    expect(await by({})).toEqual(['bob']);
    expect(await by({ from: [{ team: 'acme/platform' }] })).toEqual(['guest']);
    expect(await by({ from: [{ user: 'deployer[bot]' }] })).toEqual([]);
  });
});
