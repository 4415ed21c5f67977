/** With --format json, stdout has one value that contains every problem once, and stderr has only the progress. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { trueup } from '../../support/captured-host.ts';
import { workspace } from '../../support/cli/documents.ts';

interface Answer {
  readonly diagnostics?: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
  }[];
  readonly problems?: readonly object[];
}

async function answer(stack: Checkout, args: readonly string[], code: number): Promise<Answer> {
  const { out, err } = await stack.run([...args, '--format', 'json'], code);
  expect(err).toBe('');
  return JSON.parse(out);
}

async function fits(value: object, schema: string): Promise<void> {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const path = new URL(`../../../schemas/${schema}.schema.json`, import.meta.url);
  const check = ajv.compile(JSON.parse(await readFile(path, 'utf8')));
  check(value);
  expect(check.errors ?? []).toEqual([]);
}

const codes = ({ diagnostics = [] }: Answer) => diagnostics.map(({ code }) => code);
const messages = ({ diagnostics = [] }: Answer) => diagnostics.map(({ message }) => message);

describe('with --format json, stderr does not repeat', () => {
  it('a warning about a manifest, which is in the plan', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    await stack.write('manifests/empty.yaml', '# nothing yet\n');
    const plan = await answer(stack, ['plan'], 1);
    expect(codes(plan)).toEqual(['empty-file']);
    await fits(plan, 'plan');
  });

  it('why a plan was not applied, which is in the plan', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const plan = await answer(stack, ['apply', '--yes'], 9);
    expect(plan.problems).toHaveLength(1);
    expect(messages(plan)).toEqual(['nothing was written: the plan has problems that must be solved first']);
    await fits(plan, 'plan');
  });

  it('guards that block', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(...['one', 'two', 'three', 'four', 'five'].map((name) => workspace(name)));
    await stack.declare(workspace('one'));
    const plan = await answer(stack, ['apply', '--yes'], 5);
    expect(messages(plan)).toEqual([expect.stringMatching(/^nothing was written: .* this plan: deletes/)]);
    await fits(plan, 'plan');
  });

  it('how a plan differs from the approved one', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('one'));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.declare(workspace('two'));
    const difference = await answer(stack, ['apply', 'plan.json'], 4);
    expect(difference).toMatchObject({ same: false });
    expect(messages(difference)).toEqual([
      expect.stringMatching(/^nothing was written: the plan is not the one/),
    ]);
    await fits(difference, 'difference');
  });

  it('a secret that is missing', async () => {
    const stack = await (await openBench()).checkout();
    const jwt = { env: 'NOT_SET_ANYWHERE' };
    await stack.write(
      'manifests/all.yaml',
      JSON.stringify({
        apiVersion: 'trueup.dev/v1',
        kind: 'ClusterAuthConfig',
        metadata: { name: 'config' },
        spec: { clusterHost: 'https://10.0.0.1', tokenReviewerJwt: jwt },
      }),
    );
    const reported = await answer(stack, ['apply', '--yes'], 1);
    expect(codes(reported)).toEqual(['no-ca-cert', 'secret-missing', 'plan-lacks-secrets']);
    await fits(reported, 'problems');
  });

  it('problems of manifests, of the command line, or of a plan file', async () => {
    const stack = await (await openBench()).checkout();
    await stack.write('manifests/all.yaml', 'kind: [\n');
    for (const command of ['validate', 'plan', 'apply']) {
      const reported = await answer(stack, [command], 7);
      expect(codes(reported)).toEqual(['yaml-syntax']);
      await fits(reported, 'problems');
    }
    expect(messages(await answer(stack, ['plan', '--nonsense'], 1))).toEqual(["unknown option '--nonsense'"]);
    for (const args of [
      ['show', 'none.json'],
      ['diff', 'none.json', 'manifests/all.yaml'],
    ])
      expect(messages(await answer(stack, args, 1))[0]).toContain('the plan "none.json" cannot be read');
    expect(messages(await answer(stack, ['history', 'show', 'none'], 1))).toHaveLength(1);
  });

  it('the problem of a change that failed', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { answer: 422, body: { errors: [] } } });
    const { out, err } = await stack.tryRun(['apply', '--yes', '--format', 'json']);
    expect(JSON.parse(out)).toMatchObject({ summary: { failed: 1 } });
    await fits(JSON.parse(out), 'outcomes');
    expect(err).toBe('Applying 1 change with 1 call\nfailed    + Workspace/acme/app  (1/1)\n');
  });
});

it('in JSON, the difference of two plans fits its schema', async () => {
  const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
  const stack = await bench.checkout();
  await stack.declare(
    workspace('app', { description: 'a', autoApply: true }, { adopt: true }),
    workspace('new'),
  );
  await stack.run(['plan', '--out', 'one.json'], 0);
  await stack.declare(workspace('app', { description: 'b' }, { adopt: true }), workspace('other', {}));
  await stack.run(['plan', '--out', 'other.json'], 0);
  const two = await answer(stack, ['diff', 'one.json', 'other.json'], 2);
  expect(two).toMatchObject({ same: false, changes: { length: 3 } });
  await fits(two, 'difference');
  await fits(await answer(stack, ['diff', 'one.json', 'one.json'], 0), 'difference');
});

it('in JSON, a history fits its schema, also if an entry cannot be read', async () => {
  const stack = await (await openBench()).checkout();
  await stack.setUp(workspace('app'));
  await fits(await answer(stack, ['history'], 0), 'history');
  await stack.write('.trueup/payments.history/20200101T000000000Z-aaaa.json', '{');
  const history = await answer(stack, ['history'], 1);
  expect(history).toMatchObject({ damaged: [expect.stringContaining('20200101T000000000Z-aaaa')] });
  await fits(history, 'history');
});

it('as text, a problem is still on stderr, and nothing of it on stdout', async () => {
  const stack = await (await openBench()).checkout();
  await stack.write('manifests/all.yaml', 'kind: [\n');
  const { code, out, err } = await trueup(['validate'], { cwd: stack.directory, env: secrets });
  expect({ code, out }).toEqual({ code: 7, out: '' });
  expect(err).toContain('error[yaml-syntax]');
});
