/** A plan that `trueup ci plan` made with the stricter settings of the base branch: it is applied manually, and with a signature. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { emptyStack, noCodeHost, openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
const specOf = (maxDeletes: number) => ({ ledger: 'git', approvals, guards: { maxDeletes } });

/** A pull request that deletes a workspace and raises the limit of deletes, and the plan file of its job. */
async function loosened() {
  const scene = await openApplyScene({ spec: specOf(0) }, { signers: ['alice'] });
  const { pull, merge } = await scene.pull([workspace('first')], {
    file: 'base.yaml',
    files: { 'trueup.yaml': emptyStack(scene.bench, { spec: specOf(9) }) },
  });
  const run = async (commit: string, args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: scene.scene.at(commit), env: { ...process.env, ...secrets } });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };
  const plans = join(scene.keys, 'plans');
  await run(pull.head, ['ci', 'plan', '--base', 'origin/main', '--out-dir', plans], 0);
  return { scene, merge, run, head: pull.head, file: join(plans, 'payments.plan.json') };
}

it('A person applies a plan with a loosened setting manually, and acknowledges all of its guards', async () => {
  const { scene, merge, run, file } = await loosened();
  merge();
  const refused = await run(scene.main(), ['apply', file, 'pay'], 5);
  expect(refused.out).toContain('spec.guards.maxDeletes is loosened from 0 to 9');
  const [, ack = ''] = /--ack (\S*loosened\S*)"/.exec(refused.err) ?? [];
  expect(ack.split(',')).toEqual(expect.arrayContaining(['loosened', 'deletes']));
  await run(scene.main(), ['apply', file, 'pay', '--ack', 'loosened'], 5);
  expect(scene.bench.wire.writes()).toEqual([]);
  await run(scene.main(), ['apply', file, 'pay', '--ack', ack], 0);
  expect([await scene.bench.idsOf('first'), await scene.bench.idsOf('base')]).toMatchObject([[/ws-/], []]);
});

it('A reviewer signs a plan with a loosened setting and acknowledges its guards, and ci apply applies it', async () => {
  const { scene, merge, run, head, file } = await loosened();
  const sign = (ack: string) =>
    run(head, ['approve', file, 'pay', '--yes', '--key', join(scene.keys, 'alice'), '--ack', ack], 0);
  const { err } = await sign('loosened');
  expect(err).toContain('does not acknowledge what blocks the plan: deletes');
  merge();
  const open = /not acknowledged: ([^\n]+)/.exec((await scene.ciApply(5, [], noCodeHost)).err)?.[1] ?? '';
  expect(open).toContain('deletes');
  expect(open).not.toContain('loosened');
  await sign(`loosened,${open.replaceAll(' ', '')}`);
  const { out } = await scene.ciApply(0, [], noCodeHost);
  expect(out).toContain('approved by "alice@example.com" (signature)');
});

it('An acknowledgement does not cover a setting that was loosened outside of the pull request', async () => {
  const spec = (maxDeletes: number, ...users: readonly string[]) => ({
    approvals: { accept: ['review'], from: users.map((user) => ({ user })) },
    guards: { maxDeletes },
  });
  const scene = await openApplyScene({ spec: spec(0, 'alice') });
  const stackOf = (...args: Parameters<typeof spec>) => emptyStack(scene.bench, { spec: spec(...args) });
  const change = (file: string, author: string, text: string) =>
    scene.pull([workspace(file)], {
      ...{ file: `${file}.yaml`, author, isPlannedByJob: true, files: { 'trueup.yaml': text } },
    });
  const acknowledge = ({ pull, approve, merge }: Awaited<ReturnType<typeof change>>) => {
    approve('alice');
    scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
    merge();
  };
  scene.push({ 'pay/trueup.yaml': stackOf(0, 'alice', 'mallory') });
  acknowledge(await change('first', 'bob', stackOf(5, 'alice', 'mallory')));
  const { err } = await scene.ciApply(5);
  expect(err).toMatch(
    /no acknowledged plan showed that spec\.approvals\.from is loosened from .*alice.* to .*mallory/,
  );
  expect(scene.bench.wire.writes()).toEqual([]);
  // Without it, the plans of two pull requests that loosen one setting in turn are both shown.
  scene.push({ 'pay/trueup.yaml': stackOf(5, 'alice') });
  acknowledge(await change('second', 'bob', stackOf(9, 'alice')));
  await scene.ciApply(0);
});

it.each<[string, readonly object[]]>([
  ['a known file', [{ user: 'alice' }, { signers: 'allowed_signers' }]],
  ['a file that the stack did not name before', [{ user: 'alice' }]],
])('An acknowledgement of signers in %s covers no other key with the same name', async (_, fromBefore) => {
  const specWith = (from: readonly object[]) => ({ approvals: { accept: ['review', 'signature'], from } });
  const scene = await openApplyScene({ spec: specWith(fromBefore) });
  const from = [{ user: 'alice' }, { signers: 'allowed_signers' }];
  const carol = makeSigner(scene.keys, 'carol');
  const evil = makeSigner(scene.keys, 'evil').replace('evil@', 'carol@');
  const { pull, approve, merge, plan } = await scene.pull([workspace('first')], {
    ...{ file: 'first.yaml', author: 'bob', isPlannedByJob: true },
    files: { 'trueup.yaml': emptyStack(scene.bench, { spec: specWith(from) }), allowed_signers: carol },
  });
  expect(plan.guards.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(
      /"allowed_signers" of signers is loosened from no signers to \[key SHA256:\S{43} of "carol@example\.com"\]/,
    ),
  );
  approve('alice');
  scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
  merge();
  scene.push({ 'pay/allowed_signers': evil });
  await scene.expectRefused(
    /no acknowledged plan showed that the file "allowed_signers" of signers is loosened from no signers to .*carol@/,
    5,
  );
  scene.push({ 'pay/allowed_signers': carol });
  await scene.ciApply(0);
});

it('An acknowledgement of a long list of approvers does not cover one who was added outside of the pull request', async () => {
  const owners = Array.from({ length: 14 }, (_, at) => `platform-owner-${at}`);
  const spec = (...users: readonly string[]) => ({
    approvals: { accept: ['review'], from: ['alice', ...owners, ...users].map((user) => ({ user })) },
  });
  const scene = await openApplyScene({ spec: spec() });
  const stackOf = (...users: readonly string[]) => emptyStack(scene.bench, { spec: spec(...users) });
  scene.push({ 'pay/trueup.yaml': stackOf('mallory') });
  const { pull, approve, merge, plan } = await scene.pull([workspace('first')], {
    ...{ file: 'first.yaml', author: 'bob', isPlannedByJob: true },
    files: { 'trueup.yaml': stackOf('mallory', 'newbie') },
  });
  expect(plan.guards[0]?.message).toContain(
    'spec.approvals.from is loosened from a list of 16 to a list of 17, with {"user":"newbie"} added (an acknowledgement covers all elements)',
  );
  approve('alice');
  scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
  merge();
  await scene.expectRefused(
    /no acknowledged plan showed that spec\.approvals\.from is loosened from a list of 15 to a list of 17, with \{"user":"mallory"\}, /,
    5,
  );
});
