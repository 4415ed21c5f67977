/** Policies through the real CLI: what violates one is shown with the plan, and apply checks again at its own time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, type StackOptions } from '../../support/cli/bench.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { consumers, role, workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';

interface Begun {
  readonly bench: Bench;
  readonly stack: Checkout;
}

async function begin(
  policies: readonly object[],
  options: StackOptions = { spec: withPolicies },
): Promise<Begun> {
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
  it('with the severity "deny" stops apply with 5, whatever is acknowledged, and nothing is written', async () => {
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

  it('is among the guards in every format, in SARIF at the place of its document', async () => {
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

  it('is found by tags, targets, kinds and actions, also where the change takes the tag away', async () => {
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

  it('leaves a policy no way out by another value of the tag in the same change', async () => {
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

describe('Rules see', () => {
  it('a change before and after, its fields, its access and its place', async () => {
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

  it('a deleted resource as it was, and no resource after it', async () => {
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

  it('the workspace that a state is of, and those that may read it', async () => {
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
  it('is a violation with its reason, and never a pass', async () => {
    const { stack } = await begin([
      policy('absent', { rule: 'resource.tags.owner == "net"', match: { kinds: ['Workspace'] } }),
      policy('number', { rule: '1 + 1', match: { kinds: ['Workspace'] } }),
    ]);
    await stack.declare(workspace('app'));
    const { guards } = await stack.plan();
    const says = guards.map(({ id, concerns }) => [id, concerns[0]?.says[0]]);
    expect(says).toContainEqual(['policy/absent', 'the rule fails: field not found: owner']);
    expect(says).toContainEqual(['policy/number', 'the rule gives a number, and not true or false']);
    await stack.run(['apply', '--yes'], 5);
  });

  it('by its deadline as well', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const rule = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    const { stack } = await begin([policy('endless', { rule })]);
    await stack.declare(workspace('app'));
    const { err, out } = await stack.run(['apply', '--yes'], 5);
    expect(err).toContain('"endless"');
    expect(out).toContain('the rules took more than 2 seconds together');
  });
});

describe('No policy is ever "no policies"', () => {
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
  ])('%s: plan and apply stop, and nothing is written', async (...[, spec, text, code, says]) => {
    const { bench, stack } = await begin([policy('x')], { spec });
    if (text !== undefined) await stack.write('policies/rules.yaml', text);
    await stack.declare(workspace('app'));
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { out, err } = await stack.run(args, code);
      expect(out + err).toContain(says);
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('validate finds the mistakes in files as well, without a service', async () => {
    const { stack } = await begin([policy('x', { rule: 'chnge.action == ""' })]);
    await stack.declare(workspace('app'));
    const { err, out } = await stack.run(['validate'], 7);
    expect(out + err).toContain('did you mean "change"?');
  });

  it('files of policies are no manifests, even where the patterns of both match', async () => {
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
  const at = async ({ stack }: Begun, time: number, args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: stack.directory, env: stack.env, now: () => time });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    return ran;
  };

  it('makes a violation count as none, and the plan says which and until when', async () => {
    const begun = await begin([exempt('2027-01-15')]);
    await begun.stack.declare(auto);
    const { out } = await at(begun, now, ['plan', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      guards: [],
      policies: {
        exempted: [{ guard: 'policy/no-auto-apply', address: 'Workspace/acme/app', until: '2027-01-15' }],
      },
    });
    await at(begun, now, ['apply', '--yes'], 0);
  });

  it('that ends within 14 days is in every plan, also one without changes', async () => {
    const begun = await begin([exempt('2026-12-05')]);
    await begun.stack.declare(workspace('app'));
    await at(begun, now, ['apply', '--yes'], 0);
    const { out } = await at(begun, now, ['plan'], 0);
    expect(out).toContain('Nothing to change');
    expect(out).toContain('the exemption of "Workspace/acme/app"');
    expect(out).toContain('owner: team-net');
    const json = JSON.parse((await at(begun, now, ['plan', '--format', 'json'], 0)).out);
    const all = [...json.problems, ...(json.diagnostics ?? [])];
    const { place } = all.find(({ code }: { code: string }) => code === 'exemption-ends');
    const lines = (await readFile(join(begun.stack.directory, place.file), 'utf8')).split('\n');
    expect(lines[place.line - 1]?.slice(place.column - 1)).toMatch(/^"2026-12-05"/);
  });

  describe('with an address that no resource has', () => {
    const misspelt = (resource: string, severity = 'warn') =>
      noAutoApply(severity, {
        exemptions: [{ resource, reason: 'r', owner: 'o', until: '2027-01-15' }],
      });
    const unused = async (begun: Begun, args: readonly string[] = [], code = 0) => {
      const { out } = await at(begun, now, ['plan', '--format', 'json', ...args], code);
      return (JSON.parse(out) as PlanJson).problems
        .filter((one) => one.code === 'exemption-unused')
        .map(({ message, place }) => [message, place?.file]);
    };

    it.each(['Workspace/acme/pay-appp', 'Workspace/acne/pay-app'])(
      'is a warning at %s where a resource with nearly this address violates the policy',
      async (resource) => {
        const begun = await begin([misspelt(resource)]);
        await begun.stack.declare(workspace('pay-app', { autoApply: true }), workspace('other'));
        expect(await unused(begun)).toEqual([
          [
            `the exemption of "${resource}" from the policy "no-auto-apply" is about no resource of this stack; did you mean "Workspace/acme/pay-app"?`,
            'policies/rules.yaml',
          ],
        ]);
      },
    );

    it('is none where it may be about a resource of another stack with the same policies', async () => {
      const begun = await begin([misspelt('Workspace/acme/net-core')]);
      await begun.stack.declare(workspace('pay-app', { autoApply: true }), workspace('net-care'));
      expect(await unused(begun)).toEqual([]);
    });

    it('is none where the resource is declared, recorded, or outside of a part', async () => {
      const begun = await begin([misspelt('Workspace/acme/pay-*')]);
      await begun.stack.declare(workspace('pay-app'), workspace('other'));
      expect(await unused(begun)).toEqual([]);
      expect(await unused(begun, ['--select', 'Workspace/acme/other'])).toEqual([]);
      await begun.stack.run(['apply', '--yes'], 0);
      await begun.stack.declare(workspace('other'));
      expect(await unused(begun)).toEqual([]);
    });
  });

  it('that ends more than 90 days from now is an error', async () => {
    const begun = await begin([exempt('2027-03-15')]);
    await begun.stack.declare(auto);
    const { out, err } = await at(begun, now, ['plan'], 7);
    expect(out + err).toContain('more than 90 days from now');
  });

  it.each([
    ['deny', []],
    ['confirm', ['--ack', 'policy/no-auto-apply']],
    ['warn', []],
  ])(
    'of a policy with the severity %s that ended between approval and apply stops the apply with 5',
    async (severity, ack) => {
      const begun = await begin([exempt('2026-12-05', severity)]);
      await begun.stack.declare(auto);
      await at(begun, now, ['plan', '--out', 'plan.json'], 0);
      const later = Date.parse('2026-12-06T00:00:01Z');
      const { err } = await at(begun, later, ['apply', 'plan.json', ...ack], 5);
      expect(err).toContain('exemptions that the approved plan relies on have ended');
      expect(begun.bench.wire.writes()).toEqual([]);
    },
  );

  it('that ended stops an apply of a digest alone as well, even if the policy is acknowledged', async () => {
    const begun = await begin([exempt('2026-12-05', 'confirm')]);
    await begun.stack.declare(auto);
    const { digest } = JSON.parse((await at(begun, now, ['plan', '--format', 'json'], 0)).out);
    const later = Date.parse('2026-12-06T00:00:01Z');
    await at(begun, later, ['apply', '--approve', digest, '--ack', 'policy/no-auto-apply'], 5);
    expect(begun.bench.wire.writes()).toEqual([]);
  });
});

describe('Apply checks again', () => {
  it('at its own time: what violates a policy only now was not acknowledged', async () => {
    const rule = 'plan.time.getDayOfWeek() != 5';
    const begun = await begin([policy('no-fridays', { severity: 'confirm', rule })]);
    await begun.stack.declare(workspace('app'));
    const { directory: cwd, env } = begun.stack;
    const thursday = () => Date.parse('2026-11-26T12:00:00Z');
    const friday = () => Date.parse('2026-11-27T12:00:00Z');
    await trueup(['plan', '--out', 'plan.json'], { cwd, env, now: thursday });
    const late = await trueup(['apply', 'plan.json'], { cwd, env, now: friday });
    expect(late, late.err).toMatchObject({ code: 5 });
    expect(late.err).toContain('policy/no-fridays');
    expect(begun.bench.wire.writes()).toEqual([]);
    expect(await trueup(['apply', 'plan.json'], { cwd, env, now: thursday })).toMatchObject({ code: 0 });
  });

  it('with the policies of now: an acknowledgement is only for the resources that the plan file shows', async () => {
    const { bench, stack } = await begin([noAutoApply('confirm', { rule: 'resource.name != "app"' })]);
    await stack.declare(auto, workspace('other', { autoApply: true }));
    const file = join(stack.directory, 'plan.json');
    await stack.run(['plan', '--out', file], 0);
    await stack.write('policies/rules.yaml', policiesText(noAutoApply('confirm', { rule: 'false' })));
    await stack.run(['apply', file, '--ack', 'policy/no-auto-apply'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });
});
