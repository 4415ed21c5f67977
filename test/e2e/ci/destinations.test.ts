/**
 * If a merged commit would send secrets to another place, `trueup ci apply` sends none before that was approved: the address of
 * a target, its token, its certificate, and everything of a stack that was never applied.
 */
import { describe, expect, it } from 'vitest';
import { type ApplyScene, emptyStack, noCodeHost, openApplyScene } from '../../support/ci/apply-scene.ts';
import { openThief } from '../../support/ci/thief.ts';
import { secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const first = workspace('first', { description: 'one' });
const isPlannedByJob = true;
const { API_TOKEN } = secrets;

/** The stack file with other members of the target `acme`. */
function stackWith({ bench }: Pick<ApplyScene, 'bench'>, target: object, spec: object = {}): string {
  const stack = JSON.parse(emptyStack(bench, { spec }));
  Object.assign(stack.spec.targets[0], target);
  return JSON.stringify(stack);
}

/** The job ends with 4, says why, and has sent nothing to the services. */
async function sendsNothing(scene: ApplyScene, why: string, args: readonly string[] = [], job = {}) {
  scene.bench.wire.reset();
  const { err } = await scene.ciApply(4, args, job);
  expect(err).toContain(why);
  expect(err).toContain('no valid approval was found for a commit with the same places');
  expect(scene.bench.wire.seen).toEqual([]);
  return err;
}

describe('A merged change of the place that a token is sent to', { timeout: 180_000 }, () => {
  it('sends no token to the new address before an approval, even after a later pull request', async () => {
    const scene = await openApplyScene();
    const thief = await openThief();
    const files = { 'trueup.yaml': stackWith(scene, { url: thief.url }) };
    const parallel = await scene.pull([first], { file: 'first.yaml' });
    scene.push(Object.fromEntries(Object.entries(files).map(([path, text]) => [`pay/${path}`, text])));
    await sendsNothing(scene, 'url of the target "acme"');
    // The parallel pull request was planned and approved with the former address.
    parallel.approve('alice');
    parallel.merge();
    const err = await sendsNothing(scene, 'url of the target "acme"');
    expect(err).toContain('to do: let another person approve the pull request that brought it');
    expect(thief.tokens).toEqual([]);
  });

  it('is shown in the plan of its pull request, and applied after an approval of that', async () => {
    const scene = await openApplyScene({}, { env: { OTHER_TOKEN: API_TOKEN } });
    const job = { env: { OTHER_TOKEN: API_TOKEN } };
    scene.github.state.permissions.set('ann', 'write');
    const files = { 'trueup.yaml': stackWith(scene, { token: { env: 'OTHER_TOKEN' } }) };
    const { pull, approve, merge } = await scene.pull([workspace('base')], {
      ...{ file: 'base.yaml', files, isPlannedByJob },
    });
    expect(pull.comments[0]?.body).toContain('token of the target `acme`');
    merge();
    await sendsNothing(scene, 'token of the target "acme"', [], job);
    approve('alice');
    const { out } = await scene.ciApply(0, [], job);
    expect(out).toContain('No changes');
    await scene.ciApply(0, [], job);
  });

  it('is not approved by other pull requests, whose plans did not show the change', async () => {
    const scene = await openApplyScene({}, { env: { OTHER_TOKEN: API_TOKEN } });
    const job = { env: { OTHER_TOKEN: API_TOKEN } };
    const usual = { 'pay/trueup.yaml': emptyStack(scene.bench) };
    const changed = { 'pay/trueup.yaml': stackWith(scene, { token: { env: 'OTHER_TOKEN' } }) };
    scene.push(changed);
    const later = await scene.pull([first], { author: 'bob', isPlannedByJob });
    expect(later.pull.comments[0]?.body).not.toContain('token of the target');
    later.approve('alice');
    scene.push(usual);
    later.merge();
    scene.push(changed);
    await sendsNothing(scene, 'token of the target "acme"', [], job);
    const again = await scene.pull([workspace('second')], {
      file: 'two.yaml',
      author: 'bob',
      isPlannedByJob,
    });
    again.approve('alice');
    again.merge();
    await sendsNothing(scene, 'token of the target "acme"', [], job);
  });

  it('is approved by a signature of its head, or by reviewers of the environment', async () => {
    const spec = {
      approvals: { accept: ['signature', 'environment'], from: [{ signers: 'allowed_signers' }] },
    };
    const env = { OTHER_TOKEN: API_TOKEN, THIRD_TOKEN: API_TOKEN };
    const scene = await openApplyScene({ spec }, { signers: ['alice'], env });
    const change = (token: string, name: string) =>
      scene.pull([workspace(name)], {
        file: 'more.yaml',
        files: { 'trueup.yaml': stackWith(scene, { token: { env: token } }, spec) },
      });
    const one = await change('OTHER_TOKEN', 'one');
    one.merge();
    const without = { env: { ...noCodeHost.env, ...env } };
    await sendsNothing(scene, 'token of the target "acme"', [], without);
    await scene.sign({ digest: one.digest, plan: one.plan, commit: one.pull.head, by: 'alice' });
    await scene.ciApply(0, [], without);

    const two = await change('THIRD_TOKEN', 'two');
    two.merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    await scene.ciApply(0, ['--record'], { env });
    const { digest } = JSON.parse((await scene.run(['plan', '--format', 'json'], 0)).out);
    const waited = ['--digest', digest, '--environment', 'prod'];
    await sendsNothing(scene, 'token of the target "acme"', waited, { env });
    scene.github.state.approveRun(run, { by: 'bob', environment: 'prod' });
    expect((await scene.ciApply(0, waited, { env })).out).toContain('approved by "bob" (environment)');
  });
});

describe('A stack that was never applied', { timeout: 180_000 }, () => {
  it('gets no token before an approval, and none if it declares nothing', async () => {
    const scene = await openApplyScene({}, { isNew: true });
    await sendsNothing(scene, 'the stack was never applied');
    const { approve, merge } = await scene.pull([first]);
    merge();
    await sendsNothing(scene, 'the stack was never applied');
    approve('alice');
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('first')).toHaveLength(1);

    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { name: 'empty' }),
      'pay/manifests/base.yaml': documentsText([]),
      'pay/manifests/all.yaml': documentsText([]),
    });
    scene.bench.wire.reset();
    const { out } = await scene.ciApply(0);
    expect(out).toContain('the stack declares nothing');
    expect(scene.bench.wire.seen).toEqual([]);
  });
});
