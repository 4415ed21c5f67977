/** The manifests that a stack declares, with templates, lists and defaults filled in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';

/** Runs a command with a text on standard input, in a stack. */
async function piped(stack: Checkout, args: readonly string[], stdin: string): Promise<string> {
  const ran = await trueup(args, { cwd: stack.directory, env: stack.env, stdin });
  expect(ran, ran.err).toMatchObject({ code: 0 });
  return ran.out;
}

const digestOf = (plan: string) => (JSON.parse(plan) as { digest: string }).digest;

const word = fc.stringMatching(/^[a-z]{1,5}$/);
const words = (least: number) => fc.uniqueArray(word, { minLength: least, maxLength: 3 });
const flag = fc.boolean();
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** A list in one of its forms, each item with the member `team`: the files to write, and what `each` says. */
const list = fc.record({ keys: words(1), team: word, form: fc.constantFrom('list', 'map', 'csv', 'yaml') });

function written(
  name: string,
  { keys, team, form }: { keys: readonly string[]; team: string; form: string },
): { each: unknown; files: Record<string, string> } {
  const items = keys.map((key) => ({ key, team: `${team} $\{each.key} ${key}`, on: key.length > 2 }));
  if (form === 'list') return { each: items, files: {} };
  if (form === 'map') return { each: Object.fromEntries(items.map((item) => [item.key, item])), files: {} };
  if (form === 'yaml')
    return { each: { file: `../${name}.yaml` }, files: { [`${name}.yaml`]: JSON.stringify(items) } };
  const rows = items.map(({ key, team: cell, on }) => `${key},"${cell}",${on}`);
  return {
    each: { file: `../${name}.csv` },
    files: { [`${name}.csv`]: ['key,team,on', ...rows].join('\n') },
  };
}

const scene = fc.record({
  services: list,
  regions: sometimes(list),
  inheritsTags: flag,
  pattern: fc.constantFrom('*', 'a*', '*-*', 'none'),
  matches: fc.constantFrom('name', 'tag', 'target'),
  byKind: flag,
});

type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function filesOf({ services, regions, inheritsTags, ...more }: Scene) {
  const one = written('services', services);
  const other = regions === undefined ? undefined : written('regions', regions);
  const item = other === undefined ? 'value' : 'service';
  const document = {
    apiVersion: 'trueup.dev/v1',
    kind: 'Workspace',
    metadata: {
      name: '${each.key}',
      each: other === undefined ? one.each : { matrix: { service: one.each, region: other.each } },
    },
    spec: {
      description: `$\${literal} of \${each.${item}.team}`,
      autoApply: `\${each.${item}.on}`,
      ...(inheritsTags ? {} : { tags: { team: 'own' } }),
    },
  };
  const match = { name: { name: more.pattern }, tag: { tags: { team: '*' } }, target: { target: 'acme' } };
  const map = { Workspace: { executionMode: 'local', tags: { team: 'default' } } };
  const defaults = more.byKind
    ? map
    : [
        map,
        {
          match: match[more.matches],
          Workspace: { queueAllRuns: true },
          TagBindings: { tags: { by: more.matches } },
        },
      ];
  return {
    files: { ...one.files, ...other?.files, 'manifests/all.yaml': JSON.stringify(document) },
    spec: { defaults },
  };
}

describe('Rendered manifests', () => {
  it('mean the same as the stack that they were rendered from, and render to the same text', async () => {
    const bench = await openBench();
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const { files, spec } = filesOf(drawn);
        const stack = await bench.checkout({ spec });
        for (const [path, text] of Object.entries(files)) await stack.write(path, text);
        const plan = await stack.plan();
        const { out: rendered } = await stack.run(['render'], 0);
        expect(await piped(stack, ['render', '-', '--complete'], rendered)).toBe(rendered);
        const again = await piped(stack, ['plan', '-', '--complete', '--format', 'json'], rendered);
        expect(digestOf(again)).toBe(plan.digest);
        expect(plan.changes.filter(({ kind }) => kind === 'Workspace')).toHaveLength(
          drawn.services.keys.length * (drawn.regions?.keys.length ?? 1),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('are one document for each resource, with defaults and short forms written out', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { defaults: { Workspace: { executionMode: 'local' } } } });
    await stack.write(
      'manifests/all.yaml',
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: "${each.key}-x", protect: true, each: [app] }\nspec: { tags: { env: prod } }\n',
    );
    expect((await stack.run(['render'], 0)).out).toBe(`apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: app-x
  target: acme
  defaults: false
  protect: true
spec:
  executionMode: local
---
apiVersion: trueup.dev/v1
kind: TagBindings
metadata:
  name: app-x
  target: acme
  defaults: false
spec:
  tags:
    env: prod
`);
  });

  it('are not printed for a stack with errors', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.write(
      'manifests/all.yaml',
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\n',
    );
    const { out, err } = await stack.run(['render'], 7);
    expect(out).toBe('');
    expect(err).toContain('missing-field');
  });
});
