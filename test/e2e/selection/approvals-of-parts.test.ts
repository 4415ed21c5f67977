/** An approval of a part is for that part: it covers neither the whole stack nor another part, and a plan file applies only its part. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Checkout, secrets } from '../../support/cli/bench.ts';
import { trueup } from '../../support/captured-host.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { actionsOf, app, applied, net, partOf, selecting } from '../../support/selection/parts.ts';

const changed = () => [
  clusterAuthConfig(),
  role('web'),
  net({ queueAllRuns: true }),
  app({ queueAllRuns: true }),
];
const [ofNet, ofApp] = [selecting('Workspace/acme/net'), selecting('Workspace/acme/app')];

async function openPending() {
  const { bench, stack } = await applied();
  await stack.declare(...changed());
  return { bench, stack };
}

const savePlan = (stack: Checkout) => stack.run(['plan', ...ofNet, '--out', 'plan.json'], 0);

describe('The digest of a part', () => {
  it('approves only this part by this selector, and neither the whole stack nor another part', async () => {
    const { bench, stack } = await openPending();
    const { digest } = await partOf(stack, 'Workspace/acme/net');
    await stack.run(['apply', '--approve', digest], 4);
    await stack.run(['apply', ...ofApp, '--approve', digest], 4);
    await stack.run(['apply', ...selecting('*'), '--approve', digest], 4);
    await stack.run(['apply', ...selecting('Workspace/acme/ne*'), '--approve', digest], 4);
    const whole = (await stack.plan()).digest;
    expect((await partOf(stack, '*')).digest).not.toBe(whole);
    await stack.run(['apply', ...ofNet, '--approve', whole], 4);
    expect(bench.written()).toEqual([]);
    await stack.run(['apply', ...ofNet, '--approve', digest], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('differs from the digest of the whole stack, even if nothing else is planned', async () => {
    const { bench, stack } = await applied();
    await stack.declare(clusterAuthConfig(), role('web'), net({ queueAllRuns: true }), app());
    const { digest, changes } = await partOf(stack, 'Workspace/acme/net');
    const whole = await stack.plan();
    expect(whole.changes).toEqual(changes);
    expect(whole.digest).not.toBe(digest);
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.written()).toEqual([]);
  });

  it('does not approve the same manifests on standard input', async () => {
    const { bench, stack } = await openPending();
    const { digest } = await partOf(stack, 'Workspace/acme/net');
    const stdin = JSON.stringify(net({ queueAllRuns: true }));
    const args = ['apply', '-', '--approve', digest];
    expect(await trueup(args, { cwd: stack.directory, env: secrets, stdin })).toMatchObject({ code: 4 });
    expect(bench.written()).toEqual([]);
  });
});

describe('A plan file of a part', () => {
  it('applies that part without --select, and says what was selected', async () => {
    const { bench, stack } = await openPending();
    const { err } = await savePlan(stack);
    expect(err).toContain('"trueup apply plan.json" applies this and nothing else');
    const { out } = await stack.run(['show', 'plan.json'], 0);
    expect(out.split('\n')[0]).toBe('A part of stack payments: 2 of 6 resources');
    const { out: done } = await stack.run(['apply', 'plan.json'], 0);
    expect(done.split('\n')[0]).toBe('A part of stack payments: 2 of 6 resources');
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(actionsOf(await stack.plan())).toEqual(['update Workspace/acme/app']);
  });

  it('applies only that part after the rest of the manifests changed', async () => {
    const { bench, stack } = await openPending();
    await savePlan(stack);
    await stack.declare(
      clusterAuthConfig(),
      net({ queueAllRuns: true }),
      app({ queueAllRuns: false }),
      workspace('net-2'),
    );
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('net-2')).toEqual([]);
  });

  it('is refused after its part changed, or after a resource of it was removed from the manifests', async () => {
    const { bench, stack } = await openPending();
    await savePlan(stack);
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      net({ queueAllRuns: true, autoApply: true }),
      app(),
    );
    await stack.run(['apply', 'plan.json'], 4);
    await stack.declare(clusterAuthConfig(), role('web'), app());
    const { err } = await stack.run(['apply', 'plan.json'], 4);
    expect(err).toContain('was made for another selection of this stack');
    await stack.declare(clusterAuthConfig(), role('web'), workspace('net', { queueAllRuns: true }), app());
    await stack.run(['apply', 'plan.json'], 4);
    expect(bench.written()).toEqual([]);
  });

  it('cannot be combined with another selection, nor can a plan file of the whole stack', async () => {
    const { bench, stack } = await openPending();
    await savePlan(stack);
    await stack.run(['apply', 'plan.json', ...ofNet], 1);
    await stack.run(['plan', '--out', 'whole.json'], 0);
    const { err } = await stack.run(['apply', 'whole.json', ...ofNet], 1);
    expect(err).toContain('"--select" does not fit');
    const stdin = JSON.stringify(net());
    const piped = await trueup(['apply', 'plan.json', '-'], { cwd: stack.directory, env: secrets, stdin });
    expect(piped.code).not.toBe(0);
    expect(bench.written()).toEqual([]);
  });

  it('is refused if its selectors, its resources or those that come along were edited', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      ...changed(),
      workspace('new', { remoteStateConsumers: ['reader'] }),
      workspace('reader'),
    );
    await stack.run(['plan', ...selecting('Workspace/acme/new'), '--out', 'plan.json'], 0);
    const file = join(stack.directory, 'plan.json');
    const text = await readFile(file, 'utf8');
    const { checksumOf } = await import('../../../src/report/json/plan.ts');
    const edits: ((plan: ReturnType<typeof JSON.parse>) => void)[] = [
      ({ part }) => part.selectors.push('tag:env=prod'),
      ({ selection }) => selection.push('Workspace/acme/app'),
      ({ part }) => {
        part.along = [];
      },
      (plan) => {
        delete plan.part;
      },
      (plan) => {
        delete plan.part;
        delete plan.selection;
      },
    ];
    for (const edit of edits) {
      const plan = JSON.parse(text);
      edit(plan);
      await writeFile(file, JSON.stringify({ ...plan, checksum: checksumOf(plan) }));
      await stack.run(['apply', 'plan.json'], 4);
    }
    expect(bench.written()).toEqual([]);
    await writeFile(file, text);
    await stack.run(['apply', 'plan.json'], 0);
  });

  it('continues after an incomplete apply that created a resource that came along', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      ...changed(),
      workspace('new', { remoteStateConsumers: ['reader'] }),
      workspace('reader'),
    );
    await stack.run(['plan', ...selecting('Workspace/acme/new'), '--out', 'plan.json'], 0);
    bench.wire.add({
      method: 'POST',
      path: /relationships\/remote-state-consumers/,
      fault: { answer: 500 },
      times: 99,
    });
    await stack.run(['apply', 'plan.json'], 6);
    expect(await bench.idsOf('reader')).toHaveLength(1);
    bench.wire.reset();
    const again = await stack.run(['apply', 'plan.json'], 0);
    expect(again.out).toContain('approved changes');
    expect(actionsOf(await stack.plan()).toSorted()).toEqual([
      'update Workspace/acme/app',
      'update Workspace/acme/net',
    ]);
  });

  it.each(['plan.json', 'digest'])(
    'continues with a resource that came along and was only partly created (%s)',
    async (by) => {
      const { bench, stack } = await applied();
      const reader = workspace('reader', { lock: { reason: 'not yet' } });
      await stack.declare(...changed(), workspace('new', { remoteStateConsumers: ['reader'] }), reader);
      const select = selecting('Workspace/acme/new');
      await stack.run(['plan', ...select, '--out', 'plan.json'], 0);
      const { digest } = await partOf(stack, 'Workspace/acme/new');
      const args = by === 'digest' ? [...select, '--approve', digest] : ['plan.json'];
      bench.wire.add({ method: 'POST', path: /actions\/lock/, fault: { answer: 500 }, times: 99 });
      await stack.run(['apply', ...args], 6);
      bench.wire.reset();
      await stack.run(['apply', ...args], 0);
      expect(await bench.byHand.attributes(await bench.idOf('reader'))).toMatchObject({ locked: true });
    },
  );

  it('can be compared with another one, including the selection', async () => {
    const { stack } = await openPending();
    await savePlan(stack);
    await stack.run(['plan', ...ofApp, '--out', 'other.json'], 0);
    const { out } = await stack.run(['diff', 'plan.json', 'other.json'], 2);
    expect(out).toContain('--select');
    expect(out).toContain('Workspace/acme/app');
  });
});

it('"trueup approve" refuses a plan of a part, because "trueup ci apply" could not apply it', async () => {
  const { stack } = await openPending();
  git(stack.directory, 'init', '--quiet');
  git(stack.directory, 'remote', 'add', 'origin', makeRemote().directory);
  git(stack.directory, 'add', '.');
  git(stack.directory, 'commit', '--quiet', '-m', 'x');
  await savePlan(stack);
  const { err } = await stack.run(['approve', 'plan.json'], 4);
  expect(err).toContain('is of a part of the stack');
});
