/** `trueup ci apply` without a path applies only the stacks of the repository that changed since their last apply. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../../support/ci/apply-scene.ts';
import { type Bench, secrets } from '../../support/cli/bench.ts';
import { trueup } from '../../support/captured-host.ts';
import { workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText, stackText, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const free = { approvals: { accept: ['none'] } };
const manifest = (name: string, spec: object = {}) => documentsText([workspace(name, spec)]);

const netStack = (bench: Bench, spec: object = free, name = 'net') =>
  stackText({
    name,
    targets: [workspacesTarget(bench.wire.url)],
    manifests: ['manifests/*.yaml', '!gone/*.yaml'],
    spec,
  });

/** The stacks `payments` in the folder `pay` and `net` in the folder `net`, both applied; they need no approval. */
async function twoStacks(net: object = {}): Promise<ApplyScene> {
  const scene = await openApplyScene({ spec: free });
  scene.push({
    'net/trueup.yaml': netStack(scene.bench, { ...free, ...net }),
    'net/manifests/net.yaml': manifest('net-base', { description: 'a net' }),
    'net/manifests/more.yaml': manifest('net-more'),
  });
  await scene.run(['apply', '--yes', '../net'], 0);
  scene.bench.wire.reset();
  return scene;
}

const unchanged = (name: string, path: string) =>
  `Stack ${name} (${path}): no commits since the last apply\n`;

describe('A job of the protected branch', () => {
  it('applies the stack that changed, and sends no request to the targets of the others', async () => {
    const scene = await twoStacks();
    scene.push({ 'net/manifests/net.yaml': manifest('net-base', { description: 'new' }), 'README.md': 'x' });
    const { out } = await scene.ciApply(0);
    expect(out).toContain(unchanged('payments', 'pay'));
    expect(out).toContain('Stack net (net)\n');
    expect(out).toContain('Workspace/acme/net-base');
    scene.bench.wire.reset();
    const again = await scene.ciApply(0);
    expect(again.out).toContain(unchanged('net', 'net'));
    expect(again.out).toContain('Nothing to apply: no stack has commits since its last apply');
    expect(scene.bench.wire.seen).toEqual([]);
  });

  it('does not apply a stack that was changed only in the service', async () => {
    const scene = await twoStacks();
    await setByHand(scene.bench, 'net-base', { description: 'by hand' });
    expect((await scene.ciApply(0)).out).toContain('Nothing to apply');
    expect((await scene.ciApply(0, ['../net'])).out).toContain('net-base');
  });

  it('continues with the other stacks if one is invalid and one was never approved', async () => {
    const scene = await twoStacks();
    scene.push({
      'net/manifests/net.yaml': 'kind: Nothing\n',
      'new/trueup.yaml': netStack(scene.bench, {}, 'new'),
      'new/manifests/new.yaml': manifest('new-base'),
      'pay/manifests/base.yaml': manifest('base', { description: 'new' }),
    });
    const { out, err } = await scene.ciApply(7);
    expect(err).toContain('exit code 7');
    expect(err).toContain('no valid approval was found');
    expect(out).toMatch(/^net: invalid manifests \(exit code 7\)\nnew: stale \(exit code 4\)\npay: done/m);
    expect(scene.bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('plans a stack again after an incomplete apply, until an apply had no changes', async () => {
    const scene = await twoStacks();
    scene.push({ 'net/manifests/net.yaml': manifest('net-base', { description: 'new' }) });
    scene.bench.wire.add({ method: 'PATCH', path: /workspaces\/ws-\w+$/, fault: { answer: 403 } });
    await scene.ciApply(1);
    scene.bench.wire.add({ method: 'GET', path: /acme\/workspaces/, fault: { answer: 403 } });
    expect((await scene.ciApply(1)).out).toContain('Stack net (net)');
    await setByHand(scene.bench, 'net-base', { description: 'new' });
    expect((await scene.ciApply(0)).out).toContain('No changes');
    expect((await scene.ciApply(0)).out).toContain('Nothing to apply');
  });

  it('tries a removal again that a locked workspace delayed', async () => {
    const scene = await twoStacks();
    const id = await scene.bench.idOf('net-more');
    await scene.bench.byHand.post(`/workspaces/${id}/actions/lock`, {});
    scene.push({ 'net/manifests/more.yaml': undefined });
    const { out } = await scene.ci();
    expect(out).toContain('net-more');
    await scene.bench.byHand.post(`/workspaces/${id}/actions/unlock`, {});
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('net-more')).toEqual([]);
    expect((await scene.ciApply(0)).out).toContain('Nothing to apply');
  });

  it('applies a stack whose last applied commit does not exist any more', async () => {
    const scene = await twoStacks();
    const { author, remote } = scene.scene;
    git(author, 'fetch', '--quiet', 'origin');
    git(author, 'checkout', '--quiet', '-B', 'main', 'origin/main~1');
    git(author, 'commit', '--quiet', '--allow-empty', '--amend', '-m', 'other');
    git(author, 'push', '--quiet', '--force', 'origin', 'main');
    git(remote.directory, 'reflog', 'expire', '--expire=now', '--all');
    git(remote.directory, 'gc', '--quiet', '--prune=now');
    expect((await scene.ciApply(1)).err).toContain('does not have commit');
  });
});

describe('A stack that was removed', () => {
  it('is reported with its remaining resources, until they are gone', async () => {
    const scene = await twoStacks({ ledger: 'git' });
    const before = scene.main();
    scene.push({
      'net/trueup.yaml': undefined,
      'net/manifests/net.yaml': undefined,
      'net/manifests/more.yaml': undefined,
      'pay/manifests/base.yaml': manifest('base', { description: 'new' }),
    });
    const { err } = await scene.ciApply(0, [], {
      env: {
        GITHUB_EVENT_NAME: 'push',
        GITHUB_EVENT_PATH: join(temporaryFolder({ e: JSON.stringify({ before }) }), 'e'),
      },
    });
    expect(err).toContain('"net/trueup.yaml" of the stack "net" was removed');
    expect(err).toContain(`its 2 resources stay as they are`);
    expect(err).toContain(`git checkout ${before.slice(0, 12)} -- net/trueup.yaml`);
    expect(await scene.bench.idsOf('net-base')).toHaveLength(1);
  });

  it('is reported even if it was the only stack, and the job does not know the previous commit', async () => {
    const scene = await openApplyScene({ spec: { ...free, ledger: 'git' } });
    scene.push({ 'pay/trueup.yaml': undefined });
    const { err, out } = await scene.ciApply(0);
    expect(err).toContain('"pay/trueup.yaml" of the stack "payments" was removed');
    expect(err).toContain('its 1 resource stays as it is; to remove it,');
    expect(out).toContain('Nothing to apply');
  });

  it('is not reported if it only moved to another folder', async () => {
    const scene = await twoStacks();
    scene.push({
      'net/trueup.yaml': undefined,
      'net/manifests/net.yaml': undefined,
      'net/manifests/more.yaml': undefined,
      'nets/trueup.yaml': netStack(scene.bench),
      'nets/manifests/net.yaml': manifest('net-base', { description: 'a net' }),
      'nets/manifests/more.yaml': manifest('net-more'),
    });
    const { err, out } = await scene.ciApply(0);
    expect(err).not.toContain('was removed');
    expect(out).toContain('Stack net (nets)');
  });
});

describe('Stacks with the same name or without a commit', () => {
  it('are reported, and the others are applied', async () => {
    const scene = await twoStacks();
    scene.push({
      'copy/trueup.yaml': netStack(scene.bench),
      'copy/manifests/net.yaml': manifest('net-base'),
      'pay/manifests/base.yaml': manifest('base', { description: 'new' }),
    });
    const { err, out } = await scene.ciApply(7);
    expect(err).toContain('"copy/trueup.yaml", "net/trueup.yaml" have the same stack name "net"');
    expect(out).toContain(
      'copy: invalid manifests (exit code 7)\nnet: invalid manifests (exit code 7)\npay: done',
    );
  });

  it('are reported if no commit has them', async () => {
    const scene = await openApplyScene({ spec: free }, { isNew: true });
    const clone = scene.scene.at(scene.main());
    const list = () => trueup(['ci', 'apply', '--list'], { cwd: clone, env: secrets });
    writeFileSync(join(clone, 'trueup.yaml'), netStack(scene.bench, free, 'top'));
    const { err, out } = await list();
    expect(err).toContain('the stack file "trueup.yaml" is not applied, because no commit has it: commit it');
    expect(out).toBe('pay\n');
    git(clone, 'rm', '--quiet', 'pay/trueup.yaml');
    git(clone, 'commit', '--quiet', '-m', 'none');
    expect((await list()).err).toContain('"pay/trueup.yaml" of the stack "payments" was removed');
    git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'later');
    expect((await list()).err).toContain('has no trueup.yaml: commit "trueup.yaml"');
  });
});

const outputs = () => join(temporaryFolder({ output: '' }), 'output');

describe('A list and a record', () => {
  it('contain only the stacks that have something to apply', async () => {
    const scene = await twoStacks();
    const file = outputs();
    await scene.ciApply(0, ['--record', '--format', 'github'], { env: { GITHUB_OUTPUT: file } });
    expect(readFileSync(file, 'utf8')).toMatch(/^changes<<(\S+)\n0\n\1$/m);
    const none = await scene.ciApply(0, ['--record', '--format', 'json']);
    expect(JSON.parse(none.out)).toEqual({ version: 1, stacks: [], removed: [] });

    scene.push({ 'net/manifests/net.yaml': manifest('net-base', { description: 'new' }) });
    const recorded = await scene.ciApply(0, ['--record', '--format', 'json']);
    expect(JSON.parse(recorded.out)).toMatchObject({ stack: 'net', changes: [{}] });

    scene.push({ 'pay/manifests/base.yaml': manifest('base', { description: 'new' }) });
    const listed = await scene.ciApply(0, ['--list', '--format', 'json']);
    expect(JSON.parse(listed.out)).toEqual({
      version: 1,
      stacks: [
        { path: 'net', name: 'net' },
        { path: 'pay', name: 'payments' },
      ],
      removed: [],
    });
    expect((await scene.ciApply(0, ['--list'])).out).toBe('net\npay\n');
    const digest = 'a'.repeat(32);
    for (const args of [['--record'], ['--digest', digest, '--environment', 'prod']])
      expect((await scene.ciApply(1, args)).err).toContain(
        'a digest is for one stack, and there are 2 stacks ("net", "pay") to apply: use one job for each stack, as in a matrix',
      );
    expect((await scene.ciApply(1, ['--format', 'json'])).out).toContain('--format json is for one stack');
    expect(scene.bench.wire.writes()).toEqual([]);
  });
});

describe('The outputs and the summary of a step', () => {
  it('contain all stacks that were applied', async () => {
    const scene = await twoStacks();
    scene.push({
      'net/manifests/net.yaml': manifest('net-base', { description: 'new' }),
      'pay/manifests/base.yaml': manifest('base', { description: 'new' }),
    });
    const [both, summary] = [outputs(), outputs()];
    await scene.ciApply(0, ['--format', 'github'], {
      env: { GITHUB_OUTPUT: both, GITHUB_STEP_SUMMARY: summary },
    });
    const written = readFileSync(both, 'utf8');
    expect(written).toMatch(/^stacks<<(\S+)\n\["net","pay"\]\n\1$/m);
    expect(written).toMatch(/^digests<<(\S+)\n\{"net":"\w{32}","payments":"\w{32}"\}\n\1$/m);
    expect(written).toMatch(/^changes<<(\S+)\n2\n\1$/m);
    expect(written).not.toMatch(/^digest<</m);
    expect(readFileSync(summary, 'utf8')).toMatch(/## `net`[\s\S]*net-base[\s\S]*## `pay`[\s\S]*- pay: done/);
  });
});
