/** Policies through the real command line: the plan shows violations, and apply checks again at its own time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, type StackOptions } from '../../support/cli/bench.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { consumers, role, workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';

interface Opened {
  readonly bench: Bench;
  readonly stack: Checkout;
}

async function begin(
  policies: readonly object[],
  options: StackOptions = { spec: withPolicies },
): Promise<Opened> {
  const bench = await openBench();
  const stack = await bench.checkout(options);
  await stack.write('policies/rules.yaml', policiesText(...policies));
  return { bench, stack };
}

const noAutoApply = (severity: string, more: object = {}) =>
  policy('no-auto-apply', {
    severity,
    description: 'people apply',
    match: { kinds: ['Workspace'] },
    rule: '!resource.spec.autoApply',
    message: '"turn off autoApply of " + resource.name',
    ...more,
  });

const auto = workspace('app', { autoApply: true });

describe('A change that violates a policy', () => {
  it('with the severity "deny" stops apply with 5 despite acknowledgements, and nothing is written', async () => {
    const { bench, stack } = await begin([noAutoApply('deny')]);
    await stack.declare(auto);
    const { digest, guards, acknowledge } = await stack.plan();
    expect(guards).toMatchObject([{ id: 'policy/no-auto-apply', effect: 'denies', counted: 1 }]);
    expect(acknowledge).toEqual([]);
    const { err } = await stack.run(['apply', '--approve', digest, '--ack', 'policy/no-auto-apply'], 5);
    expect(err).toContain('a policy denies this plan, which cannot be acknowledged: "no-auto-apply"');
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('with the severity "confirm" stops apply with 5 until its guard is acknowledged for this plan', async () => {
    const { bench, stack } = await begin([noAutoApply('confirm')]);
    await stack.declare(auto);
    const { digest, acknowledge } = await stack.plan();
    expect(acknowledge).toEqual(['policy/no-auto-apply']);
    await stack.run(['apply', '--yes'], 5);
    await stack.run(['apply', '--approve', digest], 5);
    await stack.run(['apply', '--approve', digest, '--ack', 'policy/other'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', '--approve', digest, '--ack', 'policy/no-auto-apply'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('with the severity "warn" is shown, and applied', async () => {
    const { stack } = await begin([noAutoApply('warn')]);
    await stack.declare(auto);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('? warns   policy/no-auto-apply');
    expect(out).toContain('app: turn off autoApply of app');
  });

  it('is among the guards in every format, in SARIF at the line of its document', async () => {
    const { stack } = await begin([noAutoApply('deny')]);
    await stack.declare(workspace('first'), auto);
    const formats = ['text', 'json', 'markdown', 'html', 'github', 'sarif'];
    for (const format of formats) {
      const { out } = await stack.run(['plan', '--format', format], 0);
      expect(out, format).toContain('policy/no-auto-apply');
      expect(out, format).toContain('turn off autoApply of app');
      if (format === 'html') expect(out).toContain('<strong>denies</strong>');
    }
    const { runs } = JSON.parse((await stack.run(['plan', '--format', 'sarif'], 0)).out);
    const [result] = runs[0].results;
    expect(result).toMatchObject({ ruleId: 'policy/no-auto-apply', level: 'error' });
    const { artifactLocation, region } = result.locations[0].physicalLocation;
    expect([artifactLocation.uri, region.startLine]).toEqual(['manifests/all.yaml', 3]);
  });

  it('is found by tags, targets, kinds and actions, also if the change removes the tag', async () => {
    const match = { tags: { env: ['prod', 'live-*'] }, targets: ['ac*'], kinds: ['Workspace'] };
    const { stack } = await begin([policy('never', { match })]);
    await stack.declare(workspace('dev', { tags: { env: 'dev' } }), workspace('bare'), role('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(
      workspace('dev', { tags: { env: 'live-1' }, autoApply: true }),
      workspace('bare'),
      role('web'),
    );
    expect((await stack.plan()).guards).toMatchObject([
      { id: 'policy/never', concerns: [{ address: 'Workspace/acme/dev' }] },
    ]);
  });

  it('is found also if the same change gives the tag another value', async () => {
    const { stack } = await begin([
      policy('never', {
        match: { kinds: ['Workspace'], tags: { env: 'prod' } },
        rule: '!change.after.autoApply',
      }),
    ]);
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { tags: { env: 'dev' }, autoApply: true }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toContain('policy/never');
  });
});

describe('A rule can use', () => {
  it('the values of a change before and after, its fields and its line', async () => {
    const rule = [
      'change.action == "update" && change.before.autoApply == false && change.after.autoApply == true',
      'change.fields.exists(f, f.path == "autoApply" && f.before == false && f.after == true)',
      'change.declaredAt.startsWith("manifests/all.yaml:")',
      'resource.spec == change.after && resource.tags == {"env": "prod"}',
      'plan.counts.update == 1 && plan.counts.unchanged == 1 && plan.stack == "payments"',
    ].join(' && ');
    const { stack } = await begin([policy('sees', { rule, match: { actions: ['update'] } })]);
    const app = (autoApply: boolean) => workspace('app', { autoApply, tags: { env: 'prod' } });
    await stack.declare(app(false));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(app(true));
    const { guards } = await stack.plan();
    expect(guards.filter(({ id }) => id.startsWith('policy/'))).toEqual([]);
  });

  it('the former values of a deleted resource, which has no values afterwards', async () => {
    const rule = 'change.after == null && resource == null && change.before.autoApply == true';
    const { stack } = await begin([
      policy('deleted', { rule, match: { actions: ['delete'], kinds: ['Workspace'] } }),
    ]);
    await stack.declare(auto, workspace('other'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('other'));
    const plan = await stack.plan();
    expect(plan.summary.delete).toBeGreaterThan(0);
    expect(plan.guards.filter(({ id }) => id.startsWith('policy/'))).toEqual([]);
  });

  it('the workspace of a state, and the workspaces that may read it', async () => {
    const rule =
      'resource.parent.name == "net" && resource.references.all(r, r.name == "app" && r.spec.autoApply)';
    const match = { kinds: ['RemoteStateConsumers'] };
    const { stack } = await begin([policy('readers', { rule, match })]);
    await stack.declare(workspace('net'), auto, consumers('net', { consumers: ['app'] }));
    expect((await stack.plan()).guards.filter(({ id }) => id.startsWith('policy/'))).toEqual([]);
    await stack.declare(workspace('net'), workspace('app'), consumers('net', { consumers: ['app'] }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toContain('policy/readers');
  });
});

describe('A rule that fails', () => {
  it('is a violation with its reason, and does not pass', async () => {
    const { stack } = await begin([
      policy('absent', { rule: 'resource.tags.owner == "net"', match: { kinds: ['Workspace'] } }),
      policy('number', { rule: '1 + 1', match: { kinds: ['Workspace'] } }),
    ]);
    await stack.declare(workspace('app'));
    const { guards } = await stack.plan();
    const reasons = guards.map(({ id, concerns }) => [id, concerns[0]?.says[0]]);
    expect(reasons).toContainEqual(['policy/absent', 'the rule fails: field not found: owner']);
    expect(reasons).toContainEqual(['policy/number', 'the rule gives a number, and not true or false']);
    await stack.run(['apply', '--yes'], 5);
  });

  it('by its time limit is a violation as well', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const rule = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    const { stack } = await begin([
      policy('before', { rule: 'true' }),
      policy('endless', { rule }),
      policy('waiting', { rule: 'true' }),
    ]);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 5);
    const { guards } = await stack.plan();
    const message = 'the rules took more than 2 seconds together; the rule of "endless" was not finished';
    expect(guards.map(({ id, concerns }) => [id, concerns[0]?.says[0]])).toEqual([
      ['policy/endless', message],
      ['policy/waiting', message],
    ]);
  });
});

describe('Policies that cannot be read or are not valid', () => {
  it.each([
    ['a pattern matches no file', { policies: { files: ['rules/*.yaml'] } }, undefined, 7, 'rules/*.yaml'],
    ['a file does not exist', { policies: { files: ['policies/no.yaml'] } }, undefined, 7, 'does not exist'],
    ['the files have no policy', withPolicies, '# nothing', 7, 'no policy'],
    ['a document is something else', withPolicies, policiesText(workspace('app')), 7, 'policies/rules.yaml'],
    ['a name is too long for a label', withPolicies, policiesText(policy('x'.repeat(33))), 7, 'at most 32'],
    ['a member is misspelt', withPolicies, policiesText(policy('x', { severty: 'deny' })), 7, 'severity'],
    [
      'a member in a rule is misspelt',
      withPolicies,
      policiesText(policy('x', { rule: 'has(change.adress)' })),
      7,
      'did you mean "address"?',
    ],
    [
      'two have one name',
      withPolicies,
      policiesText(policy('x'), policy('x')),
      7,
      'two policies are called "x"',
    ],
    [
      'a kind does not exist',
      withPolicies,
      policiesText(policy('x', { match: { kinds: ['Workspce'] } })),
      7,
      'did you mean "Workspace"?',
    ],
    [
      'an exemption has no end',
      withPolicies,
      policiesText(policy('x', { exemptions: [{ resource: '*', reason: 'r', owner: 'o' }] })),
      7,
      'until',
    ],
    [
      'there is no repository with the ref',
      { policies: { from: { git: { remote: 'origin', ref: 'main', path: 'policies' } } } },
      undefined,
      1,
      'cannot be read',
    ],
  ])('stop plan and apply, and nothing is written: %s', async (...[, spec, text, code, message]) => {
    const { bench, stack } = await begin([policy('x')], { spec });
    if (text !== undefined) await stack.write('policies/rules.yaml', text);
    await stack.declare(workspace('app'));
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { out, err } = await stack.run(args, code);
      expect(out + err).toContain(message);
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('are reported by validate as well, without a service', async () => {
    const { stack } = await begin([policy('x', { rule: 'chnge.action == ""' })]);
    await stack.declare(workspace('app'));
    const { err, out } = await stack.run(['validate'], 7);
    expect(out + err).toContain('did you mean "change"?');
  });

  it('are not read as manifests, even if the patterns of both match', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({
      spec: { policies: { files: ['manifests/policies/*.yaml'] }, manifests: ['manifests/**/*.yaml'] },
    });
    await stack.write('manifests/policies/rules.yaml', policiesText(policy('never', { severity: 'warn' })));
    await stack.declare(workspace('app'));
    expect((await stack.plan()).guards).toMatchObject([{ id: 'policy/never', effect: 'warns' }]);
  });
});

describe('An exemption', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const exempt = (until: string, severity = 'deny') =>
    noAutoApply(severity, {
      exemptions: [{ resource: 'Workspace/acme/app', reason: 'moves soon', owner: 'team-net', until }],
    });
  const at = async ({ stack }: Opened, time: number, args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: stack.directory, env: stack.env, now: () => time });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };

  it('lets a violation pass, and the plan shows the resource and the end of the exemption', async () => {
    const opened = await begin([exempt('2027-01-15')]);
    await opened.stack.declare(auto);
    const { out } = await at(opened, now, ['plan', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      guards: [],
      policies: {
        exempted: [{ guard: 'policy/no-auto-apply', address: 'Workspace/acme/app', until: '2027-01-15' }],
      },
    });
    await at(opened, now, ['apply', '--yes'], 0);
  });

  it('that ends within 14 days is reported in each plan, also in one without changes', async () => {
    const opened = await begin([exempt('2026-12-05')]);
    await opened.stack.declare(workspace('app'));
    await at(opened, now, ['apply', '--yes'], 0);
    const { out } = await at(opened, now, ['plan'], 0);
    expect(out).toContain('Nothing to change');
    expect(out).toContain('the exemption of "Workspace/acme/app"');
    expect(out).toContain('owner: team-net');
    const json = JSON.parse((await at(opened, now, ['plan', '--format', 'json'], 0)).out);
    const all = [...json.problems, ...(json.diagnostics ?? [])];
    const { place } = all.find(({ code }: { code: string }) => code === 'exemption-ends');
    const lines = (await readFile(join(opened.stack.directory, place.file), 'utf8')).split('\n');
    expect(lines[place.line - 1]?.slice(place.column - 1)).toMatch(/^"2026-12-05"/);
  });

  describe('with an address that no resource has', () => {
    const misspelt = (resource: string, severity = 'warn') =>
      noAutoApply(severity, {
        exemptions: [{ resource, reason: 'r', owner: 'o', until: '2027-01-15' }],
      });
    const unused = async (opened: Opened, args: readonly string[] = [], code = 0) => {
      const { out } = await at(opened, now, ['plan', '--format', 'json', ...args], code);
      return (JSON.parse(out) as PlanJson).problems
        .filter((one) => one.code === 'exemption-unused')
        .map(({ message, place }) => [message, place?.file]);
    };

    it.each(['Workspace/acme/pay-appp', 'Workspace/acne/pay-app'])(
      'is a warning at %s if a resource with a similar address violates the policy',
      async (resource) => {
        const opened = await begin([misspelt(resource)]);
        await opened.stack.declare(workspace('pay-app', { autoApply: true }), workspace('other'));
        expect(await unused(opened)).toEqual([
          [
            `the exemption of "${resource}" from the policy "no-auto-apply" is about no resource of this stack; did you mean "Workspace/acme/pay-app"?`,
            'policies/rules.yaml',
          ],
        ]);
      },
    );

    it('is not a warning if it may be for a resource of another stack with the same policies', async () => {
      const opened = await begin([misspelt('Workspace/acme/net-core')]);
      await opened.stack.declare(workspace('pay-app', { autoApply: true }), workspace('net-care'));
      expect(await unused(opened)).toEqual([]);
    });

    it('is not a warning if the resource is declared, recorded, or outside of a part', async () => {
      const opened = await begin([misspelt('Workspace/acme/pay-*')]);
      await opened.stack.declare(workspace('pay-app'), workspace('other'));
      expect(await unused(opened)).toEqual([]);
      expect(await unused(opened, ['--select', 'Workspace/acme/other'])).toEqual([]);
      await opened.stack.run(['apply', '--yes'], 0);
      await opened.stack.declare(workspace('other'));
      expect(await unused(opened)).toEqual([]);
    });
  });

  it('that ends more than 90 days from now is an error', async () => {
    const opened = await begin([exempt('2027-03-15')]);
    await opened.stack.declare(auto);
    const { out, err } = await at(opened, now, ['plan'], 7);
    expect(out + err).toContain('more than 90 days from now');
  });

  it.each([
    ['deny', []],
    ['confirm', ['--ack', 'policy/no-auto-apply']],
    ['warn', []],
  ])(
    'of a policy with the severity %s that ended between approval and apply stops the apply with 5',
    async (severity, ack) => {
      const opened = await begin([exempt('2026-12-05', severity)]);
      await opened.stack.declare(auto);
      await at(opened, now, ['plan', '--out', 'plan.json'], 0);
      const later = Date.parse('2026-12-06T00:00:01Z');
      const { err } = await at(opened, later, ['apply', 'plan.json', ...ack], 5);
      expect(err).toContain('exemptions that the approved plan relies on have ended');
      expect(opened.bench.wire.writes()).toEqual([]);
    },
  );

  it('that ended stops an apply of a digest alone as well, even if the policy is acknowledged', async () => {
    const opened = await begin([exempt('2026-12-05', 'confirm')]);
    await opened.stack.declare(auto);
    const { digest } = JSON.parse((await at(opened, now, ['plan', '--format', 'json'], 0)).out);
    const later = Date.parse('2026-12-06T00:00:01Z');
    await at(opened, later, ['apply', '--approve', digest, '--ack', 'policy/no-auto-apply'], 5);
    expect(opened.bench.wire.writes()).toEqual([]);
  });
});

describe('Apply checks policies again', () => {
  it('at its own time, and a new violation is not acknowledged yet', async () => {
    const rule = 'plan.time.getDayOfWeek() != 5';
    const opened = await begin([policy('no-fridays', { severity: 'confirm', rule })]);
    await opened.stack.declare(workspace('app'));
    const { directory: cwd, env } = opened.stack;
    const thursday = () => Date.parse('2026-11-26T12:00:00Z');
    const friday = () => Date.parse('2026-11-27T12:00:00Z');
    await trueup(['plan', '--out', 'plan.json'], { cwd, env, now: thursday });
    const late = await trueup(['apply', 'plan.json'], { cwd, env, now: friday });
    expect(late, late.err).toMatchObject({ code: 5 });
    expect(late.err).toContain('policy/no-fridays');
    expect(opened.bench.wire.writes()).toEqual([]);
    expect(await trueup(['apply', 'plan.json'], { cwd, env, now: thursday })).toMatchObject({ code: 0 });
  });

  it('with the current policies, and an acknowledgement covers only resources that the plan file shows', async () => {
    const { bench, stack } = await begin([noAutoApply('confirm', { rule: 'resource.name != "app"' })]);
    await stack.declare(auto, workspace('other', { autoApply: true }));
    const file = join(stack.directory, 'plan.json');
    await stack.run(['plan', '--out', file], 0);
    await stack.write('policies/rules.yaml', policiesText(noAutoApply('confirm', { rule: 'false' })));
    await stack.run(['apply', file, '--ack', 'policy/no-auto-apply'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });
});
