/** The commands that reports propose if a policy needs a confirmation: copied to a shell, they apply the plan that was shown. */
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { trueup } from '../../support/captured-host.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const rules = policiesText(policy('x', { severity: 'confirm' }));

async function begin() {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: withPolicies });
  await stack.write('policies/rules.yaml', rules);
  await stack.declare(workspace('app'));
  return { bench, stack };
}

/** The first proposed command with `--ack`, as words; none of these has a space, except in quotes. */
function proposedCommand({ out, err }: { readonly out: string; readonly err: string }): string[] {
  const [, command = ''] = /trueup (apply [^\n]*?--ack [\w/,-]+)/.exec(out + err) ?? [];
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

describe('The command that acknowledges a policy', () => {
  it.each([
    ['plan', ['plan'], 0],
    ['plan as Markdown', ['plan', '--format', 'markdown'], 0],
    ['show', ['show', 'plan.json'], 0],
    ['apply', ['apply', '--yes'], 5],
    ['apply with a plan file', ['apply', 'plan.json'], 5],
  ])('applies the plan that %s shows', async (_, args, code) => {
    const { bench, stack } = await begin();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.run(proposedCommand(await stack.run(args, code)), 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('names the plan file if one is applied, because a digest does not cover the messages of policies', async () => {
    const { bench, stack } = await begin();
    await stack.run(['plan', '--out', 'plan.json', '--select', 'Workspace/acme/app'], 0);
    const { err } = await stack.run(['apply', 'plan.json'], 5);
    const command = proposedCommand({ out: '', err });
    expect(command.slice(0, 2)).toEqual(['apply', 'plan.json']);
    expect(command).not.toContain('--approve');
    await stack.run(command, 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  const prepareRepeat = async (stack: Checkout) => {
    await stack.declare(workspace('base'));
    await stack.applyAcknowledged();
    await stack.declare(workspace('base'), workspace('app'));
    await stack.applyAcknowledged();
    await stack.declare(workspace('base'));
    await stack.applyAcknowledged();
    await stack.declare(workspace('base'), workspace('app'));
  };

  it.each([
    ['plan', ['plan'], 0],
    ['apply', ['apply', '--yes'], 5],
  ])('applies the plan of %s also if the same plan was applied before', async (_, args, code) => {
    const { bench, stack } = await begin();
    await prepareRepeat(stack);
    const command = proposedCommand(await stack.run(args, code));
    expect(command).toContain('--again');
    await stack.run(command, 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('applies the plan of ci plan outside of a job, in a folder whose name has a space', async () => {
    const scene = await openCiScene();
    const folder = 'stacks/two words';
    scene.push({
      [`${folder}/trueup.yaml`]: scene.stack('two', { spec: withPolicies }),
      [`${folder}/policies/rules.yaml`]: rules,
      [`${folder}/manifests/app.yaml`]: documentsText([workspace('two-app')]),
    });
    const { out, err, clone } = await scene.job({
      ref: 'base',
      args: [folder],
      env: { GITHUB_ACTIONS: '', GITHUB_EVENT_NAME: '', GITHUB_EVENT_PATH: '' },
    });
    const command = proposedCommand({ out, err });
    expect(command, out + err).toContain(folder);
    const env = { PATH: process.env['PATH'] ?? '', ...secrets };
    const ran = await trueup(command, { cwd: clone, env });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0 });
    expect(await scene.bench.idsOf('two-app')).toHaveLength(1);
  });
});
