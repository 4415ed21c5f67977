// CI jobs in the wrong order: an older commit does not revert what a newer one applied.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Job, type Jobs, openJobs } from '../../support/ledger/commit-jobs.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { type Bench, type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type Running, startTrueup } from '../../support/cli/process.ts';

const app = (description: string) => workspace('app', { description });

/** Two commits of one workspace; the newer one was applied. */
async function newerApplied(options: StackOptions = {}) {
  const jobs = await openJobs(options);
  const [older, newer] = [jobs.declare(app('old')), jobs.declare(app('new'))];
  await jobs.job(newer).run(['apply', '--yes'], 0);
  return { ...jobs, older, newer };
}

describe('manifests that a program generates and git does not track', () => {
  /** A job that has generated its manifests. */
  async function generated({ job }: Jobs, commit: string, description: string): Promise<Job> {
    const own = job(commit);
    await mkdir(join(own.directory, 'manifests'));
    await writeFile(join(own.directory, 'manifests', 'all.yaml'), JSON.stringify(app(description)));
    return own;
  }

  /** Two commits; the manifests of the newer one were applied. @returns the plan of a job from the older one */
  async function planOfOlder(changed: string | undefined): Promise<PlanJson> {
    const jobs = await openJobs();
    const base = { 'pay/.gitignore': 'manifests\n' };
    const older = jobs.scene.commit({ ...base, ...(changed && { [changed]: 'old' }) });
    const newer = changed === undefined ? jobs.scene.commits(1) : jobs.scene.commit({ [changed]: 'new' });
    await (await generated(jobs, newer, 'new')).run(['apply', '--yes'], 0);
    return (await generated(jobs, older, 'old')).plan();
  }

  it('count as older if any file in the folder of the stack is older', async () => {
    const { guards } = await planOfOlder('pay/source.jsonnet');
    expect(guards.map(({ id }) => id)).toEqual(['older-commit']);
  });

  it('may be older if only other files are older, and the plan warns that this is unknown', async () => {
    const { guards } = await planOfOlder('tools/source.jsonnet');
    expect(guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
    expect(guards[0]?.message).toContain('"manifests/all.yaml" is not tracked by git');
  });

  it('count as those of the newer commit if both commits have the same files', async () => {
    expect((await planOfOlder(undefined)).guards).toEqual([]);
  });
});

describe('a job that comes after a newer one', () => {
  it('is reported by its plan, and stopped before it reverts the newer one', async () => {
    const { bench, older, newer, job } = await newerApplied();
    bench.wire.reset();
    const late = job(older);
    const { guards, acknowledge } = await late.plan();
    expect(acknowledge).toEqual(['older-commit']);
    expect(guards).toMatchObject([{ id: 'older-commit', effect: 'blocks', concerns: [] }]);
    expect(guards[0]?.message).toContain(
      `commit ${newer.slice(0, 12)}, which is later than ${older.slice(0, 12)}, was already applied`,
    );
    const { err } = await late.run(['apply', '--yes'], 5);
    expect(err).toContain('1 guard blocks this plan: older-commit');
    expect(bench.wire.writes()).toEqual([]);
    await job(newer).run(['plan', '--exit-code'], 0);
  });

  it('may revert it after an acknowledgement, and is then the applied commit', async () => {
    const { older, newer, job } = await newerApplied();
    const late = job(older);
    const { digest } = await late.plan();
    await late.run(['apply', '--approve', digest, '--ack', 'older-commit'], 0);
    const { guards } = await job(newer).plan();
    expect(guards).toEqual([]);
  });

  it('is stopped also after a selection of it was acknowledged, or had nothing to do', async () => {
    const jobs = await openJobs();
    const web = (description: string) => workspace('web', { description });
    const [older, newer] = [jobs.declare(app('old'), web('old')), jobs.declare(app('new'), web('old'))];
    await jobs.job(newer).run(['apply', '--yes'], 0);
    const late = jobs.job(older);
    await late.run(['apply', '-', '--yes'], 0, JSON.stringify(web('old')));
    await late.run(['apply', '--yes'], 5);
    const selection = JSON.stringify(web('selected'));
    const { digest } = JSON.parse((await late.run(['plan', '-', '--format', 'json'], 0, selection)).out);
    await late.run(['apply', '-', '--approve', digest, '--ack', 'older-commit'], 0, selection);
    expect((await late.plan()).acknowledge).toEqual(['older-commit']);
    await late.run(['apply', '--yes'], 5);
    expect((await idAndLive(jobs.bench)).description).toBe('new');
  });

  it('is stopped also after the ledger was lost and recovered', async () => {
    const { bench, older, newer, job } = await newerApplied();
    const late = job(older);
    await rm(join(late.directory, '.trueup', 'payments.ledger.json'));
    const { out } = await job(newer).run(['recover', '--yes'], 0);
    expect(out).toContain(`The commit that was applied last is taken from the history: ${newer}`);
    bench.wire.reset();
    expect((await late.plan()).acknowledge).toEqual(['older-commit']);
    await late.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is not stopped if the stack is the same in both commits', async () => {
    const jobs = await openJobs();
    const older = jobs.declare(app('one'));
    const newer = jobs.scene.commit({ 'other/readme.md': 'not of the stack' });
    await jobs.job(newer).run(['apply', '--yes'], 0);
    const { id } = await idAndLive(jobs.bench);
    await jobs.bench.byHand.patch(`/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { description: 'by hand' } },
    });
    await jobs.job(older).run(['apply', '--yes'], 0);
    expect((await idAndLive(jobs.bench)).description).toBe('one');
  });

  it('is stopped, too, when the newer one had nothing to do', async () => {
    const jobs = await openJobs();
    await jobs.job(jobs.declare(app('one'))).run(['apply', '--yes'], 0);
    const older = jobs.declare(app('two'));
    const newer = jobs.declare(app('one'));
    await jobs.job(newer).run(['apply', '--yes'], 0);
    await jobs.job(older).run(['apply', '--yes'], 5);
  });

  it('is stopped by what was applied while it waited for the lock, also if its checkout changes meanwhile', async () => {
    const { bench, declare, job, store } = await openJobs();
    const [older, newer] = [declare(app('old')), declare(app('new'))];
    const [late, early] = [job(older), job(newer)];
    let waiting: Running | undefined;
    const wait = async () => {
      const args = ['apply', '--yes', '--lock-timeout', '1h'];
      waiting = startTrueup(args, { cwd: late.directory, env: secrets });
      await waiting.waitForText(/waiting for the lock/);
      git(late.directory, 'fetch', '--quiet', '--depth=1', 'origin', newer);
      git(late.directory, 'checkout', '--quiet', newer);
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: wait } });
    await early.run(['apply', '--yes'], 0);
    expect(await waiting?.ended).toMatchObject({ code: 5, err: expect.stringContaining('older-commit') });
    expect(await store.readLock()).toBeUndefined();
    expect((await idAndLive(bench)).description).toBe('new');
  });

  it('is stopped also when its own apply began and was interrupted before', async () => {
    const { bench, declare, job } = await openJobs();
    await job(declare(app('first'))).run(['apply', '--yes'], 0);
    const [older, newer] = [declare(app('old')), declare(app('new'))];
    const { digest } = await job(older).plan();
    const patch = { method: 'PATCH', path: /workspaces/, times: 9, fault: { answer: 422 } } as const;
    bench.wire.add(patch);
    await job(older).run(['apply', '--approve', digest], 1);
    bench.wire.reset();
    // Interrupted as well, so that the approval of the older one is still in the ledger.
    bench.wire.add(patch);
    await job(newer).run(['apply', '--yes'], 1);
    bench.wire.reset();
    await job(older).run(['apply', '--approve', digest], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is stopped for any file of its folder when its manifests come from standard input', async () => {
    const jobs = await openJobs({ spec: { manifests: ['-'] } });
    const older = jobs.scene.commit({ 'pay/make.jsonnet': 'old' });
    const newer = jobs.scene.commit({ 'pay/make.jsonnet': 'new' });
    const applyFrom = (commit: string, description: string, code: number) =>
      jobs.job(commit).run(['apply', '--yes', '.'], code, JSON.stringify(app(description)));
    await applyFrom(newer, 'new', 0);
    const { err } = await applyFrom(older, 'old', 5);
    expect(err).toContain('older-commit');
  });
});

describe('a job of another branch than the one that was applied', () => {
  /** A base, and two branches that change one workspace each. */
  async function branches(second: () => readonly object[]) {
    const jobs = await openJobs();
    const { author } = jobs.scene;
    const base = jobs.declare(app('base'));
    const one = jobs.declare(app('one'));
    git(author, 'checkout', '--quiet', '-b', 'second', base);
    const two = jobs.declare(...second());
    await jobs.job(one).run(['apply', '--yes'], 0);
    jobs.bench.wire.reset();
    return { ...jobs, one, two };
  }

  it('is stopped before it reverts what only the other branch has', async () => {
    const { bench, job, one, two } = await branches(() => [app('base'), workspace('more')]);
    const late = job(two);
    const { guards, acknowledge } = await late.plan();
    expect(acknowledge).toEqual(['diverged-commit']);
    expect(guards[0]?.message).toContain(
      `commit ${one.slice(0, 12)}, which was applied last, is not an ancestor of`,
    );
    const { err } = await late.run(['apply', '--yes'], 5);
    expect(err).toContain('diverged-commit');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('continues once it has merged the other one, or once the guard is acknowledged', async () => {
    const { scene, job, one, two } = await branches(() => [app('base'), workspace('more')]);
    const { digest } = await job(two).plan();
    await job(two).run(['apply', '--approve', digest, '--ack', 'diverged-commit'], 0);
    git(scene.author, 'merge', '--quiet', '-s', 'ours', '--no-edit', one);
    const merged = scene.commit({ 'pay/manifests/all.yaml': JSON.stringify(app('merged')) });
    expect((await job(merged).plan()).guards.map(({ id }) => id)).not.toContain('diverged-commit');
  });

  it('is not stopped if the stack is the same in both, as after a squash merge', async () => {
    const { bench, job, two } = await branches(() => [app('one')]);
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
      data: { type: 'workspaces', attributes: { description: 'by hand' } },
    });
    const { guards, changes } = await job(two).plan();
    expect(changes).toHaveLength(1);
    expect(guards).toEqual([]);
  });
});

describe('a commit that was applied but does not exist any more', () => {
  /** Two workspaces; a commit that was never pushed was applied last and changed `app`. */
  async function appliedUnpushed() {
    const jobs = await openJobs();
    const web = (description: string) => workspace('web', { description });
    await jobs.job(jobs.declare(app('one'), web('one'))).run(['apply', '--yes'], 0);
    const mine = jobs.job(git(jobs.scene.author, 'rev-parse', 'HEAD'));
    const documents = [app('mine'), web('one')].map((one) => JSON.stringify(one)).join('\n---\n');
    await writeFile(join(mine.directory, 'manifests', 'all.yaml'), documents);
    git(mine.directory, 'commit', '--quiet', '--all', '-m', 'never pushed');
    await mine.run(['apply', '--yes'], 0);
    return { ...jobs, web };
  }

  it('blocks a plan that changes a field that was applied from it', async () => {
    const { bench, declare, job, web } = await appliedUnpushed();
    bench.wire.reset();
    const next = job(declare(app('one'), web('two')));
    const { guards, acknowledge, digest } = await next.plan();
    expect(acknowledge).toEqual(['commit-unknown']);
    expect(guards).toMatchObject([
      {
        id: 'commit-unknown',
        effect: 'blocks',
        concerns: [{ address: 'Workspace/acme/app', says: ['description'] }],
      },
    ]);
    await next.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await next.run(['apply', '--approve', digest, '--ack', 'commit-unknown'], 0);
  });

  it('only causes a warning for a plan that changes other fields', async () => {
    const { declare, job, web } = await appliedUnpushed();
    const next = job(declare(workspace('app', { description: 'mine', autoApply: true }), web('two')));
    expect((await next.plan()).guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
    await next.run(['apply', '--yes'], 0);
  });

  it('only causes a warning if git is missing', async () => {
    const { declare, job, web } = await appliedUnpushed();
    const { directory } = job(declare(app('one'), web('two')));
    const env = { ...secrets, PATH: '/nowhere' };
    const { out } = await trueup(['plan', '--format', 'json'], { cwd: directory, env });
    expect((JSON.parse(out) as PlanJson).guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
  });

  it('blocks a change of any recorded field if the history is lost', async () => {
    const { declare, job, web } = await appliedUnpushed();
    const next = job(declare(app('mine'), web('two')));
    await rm(join(next.directory, '.trueup', 'payments.history'), { recursive: true });
    expect((await next.plan()).guards).toMatchObject([
      { id: 'commit-unknown', effect: 'blocks', concerns: [{ address: 'Workspace/acme/web' }] },
    ]);
  });
});

async function idAndLive(bench: Bench): Promise<{ id: string; description: unknown }> {
  const id = await bench.idOf('app');
  return { id, description: (await bench.byHand.attributes(id))['description'] };
}

describe('if it is unknown which commit is later', () => {
  const lost = '0123456789abcdef0123456789abcdef01234567';

  it('the plan warns and says why, and can be applied', async () => {
    const { declare, job, store } = await openJobs();
    await store.write({ known: true, serial: 0, records: new Map(), commit: { id: lost } });
    const only = job(declare(app('one')));
    const { guards } = await only.plan();
    expect(guards).toMatchObject([{ id: 'commit-unknown', effect: 'warns' }]);
    expect(guards[0]?.message).toMatch(/the remote "origin" does not have commit 0123456789ab$/);
    await only.run(['apply', '--yes'], 0);
  });

  it('the plan is blocked in a stack that raises the guard', async () => {
    const { declare, job, store } = await openJobs({ spec: { guards: { raise: ['commit-unknown'] } } });
    await store.write({ known: true, serial: 0, records: new Map(), commit: { id: lost } });
    await job(declare(app('one'))).run(['apply', '--yes'], 5);
  });

  it('because there is no repository any more, the warning says so', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(app('one'));
    commitIn(stack);
    await stack.run(['apply', '--yes'], 0);
    await rm(join(stack.directory, '.git'), { recursive: true });
    await stack.declare(app('two'));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toMatch(/\? warns +commit-unknown/);
    expect(out).toMatch(/not a git repository/);
    await stack.run(['apply', '--yes'], 0);
  });
});

function commitIn({ directory }: Checkout): string {
  git(directory, 'init', '--quiet');
  git(directory, 'add', 'trueup.yaml', 'manifests');
  git(directory, 'commit', '--quiet', '-m', 'x');
  return git(directory, 'rev-parse', 'HEAD');
}

describe('the commit that was applied', () => {
  it('is also that of an apply with nothing to do, but not that of a blocked or refused apply', async () => {
    const stack = await (await openBench()).checkout({ spec: { guards: { maxDeletes: 0 } } });
    const commit = async (...documents: readonly object[]) => {
      await stack.declare(...documents);
      return commitIn(stack);
    };
    await commit(app('one'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    const idle = await commit(workspace('web'), app('one'));
    await stack.run(['apply', '--yes'], 0);
    expect(await stack.ledger()).toMatchObject({ commit: { id: idle } });
    await commit(app('one'));
    await stack.run(['apply', '--yes'], 5);
    await commit(app('two'), workspace('web'));
    await stack.run(['apply'], 1);
    expect(await stack.ledger()).toMatchObject({ commit: { id: idle } });
    await stack.declare(app('three'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    expect(await stack.ledger()).toMatchObject({ commit: { dirty: true } });
  });
});
