/** `trueup explain ADDRESS`: where each value of a resource is written. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { explanationSchema } from '../../../src/commands/explain-schema.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const isValid = new Ajv2020({ strict: false }).compile(explanationSchema);

const all = `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: net-\${each.key}
  protect: true
  each: { file: ../envs.csv }
spec:
  description: "the \${each.value.about}"
  queueAllRuns: true
  tags: { env: "\${each.key}" }
`;

const stackText = (url: string) => `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests/*.yaml]
  targets:
    - { name: acme, service: workspaces, url: "${url}", organization: acme, dialect: neutral, token: { env: API_TOKEN } }
  defaults:
    - Workspace: { executionMode: local, tags: { owner: all } }
      TagBindings: { tags: { cost: low } }
    - match: { name: net-p* }
      Workspace: { executionMode: remote, tags: { tier: gold } }
`;

async function scene(): Promise<Checkout> {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.write('trueup.yaml', stackText(bench.wire.url));
  await stack.write('manifests/all.yaml', all);
  await stack.write('envs.csv', 'key,about\ndev,first\nprod,last\n');
  return stack;
}

/** `path origin file:line list:line` of each value. */
async function explained(stack: Checkout, address: string): Promise<string[]> {
  const { out } = await stack.run(['explain', address, '--format', 'json'], 0);
  const answer = JSON.parse(out);
  expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
  type At = { readonly file: string; readonly line: number };
  const values: { path: string; origin: string; place: At; list?: At }[] = answer.resource.values;
  return values.map(({ path, origin, place, list }) =>
    [
      path,
      origin,
      `${place.file}:${place.line}`,
      ...(list === undefined ? [] : [`${list.file}:${list.line}`]),
    ].join(' '),
  );
}

describe('The explanation of a resource', () => {
  it('shows for each value the template, the line of the list, or the entry of the defaults', async () => {
    const stack = await scene();
    expect(await explained(stack, 'Workspace/acme/net-prod')).toEqual([
      'metadata.name list manifests/all.yaml:4 envs.csv:3',
      'metadata.protect template manifests/all.yaml:5',
      'spec.description list manifests/all.yaml:8 envs.csv:3',
      'spec.queueAllRuns template manifests/all.yaml:9',
      'spec.executionMode defaults trueup.yaml:12',
    ]);
    expect(await explained(stack, 'Workspace/acme/net-dev')).toContain(
      'spec.executionMode defaults trueup.yaml:9',
    );
  });

  it('shows the values of a short form, with the defaults of both kinds', async () => {
    const stack = await scene();
    expect((await explained(stack, 'TagBindings/acme/net-prod')).toSorted()).toEqual([
      'metadata.name list manifests/all.yaml:4 envs.csv:3',
      'spec.tags.cost defaults trueup.yaml:10',
      'spec.tags.env list manifests/all.yaml:10 envs.csv:3',
      'spec.tags.owner defaults trueup.yaml:9',
      'spec.tags.tier defaults trueup.yaml:12',
    ]);
  });

  it('is readable in a terminal', async () => {
    const stack = await scene();
    const { out } = await stack.run(['explain', 'Workspace/acme/net-prod'], 0);
    expect(out).toContain('spec.executionMode  "remote"');
    expect(out).toContain('trueup.yaml:12 (defaults of the stack)');
    expect(out).toContain('envs.csv:3 (the list), manifests/all.yaml:8 (the template)');
    expect(out).toContain('Short forms in its document: TagBindings/acme/net-prod');
  });

  it('shows a document without a template, also while another manifest has a mistake', async () => {
    const stack = await scene();
    await stack.declare(workspace('app', { autoApply: true }), workspace('broken', { autoApply: 1 }));
    expect(await explained(stack, 'Workspace/acme/app')).toContain(
      'spec.autoApply document manifests/all.yaml:1',
    );
    expect((await stack.run(['explain', 'Workspace/acme/broken'], 7)).err).toContain('wrong-type');
  });

  it('names the nearest address for one that is not declared', async () => {
    const stack = await scene();
    const { err } = await stack.run(['explain', 'Workspace/acme/net-prot'], 1);
    expect(err).toContain('did you mean "Workspace/acme/net-prod"?');
  });
});

it('A single resource of a template cannot be moved to another stack', async () => {
  const stack = await scene();
  await stack.write('other/trueup.yaml', stackText('https://example.com').replace('payments', 'other'));
  const { err } = await stack.tryRun(['move', 'Workspace/acme/net-dev', '--to', 'other', '--yes']);
  expect(err).toContain('is one of the resources of a template');
});
