// Random drift of all kinds, in manifests of all styles: after accept nothing is left to plan, and no other line has changed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Json, type JsonObject, sameJson } from '../../../src/model/json.ts';
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
  autoDestroyAt: fc.constantFrom(null, '2090-01-01T00:00:00Z', '2091-02-03T04:05:00Z'),
  vcsRepo: fc.record({
    identifier: fc.constantFrom('acme/app', 'acme/other'),
    oauthTokenId: fc.constant('ot-git'),
    branch: fc.constantFrom('main', 'dev: x', ''),
  }),
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
  const [app, ownershipTag] = [await bench.idOf('app'), (await bench.tagsOf('app'))['trueup-stack']];
  const bindings = Object.entries({ ...bound, 'trueup-stack': ownershipTag }).map(([key, value]) => ({
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

/** One document as text, and its lines, which must stay as they are while their field has the same value. */
interface Written {
  readonly text: string;
  readonly lines: readonly { readonly text: string; readonly field?: string }[];
  /** the resource that has the fields */
  readonly of: 'workspace' | 'role' | 'config' | 'parts' | 'fixed';
}

type Style = 'by hand' | 'JSON on one line' | 'JSON on many lines';
const styles = fc.constantFrom<Style>('by hand', 'by hand', 'JSON on one line', 'JSON on many lines');

function document(
  [kind, name, of]: readonly [string, string, Written['of']],
  spec: JsonObject,
  { style, g }: { readonly style: Style; readonly g: fc.GeneratorValue },
): Written {
  if (style !== 'by hand') {
    const whole = { apiVersion: 'trueup.dev/v1', kind, metadata: { name }, spec };
    return { text: JSON.stringify(whole, null, style === 'JSON on one line' ? 0 : 2), lines: [], of };
  }
  const head = [
    `apiVersion: trueup.dev/v1`,
    `kind: ${kind} # ${kind}`,
    `metadata: { name: ${name} }`,
    'spec: # all',
  ];
  const own = writeByHand(spec, (below) => g(fc.nat, { max: below - 1 }));
  const lines = [
    ...head.map((text) => ({ text })),
    ...own.map(({ text, path: [field] }) => (field === undefined ? { text } : { text, field })),
  ];
  return { text: lines.map(({ text }) => text).join('\n'), lines, of };
}

/** All documents; tags and consumers in the short form, or in documents of their own. */
function written(
  { workspace, role, config, ...parts }: All,
  short: boolean,
  how: { style: Style; g: fc.GeneratorValue },
) {
  const { tags: bound, consumers: names } = parts;
  const folded = short ? { tags: bound, remoteStateConsumers: names } : {};
  return [
    document(['Workspace', 'app', 'workspace'], { ...workspace, ...folded }, how),
    ...['one', 'two'].map((name) =>
      document(['Workspace', name, 'fixed'], { speculativeEnabled: true }, how),
    ),
    ...(short ? [] : [document(['TagBindings', 'app', 'parts'], { tags: bound }, how)]),
    ...(short ? [] : [document(['RemoteStateConsumers', 'app', 'parts'], { consumers: names }, how)]),
    document(['ClusterAuthRole', 'web', 'role'], role, how),
    document(['ClusterAuthConfig', 'config', 'config'], config, how),
  ];
}

const sides = fc.record({ from: all, to: all });
const ordered = new Set(['triggerPatterns']);

/** Whether a field has the same value before and after. The order of a set does not matter. */
function isSame(field: string, before: Json | undefined, after: Json | undefined): boolean {
  const sorted = (value: Json | undefined) =>
    Array.isArray(value) && !ordered.has(field) ? value.toSorted() : (value ?? null);
  return sameJson(sorted(before), sorted(after));
}

function fieldsOf(all: All, of: Written['of']): JsonObject {
  const { tags: bound, consumers: names } = all;
  if (of === 'workspace') return { ...all.workspace, tags: bound, remoteStateConsumers: names };
  if (of === 'parts') return { tags: bound, consumers: names };
  return of === 'role' ? all.role : all.config;
}

/** Lines that must stay as they are: headers, and all lines of fields that did not change. */
function fixedLines(documents: readonly Written[], from: All, to: All): string[] {
  return documents.flatMap(({ lines, of }, index) => {
    const kept = lines.filter(
      ({ field }) =>
        field === undefined ||
        of === 'fixed' ||
        isSame(field, fieldsOf(from, of)[field], fieldsOf(to, of)[field]),
    );
    return [...(index === 0 ? [] : ['---']), ...kept.map(({ text }) => text)];
  });
}

/** Returns the lines that are not found again in the same order. */
function lost(lines: readonly string[], after: readonly string[]): string[] {
  let next = 0;
  return lines.filter((line) => {
    const found = after.indexOf(line, next);
    if (found !== -1) next = found + 1;
    return found === -1;
  });
}

// Each case has its own service and takes a second. TRUEUP_ACCEPT_CASES sets the number of cases.
const numRuns = Number(process.env['TRUEUP_ACCEPT_CASES'] ?? 10);

it('accept leaves nothing to plan and changes no other line, for random drift', {
  timeout: 60_000 + 12_000 * numRuns,
}, async () => {
  await fc.assert(
    fc.asyncProperty(sides, fc.boolean(), styles, fc.gen(), async ({ from, to }, short, style, g) => {
      const bench = await openBench();
      const spec = { guards: { allow: ['scheduled-destroy'] } };
      const stack = await bench.checkout({ spec, clusterAuth: { owns: ['*'] } });
      const documents = written(from, short, { style, g });
      await stack.write('manifests/all.yaml', `${documents.map(({ text }) => text).join('\n---\n')}\n`);
      await stack.run(['apply', '--yes'], 0);
      await drift(bench, to);
      await stack.run(['accept', '--all', '--yes'], 0);
      expect((await stack.plan()).changes).toEqual([]);
      const after = readFileSync(join(stack.directory, 'manifests/all.yaml'), 'utf8');
      expect(lost(fixedLines(documents, from, to), after.split('\n')), after).toEqual([]);
      if (style === 'by hand') return;
      // JSON has no comments: parsed and written again, it must be the same text.
      const indent = style === 'JSON on one line' ? 0 : 2;
      const anew = after
        .trimEnd()
        .split('\n---\n')
        .map((one) => JSON.stringify(JSON.parse(one), null, indent));
      expect(`${anew.join('\n---\n')}\n`).toBe(after);
    }),
    // To shrink a case would take minutes.
    { numRuns, endOnFailure: true },
  );
});
