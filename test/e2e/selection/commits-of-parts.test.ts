/** An apply of a part does not move the commit of the ledger; what it applied is protected from older commits nevertheless. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { openJobs } from '../../support/ledger/commit-jobs.ts';
import { selecting } from '../../support/selection/parts.ts';

const app = (description: string) => workspace('app', { description });
const web = (description: string) => workspace('web', { description });
const ofApp = selecting('Workspace/acme/app');

describe('An apply of a part', () => {
  it('keeps the commit of the ledger, and an apply of that whole commit is stopped before it reverts the part', async () => {
    const { declare, job, store, bench } = await openJobs();
    const [older, newer] = [declare(app('old'), web('old')), declare(app('new'), web('new'))];
    await job(older).run(['apply', '--yes'], 0);
    await job(newer).run(['apply', ...ofApp, '--yes'], 0);
    expect(await store.read()).toMatchObject({ commit: { id: older }, otherCommits: [{ id: newer }] });
    const { acknowledge, guards } = await job(older).plan();
    expect(acknowledge).toEqual(['older-commit']);
    expect(guards[0]?.message).toContain('was already applied');
    await job(older).run(['apply', '--yes'], 5);
    expect((await bench.byHand.attributes(await bench.idOf('app')))['description']).toBe('new');
    // An apply of the whole newer commit ends that.
    await job(newer).run(['apply', '--yes'], 0);
    const after = await store.read();
    expect(after.commit).toMatchObject({ id: newer });
    expect(after.otherCommits ?? []).toEqual([]);
  });

  it('records no commit if it is the first apply, but is protected from older commits', async () => {
    const { declare, job, store } = await openJobs();
    const [older, newer] = [declare(app('old'), web('old')), declare(app('new'), web('new'))];
    await job(newer).run(['apply', ...ofApp, '--yes'], 0);
    const first = await store.read();
    expect(first).not.toHaveProperty('commit');
    expect(first.otherCommits).toMatchObject([{ id: newer }]);
    await job(older).run(['apply', '--yes'], 5);
    await job(newer).run(['apply', '--yes'], 0);
    expect((await store.read()).commit).toMatchObject({ id: newer });
  });

  it('from an older commit is stopped like an apply of the whole stack', async () => {
    const { declare, job } = await openJobs();
    const [older, newer] = [declare(app('old'), web('old')), declare(app('new'), web('new'))];
    await job(newer).run(['apply', '--yes'], 0);
    await job(older).run(['apply', ...ofApp, '--yes'], 5);
  });

  it('is marked as a part in the history, and a rebuilt ledger does not use its commit for the whole stack', async () => {
    const { declare, job, store } = await openJobs();
    const [older, newer] = [declare(app('old'), web('old')), declare(app('new'), web('new'))];
    await job(older).run(['apply', '--yes'], 0);
    const late = job(newer);
    await late.run(['apply', ...ofApp, '--yes'], 0);
    const [entry] = await store.listEntries(1);
    expect(entry).toMatchObject({ part: { selected: 1, of: 2 }, commit: newer, commitKept: true });
    expect((await late.run(['history'], 0)).out).toContain('a part: 1 of 2 resources');
    expect((await late.run(['history', 'show', 'latest'], 0)).out).toContain('a part: 1 of 2 resources');
    const shown = JSON.parse((await late.run(['history', '--format', 'json'], 0)).out);
    expect(JSON.stringify(shown)).toContain('"part":{"selected":1,"of":2}');
    await rm(join(late.directory, '.trueup', 'payments.ledger.json'));
    await late.run(['recover', '--yes'], 0);
    expect(await store.read()).toMatchObject({ commit: { id: older }, otherCommits: [{ id: newer }] });
  });

  it('with nothing to do does not change the commits of the ledger', async () => {
    const { declare, job, store } = await openJobs();
    const [older, newer] = [declare(app('one'), web('old')), declare(app('one'), web('new'))];
    await job(older).run(['apply', '--yes'], 0);
    await job(newer).run(['apply', ...ofApp, '--yes'], 0);
    const after = await store.read();
    expect(after.commit).toMatchObject({ id: older });
    expect(after.otherCommits ?? []).toEqual([]);
    expect(await store.listEntries(9)).toHaveLength(1);
  });
});
