/** `trueup ci plan` in the job of a pull request: which stacks it plans, and where it reports them. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCarriedPlan } from '../../../src/run/carried-plan.ts';
import { secrets } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const manifest = (name: string, spec: object = {}) => documentsText([workspace(name, spec)]);

describe('A job of a pull request', () => {
  it('plans only the stack whose manifest changed', async () => {
    const { propose, job, github, bench } = await openCiScene();
    const head = propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const ran = await job({ args: ['--out-dir', 'plans', '--sarif', 'plans/all.sarif'] });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain('Stack pay (stacks/pay)');
    expect(ran.out).not.toContain('net-app');
    expect(ran.out).toContain('1 stack planned; the plan files are in "plans"');
    const folder = join(ran.clone, 'plans');
    expect(readdirSync(folder).sort()).toEqual(['.gitignore', 'all.sarif', 'pay.plan.json', 'plans.json']);
    // A later `git add .` adds none of them.
    expect(git(ran.clone, 'status', '--porcelain')).toBe('');
    const { plans } = JSON.parse(readFileSync(join(folder, 'plans.json'), 'utf8'));
    const plan = JSON.parse(readFileSync(join(folder, 'pay.plan.json'), 'utf8'));
    expect(plans).toEqual([
      {
        stack: 'pay',
        path: 'stacks/pay',
        digest: plan.digest,
        plan: 'pay.plan.json',
        changes: 2,
        acknowledge: [],
      },
    ]);
    expect(ran.outputs).toMatchObject({
      stacks: '["stacks/pay"]',
      digests: JSON.stringify({ pay: plan.digest }),
      digest: plan.digest,
      'exit-code': '0',
    });
    expect(ran.summary).toContain('pay-more');
    expect(github.comments).toHaveLength(1);
    const body = github.comments[0]?.body ?? '';
    expect(body).toContain(`Made for commit \`${head}\``);
    expect(readCarriedPlan(body, 'pay')).toMatchObject({ digest: plan.digest, commit: head });
    expect(bench.written()).toEqual([]);
    for (const secret of Object.values(secrets)) expect(body + ran.out + ran.summary).not.toContain(secret);
  });

  it.each([
    ['a deleted manifest', { 'stacks/net/manifests/app.yaml': undefined }],
    [
      'a renamed manifest',
      { 'stacks/net/manifests/app.yaml': undefined, 'stacks/net/manifests/new.yaml': manifest('net-app') },
    ],
    ['the stack file', { 'stacks/net/trueup.yaml': undefined, 'stacks/net/other.txt': 'x' }],
  ])('notices %s', async (what, files) => {
    const { propose, job, stack } = await openCiScene();
    propose(
      what === 'the stack file'
        ? { 'stacks/net/trueup.yaml': stack('net', { spec: { timeout: '9m' } }) }
        : files,
    );
    expect((await job({ args: ['--list'] })).out).toBe('stacks/net\n');
  });

  it('notices a file that the stack reads, and ignores files that no stack reads', async () => {
    const scene = await openCiScene();
    scene.push({
      'shared/ca.pem': 'one',
      'stacks/pay/trueup.yaml': scene.stack('pay', {}, { caCert: { file: '../../shared/ca.pem' } }),
    });
    scene.propose({ 'shared/ca.pem': 'two', 'stacks/net/README.md': 'text' });
    expect((await scene.job({ args: ['--list'] })).out).toBe('stacks/pay\n');
  });

  it('writes no .gitignore into a folder that existed', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more'), 'plans/notes.md': 'text' });
    const ran = await scene.job({ args: ['--out-dir', 'plans'] });
    expect(readdirSync(join(ran.clone, 'plans')).sort()).toEqual(['notes.md', 'pay.plan.json', 'plans.json']);
  });

  it('removes the plan files of an earlier run in the same folder, and nothing else', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const planned = await scene.job({ args: ['--out-dir', 'plans'] });
    const plan = readFileSync(join(planned.clone, 'plans/pay.plan.json'), 'utf8');
    const named = [
      'net.plan.json',
      '../outside.plan.json',
      'link.plan.json',
      'notes.plan.json',
      'pay.plan.json',
    ];
    const ran = await scene.job({
      args: ['--out-dir', 'plans'],
      before: (clone) => {
        mkdirSync(join(clone, 'plans'));
        const file = (name: string, text: string) => writeFileSync(join(clone, 'plans', name), text);
        file('plans.json', JSON.stringify({ version: 1, plans: named.map((name) => ({ plan: name })) }));
        for (const name of ['net.plan.json', '../outside.plan.json', 'other.plan.json']) file(name, plan);
        file('notes.plan.json', 'no plan');
        symlinkSync('../outside.plan.json', join(clone, 'plans/link.plan.json'));
      },
    });
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(readdirSync(join(ran.clone, 'plans')).sort()).toEqual([
      'link.plan.json',
      'notes.plan.json',
      'other.plan.json',
      'pay.plan.json',
      'plans.json',
    ]);
    expect(readFileSync(join(ran.clone, 'outside.plan.json'), 'utf8')).toBe(plan);
    const shown = await scene.run(['show', 'plans/pay.plan.json'], ran.clone);
    expect(shown.out).toMatch(/\nThe plan was made \S+ from commit [0-9a-f]{40}\n$/);
  });

  it('lists the stacks for a matrix of jobs', async () => {
    const { propose, job } = await openCiScene();
    propose({
      'stacks/pay/manifests/app.yaml': manifest('pay-app', { description: 'x' }),
      'stacks/net/manifests/app.yaml': manifest('net-app', { description: 'x' }),
    });
    const listed = await job({ args: ['--list', '--format', 'json'] });
    expect(JSON.parse(listed.out)).toEqual({
      version: 1,
      stacks: [
        { path: 'stacks/net', name: 'net' },
        { path: 'stacks/pay', name: 'pay' },
      ],
      removed: [],
    });
    expect(listed.outputs).toMatchObject({ stacks: '["stacks/net","stacks/pay"]' });
    const one = await job({ args: ['stacks/net'] });
    expect(one.outputs).toMatchObject({ stacks: '["stacks/net"]', stack: 'net' });
  });

  it('plans all stacks with --all, and nothing if no stack is changed', async () => {
    const { propose, job, github } = await openCiScene();
    propose({ 'README.md': 'text' });
    const none = await job();
    expect(none).toMatchObject({ code: 0 });
    expect(none.out).toContain('No stack is changed, so nothing was planned');
    expect(github.comments).toEqual([]);
    expect((await job({ args: ['--all'] })).out).toContain('2 stacks planned');
  });

  it.each([
    ['the merge', 'merge'],
    ['the head', 'head'],
  ] as const)(
    'fetches commits that a shallow clone of %s lacks, and does not change the clone',
    async (_, ref) => {
      const scene = await openCiScene();
      scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
      scene.push({ 'stacks/net/manifests/app.yaml': manifest('net-app', { description: 'later' }) });
      scene.propose({ 'stacks/pay/manifests/again.yaml': manifest('pay-again') });
      const ran = await scene.job({ ref, clone: ['--depth=1'], args: ['--list'] });
      expect(ran, ran.err).toMatchObject({ code: 0, out: 'stacks/pay\n' });
      expect(git(ran.clone, 'rev-list', '--count', 'HEAD')).toBe('1');
    },
  );

  it('reports a stack whose folder was renamed as moved, and not as removed', async () => {
    const scene = await openCiScene();
    scene.propose({
      'stacks/pay/trueup.yaml': undefined,
      'stacks/pay/manifests/app.yaml': undefined,
      'payments/trueup.yaml': scene.stack('pay'),
      'payments/manifests/app.yaml': manifest('pay-app'),
    });
    const { err, out } = await scene.job();
    expect(err).toContain(
      'the stack "pay" moved from "stacks/pay/trueup.yaml" to "payments/trueup.yaml", where it is planned',
    );
    expect(err + out).not.toContain('is removed');
    expect(scene.github.comments).toHaveLength(1);
  });

  it('reports in the pull request that a stack is removed, and asks for a decision', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/trueup.yaml': undefined });
    const { code, err, out } = await scene.job();
    expect(code).toBe(0);
    const said = 'the stack file "stacks/pay/trueup.yaml" of the stack "pay" is removed: its resources stay';
    expect(err).toContain(said);
    expect(out).toContain('1 stack removed, and nothing was planned. Next: decide');
    expect(out).not.toContain('There is nothing to do');
    expect(scene.github.comments.map(({ body }) => body)).toEqual([
      expect.stringContaining('**Removed, and not planned**: the stack file `stacks/pay/trueup.yaml`'),
    ]);
  });

  it.each([
    [['--all', 'stacks/pay'], '--all plans all stacks of the repository: pass it without a path'],
    [['--must-post', '--no-comment'], 'pass it without --no-comment'],
    [['--format', 'json'], '--format is how --list prints the stacks'],
  ])('refuses %j, because one flag would have no effect', async (args, why) => {
    const { propose, job } = await openCiScene();
    propose({ 'README.md': 'text' });
    expect(await job({ args })).toMatchObject({ code: 1, err: expect.stringContaining(why) });
  });

  it('fails with --all if the commit has no stack', async () => {
    const { push, propose, job } = await openCiScene();
    push({ 'stacks/pay/trueup.yaml': undefined, 'stacks/net/trueup.yaml': undefined });
    propose({ 'README.md': 'text' });
    const ran = await job({ args: ['--all'] });
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/commit [0-9a-f]{40} has no trueup\.yaml: "trueup init" writes a first stack/);
  });

  it.each([401, 403, 404, 422])(
    'plans, and reports that no comment is posted, if the code host answers %i',
    async (status) => {
      const scene = await openCiScene();
      scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
      const answer = { status, body: { message: 'no comments today' } };
      scene.github.always(({ path }) => (path.includes('/comments') ? answer : undefined));
      const ran = await scene.job();
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect(ran.out).toContain('1 stack planned');
      expect(ran.err).toMatch(
        new RegExp(`^no comment is posted: .*answered ${status}: no comments today`, 'm'),
      );
      expect((await scene.job({ args: ['--must-post'] })).code).toBe(1);
    },
  );

  it('marks the comment of a stack that the pull request no longer changes as out of date', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    await scene.job();
    scene.propose({
      'stacks/pay/manifests/more.yaml': undefined,
      'stacks/net/manifests/b.yaml': manifest('net-b'),
    });
    const ran = await scene.job();
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(scene.github.comments.map(({ body }) => body.includes('**Out of date**'))).toEqual([true, false]);
  });

  it('has the same plan when it runs again, and does not change its comment', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const first = await scene.job();
    const before = { ...scene.github.comments[0] };
    const again = await scene.job();
    // A review counts only if the comment was not edited after it.
    expect(scene.github.comments[0]).toEqual(before);
    expect(again.outputs['digest']).toBe(first.outputs['digest']);
    expect(scene.github.comments).toHaveLength(1);
    expect(scene.github.comments[0]?.body).not.toContain('Out of date');
  });

  it.each([
    ['a merge', ['--no-ff', '-m', 'merge'], {}],
    ['a squash', ['--squash'], {}],
    ['a merge, and checked out its head', ['--no-ff', '-m', 'merge'], { ref: 'head' }],
    [
      'a squash, as pull_request_target',
      ['--squash'],
      { ref: 'base', env: { GITHUB_EVENT_NAME: 'pull_request_target' } },
    ],
  ] as const)('that runs again after %s does not change the comment', async (_, merging, how) => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    await scene.job(how);
    const before = { ...scene.github.comments[0] };
    scene.git('checkout', '--quiet', 'main');
    scene.git('merge', '--quiet', ...merging, 'change');
    const commits = [scene.push({ 'stacks/pay/manifests/later.yaml': manifest('pay-later') })];
    scene.github.state.merge(scene.github.pull, { by: 'ann', commits });
    const again = await scene.job({ ...how, args: ['stacks/pay'] });
    expect(again, again.err).toMatchObject({ code: 0 });
    expect(again.err).toContain('the pull request is merged: its comments stay as they are');
    expect(scene.github.comments).toEqual([before]);
  });

  it('does not plan a closed pull request, and plans a draft like any other', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/manifests/more.yaml': manifest('pay-more') });
    const closed = await scene.job({ pull: { state: 'closed' } });
    expect(closed).toMatchObject({ code: 0, out: 'The pull request is closed: nothing is planned\n' });
    expect((await scene.job({ pull: { draft: true } })).out).toContain('1 stack planned');
  });

  it('ends with 7 for invalid manifests, annotates them, and plans the other stacks', async () => {
    const scene = await openCiScene();
    scene.propose({
      'stacks/pay/manifests/more.yaml': documentsText([{ ...workspace('x'), spec: { autoAply: true } }]),
      'stacks/net/manifests/b.yaml': manifest('net-b'),
    });
    const ran = await scene.job({ args: ['--sarif', 'out.sarif'] });
    expect(ran.code).toBe(7);
    expect(ran.out).toMatch(/^::error file=stacks\/pay\/manifests\/more\.yaml,line=1/m);
    expect(ran.out).toContain('1 stack planned, 1 not planned: stacks/pay');
    expect(ran.out).toContain('Next: correct the lines that the messages name');
    const sarif = JSON.parse(readFileSync(join(ran.clone, 'out.sarif'), 'utf8'));
    expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
      'stacks/pay/manifests/more.yaml',
    );
  });

  it('refuses two stacks with one name, and a job without a base', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/two/trueup.yaml': scene.stack('pay') });
    expect(await scene.job()).toMatchObject({
      code: 7,
      err: expect.stringContaining('have the same stack name "pay"'),
    });
    const elsewhere = await scene.job({ env: { GITHUB_ACTIONS: '' } });
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('with --base') });
  });
});
