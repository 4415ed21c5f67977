/** The next steps that CI jobs show: in the comment, in the summary of the step, and in annotations. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApplyScene, emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const more = { 'stacks/pay/manifests/more.yaml': documentsText([workspace('pay-more')]) };

describe('The comment and the summary of a plan job', () => {
  it('name the approvals that the stack accepts, and the job that applies the plan', async () => {
    const scene = await openCiScene();
    scene.propose(more);
    const job = await scene.job();
    for (const text of [job.summary, scene.github.comments[0]?.body]) {
      expect(text).toContain(
        'To approve this plan, approve the pull request in a review of this commit. If the apply workflow waits for an environment, you can also approve the job that waits for an environment, after the merge.',
      );
      expect(text).toContain('After the merge, the job on the protected branch plans again');
      expect(text).not.toContain('trueup apply');
    }
  });

  it('have the command for signatures, and the number of people that are needed', async () => {
    const scene = await openCiScene();
    const approvals = { accept: ['signature'], count: 2, from: [{ signers: 'signers' }] };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { approvals } }) });
    scene.propose(more);
    const { summary } = await scene.job();
    expect(summary).toMatch(
      /To approve this plan, sign it with `trueup approve \S+ stacks\/pay --commit \w{40}`, in a clone with the newest commit of the base branch checked out\. 2 people are needed\./,
    );
  });

  it('offer no label if the stack accepts only signatures', async () => {
    const scene = await openCiScene();
    const approvals = { accept: ['signature'], from: [{ signers: 'signers' }] };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { approvals } }) });
    const spec = { approvals, guards: { maxDeletes: 99 } };
    scene.propose({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec }) });
    const { out, summary } = await scene.job();
    expect(summary).toContain('To acknowledge `loosened`, sign this plan with `trueup approve');
    expect(out).toContain('To acknowledge "loosened", sign this plan with "trueup approve');
    for (const text of [out, summary]) {
      expect(text).not.toContain('trueup-ack/');
      expect(text).not.toContain('trueup apply');
    }
  });

  it('say that signers whom the pull request adds cannot sign it', async () => {
    const scene = await openCiScene();
    const approvals = { accept: ['signature'], from: [{ signers: 'signers' }] };
    scene.propose({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { approvals } }), ...more });
    const { summary } = await scene.job();
    expect(summary).toContain('the signers of this pull request count only after its merge; keep `review`');
    expect(summary).toContain('loosened from no signers to');
  });

  it('show a loosened setting first, and how to acknowledge it', async () => {
    const scene = await openCiScene();
    scene.propose({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: { guards: { maxDeletes: 99 } } }) });
    const job = await scene.job();
    for (const text of [job.summary, scene.github.comments[0]?.body]) {
      expect(text).toMatch(/### Risks\n\n#### Guards\n\n- \*\*blocks\*\* `loosened`/);
      expect(text).toContain(
        'To acknowledge `loosened`, let a person other than its authors set the label `trueup-ack/loosened` on the pull request now (create a label that the repository does not have)',
      );
    }
  });
});

/** An apply job with the files of a step. */
async function stepOf(scene: ApplyScene, code: number, args: readonly string[] = []) {
  const folder = temporaryFolder({ summary: '', output: '' });
  const [summary, output] = [join(folder, 'summary'), join(folder, 'output')];
  const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: output };
  const ran = await scene.ciApply(code, ['--format', 'github', ...args], { env });
  return { ...ran, summary: readFileSync(summary, 'utf8'), output: readFileSync(output, 'utf8') };
}

describe('The summary of an apply job', () => {
  it('says how to approve a plan, and after the apply that nothing is left to do', async () => {
    const scene = await openApplyScene();
    const { pull, approve, merge } = await scene.pull([workspace('first')]);
    merge();
    const refused = await stepOf(scene, 4);
    const annotation = refused.out.split('\n').find((line) => line.startsWith('::error title=not-approved'));
    expect(annotation).toMatch(/%0A {2}not counted: review.*%0A {2}to do: /);
    for (const text of [refused.out, refused.summary, scene.applyComment(pull)])
      expect(text).not.toContain('\\n');
    expect(refused.summary).toMatch(
      /### Next steps\n\nlet another person approve the pull request in a review/,
    );
    expect(refused.summary).toContain(
      '- to do: let another person approve the pull request in a review, if its comment shows this plan',
    );
    approve('alice');
    const { summary } = await stepOf(scene, 0);
    expect(summary).toContain('### Next steps\n\nThis plan was applied. There is nothing else to do.');
    for (const text of [refused.summary, summary, scene.applyComment(pull)])
      expect(text).not.toContain('Review this plan');
  });
});

describe('A pull request that only loosens a setting', () => {
  it('is shown, acknowledged by a label, and applied by the job that waits for an environment', async () => {
    const scene = await openApplyScene({ spec: { guards: { maxDeletes: 1 } } });
    const files = { 'trueup.yaml': emptyStack(scene.bench, { spec: { guards: { maxDeletes: 9 } } }) };
    const { pull, merge } = await scene.pull([workspace('base')], {
      file: 'base.yaml',
      files,
      isPlannedByJob: true,
    });
    const shown = pull.comments[0]?.body;
    expect(shown).toContain('from 1 to 9');
    expect(shown).toContain('Until then, the next apply of this stack writes nothing');
    expect(shown).not.toContain('To approve this plan');
    merge();
    const run = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
    const { output, summary } = await stepOf(scene, 0, ['--record']);
    expect(output).toMatch(/acknowledge<<.*\nloosened\n/);
    expect(summary).toContain('acknowledge the guards, as by the label `trueup-ack/loosened`');
    const [, digest = ''] = /digest<<.*\n([0-9a-f]{32})\n/.exec(output) ?? [];
    scene.github.state.approveRun(run, { by: 'alice', environment: 'prod' });
    const waited = ['--digest', digest, '--environment', 'prod'];
    expect((await scene.ciApply(5, waited)).err).toContain('"trueup-ack/loosened"');
    scene.github.state.label(pull, 'trueup-ack/loosened', 'bob');
    await scene.ciApply(0, waited);
    expect((await scene.ciApply(0)).out).not.toContain('loosened');
  });
});
