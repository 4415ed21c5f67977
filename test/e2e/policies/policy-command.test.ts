/** `trueup policy test` and `trueup policy replay`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

describe('trueup policy test', () => {
  const rule = {
    rule: '!resource.spec.autoApply',
    message: '"off: " + resource.name',
    match: { kinds: ['Workspace'] },
  };
  const tested = (...tests: readonly object[]) => policiesText(policy('no-auto-apply', { ...rule, tests }));
  const run = async (text: string, args: readonly string[] = []) => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'rules.yaml'), text);
    return trueup(['policy', 'test', 'rules.yaml', ...args], { cwd, env: {} });
  };
  const on = { spec: { autoApply: true } };

  it('runs the tests in files of policies, without a stack and without a service', async () => {
    const ran = await run(
      tested(
        { name: 'on', resource: on, expect: 'violation', message: 'off: sample' },
        { name: 'off', resource: { spec: { autoApply: false } }, expect: 'pass' },
        { name: 'a role', change: { kind: 'ClusterAuthRole' }, expect: 'no-match' },
        { name: 'nothing known', expect: 'error' },
      ),
    );
    const out = 'no-auto-apply  4 tests passed  rules.yaml\n4 tests of 1 policy passed\n';
    expect(ran).toMatchObject({ code: 0, out });
  });

  it('fails with the line of a test that has another result or message', async () => {
    const ran = await run(
      tested(
        { name: 'on', resource: on, expect: 'pass' },
        { name: 'text', resource: on, expect: 'violation', message: 'off' },
        { name: 'an error is no violation', expect: 'violation' },
      ),
    );
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.out).toContain(
      'no-auto-apply: on\n        expected pass, found violation: off: sample\n        rules.yaml:1',
    );
    expect(ran.out).toContain('expected the message "off", found: off: sample');
    expect(ran.out).toContain('expected violation, found error');
    expect(ran.out).toContain('no-auto-apply  0 tests passed, 3 failed  rules.yaml\n');
    expect(ran.out).toContain('0 tests of 1 policy passed, 3 failed');
  });

  it('ignores the case of an organization, as plans do, but not of a mount', async () => {
    const samples = ['Platform', 'platform', 'auth/Platform', 'auth/platform'].map((place) => ({
      name: place,
      change: { place },
      expect: place === 'auth/platform' ? 'no-match' : 'violation',
    }));
    const match = { targets: ['Platform'] };
    expect((await run(policiesText(policy('platform', { match, tests: samples })))).code).toBe(0);
  });

  it('names policies without tests, and prints all of it as JSON', async () => {
    const text = policiesText(policy('untested'));
    expect((await run(text)).out).toContain('untested  no tests  rules.yaml\n');
    const { out } = await run(text, ['--format', 'json']);
    const known = { name: 'untested', file: 'rules.yaml', tests: 0, failed: 0 };
    expect(JSON.parse(out)).toMatchObject({ policies: [known], untested: ['untested'], tests: [] });
  });

  it('runs no test of a policy that is not valid', async () => {
    expect(await run(policiesText(policy('x', { rule: 'chnge' })))).toMatchObject({ code: 7 });
  });
});

describe('trueup policy replay', () => {
  const forbidden = policy('no-auto-apply', {
    match: { kinds: ['Workspace'] },
    rule: '!resource.spec.autoApply',
  });
  const prepare = async (): Promise<Checkout> => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { autoApply: true }));
    await stack.declare(workspace('app', { autoApply: true }), workspace('other'));
    await stack.run(['apply', '--yes'], 0);
    const strict = await stack.reconfigure({ spec: withPolicies });
    await strict.write('policies/rules.yaml', policiesText(forbidden));
    return strict;
  };
  const entriesOf = async ({ directory }: Checkout) => {
    const folder = join(directory, '.trueup', 'payments.history');
    return (await readdir(folder)).map((name) => join(folder, name));
  };

  it("says which applies of the history today's policies would have stopped", async () => {
    const stack = await prepare();
    const { out } = await stack.run(['policy', 'replay', '--since', '1d'], 0);
    expect(out).toContain('denied  policy/no-auto-apply  Workspace/acme/app');
    expect(out).toMatch(/Of 2 applies with changes since \S+, 1 would have been stopped\n/);
    const { applies } = JSON.parse((await stack.run(['policy', 'replay', '--format', 'json'], 0)).out);
    expect(applies.map(({ findings }: { findings: object[] }) => findings.length)).toEqual([0, 1]);
  });

  it('leaves out earlier applies', async () => {
    const stack = await prepare();
    const { out } = await stack.run(['policy', 'replay', '--since', '2099-01-01T00:00:00Z'], 0);
    expect(out).toContain('Of 0 applies with changes');
  });

  it('checks a workspace with only changed tags, as plans do, and reports it as unknown for older entries', async () => {
    const stack = await prepare();
    await stack.write('policies/rules.yaml', policiesText(policy('named', { rule: 'true' })));
    const tags = (value: string) => workspace('app', { autoApply: true, tags: { env: value } });
    await stack.declare(tags('dev'), workspace('other'));
    await stack.run(['apply', '--yes'], 0);
    const prod = { match: { kinds: ['Workspace'], tags: { env: 'prod' } }, rule: '!resource.spec.autoApply' };
    await stack.declare(tags('prod'), workspace('other'));
    await stack.run(['apply', '--yes'], 0);
    await stack.write('policies/rules.yaml', policiesText(policy('manual-prod', prod)));
    const newest = async () => {
      const { out } = await stack.run(['policy', 'replay', '--format', 'json'], 0);
      return JSON.parse(out).applies[0].findings;
    };
    const found = { policy: 'manual-prod', address: 'Workspace/acme/app' };
    expect(await newest()).toEqual([expect.objectContaining({ ...found, is: 'violation' })]);
    for (const file of await entriesOf(stack)) {
      const { tagged: _, ...entry } = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(file, JSON.stringify(entry));
    }
    expect(await newest()).toEqual([expect.objectContaining({ ...found, is: 'unknown' })]);
  });

  it('reports rules as unknown if older entries lack their values, and evaluates the others', async () => {
    const stack = await prepare();
    for (const file of await entriesOf(stack)) {
      const { unchanged: _, ...entry } = JSON.parse(await readFile(file, 'utf8'));
      for (const change of entry.changes) delete change.checked;
      await writeFile(file, JSON.stringify(entry));
    }
    await stack.write(
      'policies/rules.yaml',
      policiesText(
        forbidden,
        policy('tagged', { match: { tags: { env: 'prod' } }, rule: 'true' }),
        policy('absence', {
          rule: '!has(change.before.autoApply)',
          match: { actions: ['create'], kinds: ['Workspace'] },
        }),
        policy('named', { rule: 'change.name != "other"', match: { kinds: ['Workspace'] } }),
      ),
    );
    const { out } = await stack.run(['policy', 'replay', '--format', 'json'], 0);
    const found = JSON.parse(out).applies.flatMap(({ findings }: { findings: object[] }) => findings);
    const of = (name: string) =>
      found.flatMap(({ policy: by, is }: { policy: string; is: string }) => (by === name ? [is] : []));
    expect(of('no-auto-apply')).toEqual(['unknown', 'unknown']);
    expect(new Set(of('tagged'))).toEqual(new Set(['unknown']));
    expect(new Set(of('absence'))).toEqual(new Set(['unknown']));
    expect(of('named')).toEqual(['violation']);
  });
});

it('The example policies pass their own tests, and each of them has tests', async () => {
  const ran = await trueup(['policy', 'test', 'examples/policies', '--format', 'json'], {
    cwd: process.cwd(),
    env: {},
  });
  expect(ran, ran.out).toMatchObject({ code: 0 });
  const { policies, untested } = JSON.parse(ran.out);
  expect(policies.length).toBeGreaterThanOrEqual(10);
  expect(untested).toEqual([]);
});
