// Any drift of any kind in manifests of any style: taken in, it leaves nothing to plan, and no other line moves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/model/json/json.ts';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { otherCaCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { writeByHand } from '../../support/manifest/written-by-hand.ts';

const words = fc.constantFrom('one', 'yes: no', '# two', 'a\nb\n\nc', "it's", '5', 'x'.repeat(90));
const keys = fc.constantFrom('env', 'team', 'cost', 'zone');
const tags = fc.dictionary(keys, fc.constantFrom('a', 'b', '1.10', 'true', ''), { noNullPrototype: true });
const paths = fc.uniqueArray(fc.constantFrom('/a/**', '/b/*', 'c', '#d'), { minLength: 1, maxLength: 3 });
const set = (...items: string[]) => fc.uniqueArray(fc.constantFrom(...items), { minLength: 1 });
const workspaces = fc.record({
  autoApply: fc.boolean(),
  queueAllRuns: fc.boolean(),
  description: words,
  workingDirectory: fc.constantFrom('a/b', 'net', '7'),
  triggerPatterns: paths,
});
const roles = fc.record({
  boundServiceAccountNames: set('web', 'cron', 'queue'),
  boundServiceAccountNamespaces: set('shop', 'pay'),
  tokenPolicies: set('read', 'write', 'list'),
  tokenTtl: fc.constantFrom(60, 3600, 5400),
  audience: fc.constantFrom('vault', 'Other'),
});
const configs = fc.record({
  clusterHost: fc.constantFrom('https://a.internal:6443', 'https://b.internal'),
  issuer: fc.constantFrom('me', 'you'),
  clusterCaCert: fc.constant(otherCaCert),
});
const consumers = fc.subarray(['one', 'two']);
const all = fc.record({ workspace: workspaces, role: roles, config: configs, tags, consumers });
type All = typeof all extends fc.Arbitrary<infer T> ? T : never;

const wire = (spec: object, join: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [
      name.replace(/[A-Z]/g, (c) => join + c.toLowerCase()),
      value,
    ]),
  );

async function drift(
  bench: Bench,
  { workspace, role, config, tags: bound, consumers: names }: All,
): Promise<void> {
  const [app, claim] = [await bench.idOf('app'), (await bench.tagsOf('app'))['trueup-stack']];
  const bindings = Object.entries({ ...bound, 'trueup-stack': claim }).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }));
  await bench.byHand.update(app, wire(workspace, '-'), { 'tag-bindings': { data: bindings } });
  const ids = await Promise.all(names.map((name) => bench.idOf(name)));
  await bench.byHand.patch(`/workspaces/${app}/relationships/remote-state-consumers`, {
    data: ids.map((id) => ({ type: 'workspaces', id })),
  });
  await bench.byHandMount('POST', 'role/web', wire(role, '_'));
  await bench.byHandMount('POST', 'config', wire(config, '_'));
}

/** The lines of all documents; tags and consumers in the short form, or in documents of their own. */
function written({ workspace, role, config, ...parts }: All, short: boolean, g: fc.GeneratorValue) {
  const lines = (kind: string, name: string, spec: JsonObject) => [
    ...[
      '---',
      'apiVersion: trueup.dev/v1',
      `kind: ${kind} # ${kind}`,
      `metadata: { name: ${name} }`,
      'spec: # all',
    ],
    ...writeByHand(spec, (below) => g(fc.nat, { max: below - 1 })).map(({ text }) => text),
  ];
  const { tags: bound, consumers: names } = parts;
  const folded = short ? { tags: bound, remoteStateConsumers: names } : {};
  const documents = [
    ...lines('Workspace', 'app', { ...workspace, ...folded }),
    ...['one', 'two'].flatMap((name) => lines('Workspace', name, { speculativeEnabled: true })),
    ...(short ? [] : lines('TagBindings', 'app', { tags: bound })),
    ...(short ? [] : lines('RemoteStateConsumers', 'app', { consumers: names })),
    ...lines('ClusterAuthRole', 'web', role),
    ...lines('ClusterAuthConfig', 'config', config),
  ];
  return documents;
}

/** Comments on lines of their own, and what belongs to no document that differs. */
function fixedLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /^(---|apiVersion|kind|metadata)|speculativeEnabled/.test(line));
}

it('leaves nothing to plan, whatever was changed', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(all, all, fc.boolean(), fc.gen(), async (from, to, short, g) => {
      const bench = await openBench();
      const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
      const lines = written(from, short, g);
      await stack.write('manifests/all.yaml', `${lines.join('\n')}\n`);
      await stack.run(['apply', '--yes'], 0);
      await drift(bench, to);
      await stack.run(['accept', '--all', '--yes'], 0);
      expect((await stack.plan()).changes).toEqual([]);
      const after = readFileSync(join(stack.directory, 'manifests/all.yaml'), 'utf8').split('\n');
      expect(fixedLines(after)).toEqual(fixedLines(lines));
    }),
    // A run has a service of its own: to shrink one would take minutes.
    { numRuns: 10, endOnFailure: true },
  );
});
