/** Accepting drift of resources that a template makes: a value of a list is edited in the list, and no other resource changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const template = `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: \${each.key}
  each:
    matrix:
      service: { file: ../services.yaml }
      env: { file: ../envs.csv }
      region: [eu, us] # two
spec:
  description: \${each.service.team}
  autoApply: \${each.env.auto}
  queueAllRuns: true
  workingDirectory: in \${each.env.key}
`;

const files = {
  'manifests/all.yaml': template,
  'services.yaml': 'pay: # of Ann\n  team: red\nnet: { team: blue }\n',
  'envs.csv': 'key,auto,note\ndev,true,"a, b"\n"prod","false",\n',
};

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  text(file: string): string;
}

async function applied(written: Readonly<Record<string, string>> = files): Promise<Scene> {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { guards: { maxUpdatePercent: 100 } } });
  for (const [path, text] of Object.entries(written)) await stack.write(path, text);
  await stack.run(['apply', '--yes'], 0);
  return { bench, stack, text: (file) => readFileSync(join(stack.directory, file), 'utf8') };
}

async function change(
  bench: Bench,
  names: readonly string[],
  attributes: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const name of names) await bench.byHand.update(await bench.idOf(name), attributes);
}

/** The names of all workspaces of the template that match. */
const named = (part: RegExp) =>
  ['pay', 'net']
    .flatMap((service) =>
      ['dev', 'prod'].flatMap((env) => ['eu', 'us'].map((region) => `${service}-${env}-${region}`)),
    )
    .filter((name) => part.test(name));

/** Runs a command and returns the error codes of the values that it did not write. */
async function refused(stack: Checkout, args: readonly string[]): Promise<readonly string[]> {
  const { out } = await stack.tryRun([...args, '--yes', '--format', 'json']);
  const { refused: found } = JSON.parse(out) as { refused: { code: string }[] };
  return [...new Set(found.map(({ code }) => code))];
}

describe('Drift of resources of a template', () => {
  it('is accepted into a YAML file, if all resources that use the value drifted alike', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, named(/^pay/), { description: 'green' });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('services.yaml')).toBe('pay: # of Ann\n  team: green\nnet: { team: blue }\n');
    expect(text('manifests/all.yaml')).toBe(files['manifests/all.yaml']);
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is accepted into a cell of a CSV file, and every other cell stays as it is written', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, named(/-prod-/), { 'auto-apply': true });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('envs.csv')).toBe('key,auto,note\ndev,true,"a, b"\n"prod","true",\n');
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is accepted into a list in the document, as literal text', async () => {
    const { bench, stack, text } = await applied({
      'manifests/all.yaml':
        'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata:\n  name: ${each.key}\n  each:\n    - { key: a, about: one } # first\n    - { key: b, about: two }\nspec: { description: "${each.value.about}" }\n',
    });
    await change(bench, ['b'], { description: 'now ${each.key}' });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('manifests/all.yaml')).toContain(
      "    - { key: a, about: one } # first\n    - { key: b, about: 'now ${each.key}' }\n",
    );
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is not accepted into a list, if only one of the resources that use the value drifted', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, ['pay-dev-eu'], { description: 'green' });
    const { err } = await stack.tryRun(['accept', '--all', '--yes']);
    expect(err).toContain(
      '"description" of "Workspace/acme/pay-dev-eu" comes from the item "pay" of a list, which "Workspace/acme/pay-dev-us", "Workspace/acme/pay-prod-eu", "Workspace/acme/pay-prod-us" also use',
    );
    expect(err).toContain('services.yaml:2');
    expect(text('services.yaml')).toBe(files['services.yaml']);
  });

  it('is not accepted, if resources that use the value drifted in different ways', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, named(/^pay-dev/), { description: 'green' });
    await change(bench, named(/^pay-prod/), { description: 'black' });
    expect(await refused(stack, ['accept', '--all'])).toEqual(['value-from-list']);
    const { err } = await stack.tryRun(['accept', '--all', '--yes']);
    expect(err).toContain('a list, which "Workspace/acme/pay-prod-eu" also uses');
    expect(text('services.yaml')).toBe(files['services.yaml']);
  });

  it('is not accepted into the template, if other resources use the value, and the error says what to write', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, ['pay-dev-eu'], { 'queue-all-runs': false });
    const { err } = await stack.tryRun(['accept', '--all', '--yes']);
    expect(err).toContain('comes from a template, and holds for "Workspace/acme/pay-dev-us"');
    expect(err).toContain('write ${each.LIST.queueAllRuns} in its place, where LIST is');
    expect(text('manifests/all.yaml')).toBe(files['manifests/all.yaml']);
  });

  it('is accepted into the template, if all of its resources drifted alike', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, named(/./), { 'queue-all-runs': false });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('manifests/all.yaml')).toBe(
      files['manifests/all.yaml'].replace('queueAllRuns: true', 'queueAllRuns: false'),
    );
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is written into the template as text, with expressions escaped', async () => {
    const { bench, stack, text } = await applied({
      'manifests/all.yaml':
        'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: "${each.key}", each: [a, b] }\nspec: { description: first }\n',
    });
    await change(bench, ['a', 'b'], { description: '${each.key}' });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('manifests/all.yaml')).toContain('$${each.key}');
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is not accepted into a text that has an expression', async () => {
    const { bench, stack } = await applied();
    await change(bench, ['pay-dev-eu'], { 'working-directory': 'elsewhere' });
    expect(await refused(stack, ['accept', '--all'])).toEqual(['not-editable']);
  });

  it('is not accepted for a deleted resource, whose item people have to remove from the list', async () => {
    const { bench, stack } = await applied();
    await bench.byHand.delete(`/workspaces/${await bench.idOf('pay-dev-eu')}`);
    expect(await refused(stack, ['accept', '--all', '--remove'])).toEqual(['value-from-list']);
  });

  it('is accepted in part, if some of it cannot be accepted', async () => {
    const { bench, stack, text } = await applied();
    await change(bench, named(/-prod-/), { 'auto-apply': true });
    await change(bench, ['pay-dev-eu'], { 'queue-all-runs': false });
    await stack.run(['accept', '--all', '--yes'], 6);
    expect(text('envs.csv')).toContain('"prod","true",');
  });
});

describe('An apply of resources of a template', () => {
  it('is reverted in the list', async () => {
    const { stack, text } = await applied();
    await stack.write('envs.csv', files['envs.csv'].replace('"prod","false"', '"prod","true"'));
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const { entries } = JSON.parse(out) as { entries: { id: string }[] };
    await stack.run(['history', 'show', entries[0]?.id ?? '', '--revert', '--write', '--yes'], 0);
    expect(text('envs.csv')).toBe(files['envs.csv']);
  });

  it('is not reverted if the row is gone, and the report says once what to do', async () => {
    const { stack } = await applied();
    await stack.write('envs.csv', files['envs.csv'].replace('"prod","false"', '"prod","true"'));
    await stack.write('services.yaml', 'pay: # of Ann\n  team: green\nnet: { team: blue }\n');
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const { entries } = JSON.parse(out) as { entries: { id: string }[] };
    await stack.write('services.yaml', 'net: { team: blue }\n');
    const args = [
      'history',
      'show',
      entries[0]?.id ?? '',
      '--revert',
      '--write',
      '--yes',
      '--format',
      'json',
    ];
    const { diagnostics } = JSON.parse((await stack.tryRun(args)).out) as {
      diagnostics: { code: string; message: string; fix: string }[];
    };
    const gone = diagnostics.filter(({ message }) => message.includes('pay-prod-eu'));
    expect(gone).toMatchObject([
      { code: 'revert-by-hand', message: '"Workspace/acme/pay-prod-eu" is no longer declared' },
    ]);
    expect(gone[0]?.fix).toContain('declare it again first, as an item if it is in a list');
  });

  it('is not reverted for one resource alone, if others use the value', async () => {
    const { stack, text, bench } = await applied();
    await change(bench, ['pay-dev-eu'], { 'queue-all-runs': false });
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const { entries } = JSON.parse(out) as { entries: { id: string }[] };
    expect(await refused(stack, ['history', 'show', entries[0]?.id ?? '', '--revert', '--write'])).toEqual([
      'value-from-template',
    ]);
    expect(text('manifests/all.yaml')).toBe(files['manifests/all.yaml']);
  });
});

describe('A value that a default matches on', () => {
  const bound = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] };
  const byTag = { defaults: [{ match: { tags: { env: 'prod' } }, Workspace: { autoApply: true } }] };

  it('is not accepted if a default would then change another value, which is named', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: byTag });
    await stack.setUp(workspace('a', { tags: { env: 'dev' } }), workspace('b', { description: 'old' }));
    await bench.byHand.patch(`/workspaces/${await bench.idOf('a')}/tag-bindings`, bound);
    await bench.byHand.update(await bench.idOf('b'), { description: 'new' });
    const { err } = await stack.run(['accept', '--all', '--yes'], 6);
    expect(err).toContain('"autoApply" of "Workspace/acme/a" would change as well');
    expect(err).toContain('records the new values, and reverts 1 value that was not accepted');
    expect(await refused(stack, ['accept', '--all', '--yes'])).toEqual(['value-still-differs']);
    const plan = await stack.plan();
    expect(plan.changes.map(({ address }) => address)).toEqual(['TagBindings/acme/a']);
  });

  it('is accepted if the document sets the other value itself', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: byTag });
    await stack.setUp(workspace('a', { tags: { env: 'dev' }, autoApply: false }));
    await bench.byHand.patch(`/workspaces/${await bench.idOf('a')}/tag-bindings`, bound);
    await stack.run(['accept', '--all', '--yes'], 0);
    expect((await stack.plan()).changes).toEqual([]);
  });
});

describe('Drift of resources of a list in a file', () => {
  const scene = async (list: string, text: string) =>
    applied({
      'manifests/all.yaml': `apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: "\${each.key}", each: { file: ../${list} } }
spec: { description: "\${each.value.v.d}", autoApply: "\${each.value.v.auto}" }
`,
      [list]: text,
    });

  it.each([
    [
      'on one line',
      '[{"key":"a","v":{"d":"x","auto":false}},{"key":"b","v":{"d":"y","auto":false}}]\n',
      '[{"key":"a","v":{"d":"new \\"q\\" text","auto":true}},{"key":"b","v":{"d":"y","auto":false}}]\n',
    ],
    [
      'with an item on each line',
      '[\n  { "key": "a", "v": { "d": null, "auto": false } },\n  { "key": "b", "v": { "d": "y", "auto": false } }\n]\n',
      '[\n  { "key": "a", "v": { "d": "new \\"q\\" text", "auto": true } },\n  { "key": "b", "v": { "d": "y", "auto": false } }\n]\n',
    ],
  ])('is accepted into JSON %s, and reverted there', async (_, before, after) => {
    const { bench, stack, text } = await scene('list.json', before);
    await change(bench, ['a'], { description: 'new "q" text', 'auto-apply': true });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('list.json')).toBe(after);
    expect((await stack.plan()).changes).toEqual([]);
    await stack.write('list.json', after.replace('new \\"q\\"', 'a third').replace('"y"', '"z"'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['history', 'show', 'latest', '--revert', '--write', '--yes'], 0);
    expect(text('list.json')).toBe(after);
  });

  it('is accepted into a YAML list, and only the text of the values changes', async () => {
    const list = `# the teams

- key: a # of Ann
  # about it
  v:
    auto: false # why
    d: x # what
- { key: b, v: { auto: false, d: y } } # flow
- key: c
  v: { auto: false, d: z }
`;
    const { bench, stack, text } = await scene('list.yaml', list);
    await change(bench, ['a', 'b'], { description: 'say: #2', 'auto-apply': true });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(text('list.yaml')).toBe(
      list
        .replace('auto: false # why', 'auto: true # why')
        .replace('d: x # what', "d: 'say: #2' # what")
        .replace('{ auto: false, d: y }', "{ auto: true, d: 'say: #2' }"),
    );
    expect((await stack.plan()).changes).toEqual([]);
  });
});
