/** A platform in fewer than 80 lines, as a product of lists, of which one is a file, with all commands for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../support/cli/bench.ts';
import { selecting } from '../support/selection/parts.ts';

const regions = Array.from({ length: 10 }, (_, index) => `r${index}`);
const services = Array.from({ length: 10 }, (_, index) => `svc${index}`);
const all = services.length * 3 * regions.length;

const template = `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: \${each.key}
  each:
    matrix:
      service: { file: ../services.csv }
      env: [dev, test, prod]
      region: [${regions.join(', ')}]
spec:
  description: \${each.service.about}
  workingDirectory: services/\${each.service.key}/\${each.region}
  queueAllRuns: false
  tags: { env: '\${each.env}', region: '\${each.region}', team: '\${each.service.team}' }
`;

const policy = `apiVersion: trueup.dev/v1
kind: Policy
metadata: { name: no-unattended-production }
spec:
  severity: deny
  match: { kinds: [Workspace], actions: [create, update], tags: { env: prod } }
  rule: '!resource.spec.autoApply'
`;

const spec = {
  defaults: [
    { Workspace: { autoApply: true } },
    { match: { tags: { env: 'prod' } }, Workspace: { autoApply: false } },
  ],
  guards: { maxUpdatePercent: 100 },
  policies: { files: ['policies/*.yaml'] },
};

async function declared(): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench();
  const stack = await bench.checkout({ spec, workspaces: { requestsPerSecond: 1000 } });
  const rows = services.map((name) => `${name},red,"The ${name}, as it is"`);
  await stack.write('manifests/all.yaml', template);
  await stack.write('policies/production.yaml', policy);
  await stack.write('services.csv', ['key,team,about', ...rows, ''].join('\n'));
  return { bench, stack };
}

describe('a stack that is a product of lists', () => {
  it('is validated, applied, selected by region, accepted after drift, and blocked by a policy', async () => {
    const { bench, stack } = await declared();
    expect(template.split('\n').length + policy.split('\n').length).toBeLessThan(80);
    expect((await stack.run(['validate'], 0)).out).toContain(`${all * 2} resources`);
    expect((await stack.run(['plan'], 0)).out).toContain(`${all * 2} to create`);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);

    // A selection of one region.
    const cells = (text: string) => stack.write('services.csv', text);
    const list = readFileSync(join(stack.directory, 'services.csv'), 'utf8');
    await cells(list.replaceAll('as it is', 'as it was'));
    expect((await stack.run(['plan', ...selecting('tag:region=r3')], 0)).out).toContain(
      `${services.length * 3} to update`,
    );
    await cells(list);

    // One change in all workspaces of a service is accepted into its row.
    const names = ['dev', 'test', 'prod'].flatMap((env) => regions.map((region) => `svc4-${env}-${region}`));
    const ids = await idsOf(bench);
    for (const name of names) await bench.byHand.update(ids.get(name) ?? '', { description: 'A new text' });
    expect((await stack.run(['drift'], 3)).out).toContain('svc4-prod-r9');
    await stack.run(['accept', '--all', '--yes'], 0);
    const accepted = readFileSync(join(stack.directory, 'services.csv'), 'utf8');
    expect(accepted).toBe(list.replace('The svc4, as it is', 'A new text'));
    await stack.run(['plan', '--exit-code'], 0);

    // A default that lets production apply by itself.
    await stack.write(
      'manifests/all.yaml',
      template.replace('  queueAllRuns: false\n', '  queueAllRuns: false\n  autoApply: true\n'),
    );
    const { err } = await stack.run(['apply', '--yes'], 5);
    expect(err).toContain('no-unattended-production');
    expect((await stack.run(['plan', ...selecting('tag:env=dev')], 0)).out).not.toContain('policy/');
  });
});

async function idsOf(bench: Bench): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let page = 1; page <= Math.ceil(all / 100); page += 1) {
    const path = `/organizations/acme/workspaces?page%5Bsize%5D=100&page%5Bnumber%5D=${page}`;
    const { resources } = await bench.byHand.get(path);
    for (const { id, attributes } of resources) found.set(String(attributes['name']), id);
  }
  return found;
}
