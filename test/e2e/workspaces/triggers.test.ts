/** Triggers of runs: the service has one of several triggers, and clears the others when one is set. */
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { dialectUnderTest, type WorkspacesDialect } from '../../support/rig/dialect-under-test.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';
import { type Lack, lacking } from '../../support/simulation/limited-service.ts';

const vcsRepo = { identifier: 'acme/network', oauthTokenId: 'ot-git' };

/** An applied workspace with a repository, whose triggers were then set by hand. */
async function openApp(byHand: object) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { vcsRepo }));
  const id = await bench.idOf('app');
  const patch = async (attributes: object) => {
    const body = { data: { type: 'workspaces', attributes } };
    expect(await bench.byHand.patch(`/workspaces/${id}`, body)).toMatchObject({ status: 200 });
  };
  await patch(byHand);
  const attributes = async () => (await bench.byHand.get(`/workspaces/${id}`)).resource.attributes;
  return { bench, stack, patch, attributes };
}

it('A list of triggers that a write clears is shown, and is covered by the approval', async () => {
  const { bench, stack, patch, attributes } = await openApp({ 'trigger-patterns': ['/infra/**'] });
  await stack.declare(workspace('app', { vcsRepo, triggerPrefixes: ['mods'] }));
  const { digest, changes } = await stack.plan();
  expect(changes[0]?.fields).toMatchObject([
    { path: '/triggerPatterns', before: ['/infra/**'], after: [] },
    { path: '/triggerPrefixes', before: [], after: ['mods'] },
  ]);
  expect((await stack.run(['plan'], 0)).out).toMatch(/setting triggerPrefixes clears triggerPatterns/);
  await patch({ 'trigger-patterns': ['/other/**'] });
  await stack.run(['apply', '--approve', digest], 4);
  expect(bench.wire.writes()).toEqual([]);
  await stack.run(['apply', '--yes'], 0);
  expect(await attributes()).toMatchObject({ 'trigger-patterns': [], 'trigger-prefixes': ['mods'] });
  await stack.run(['plan', '--exit-code'], 0);
  // The list was never ours, so it is not reset later.
  expect((await stack.ledger()).records['Workspace/acme/app']?.fields).not.toHaveProperty('triggerPatterns');
});

it('File triggers and lists that a tag expression clears are shown as well', async () => {
  const { stack, attributes } = await openApp({ 'trigger-prefixes': ['mods'] });
  await stack.declare(workspace('app', { vcsRepo: { ...vcsRepo, tagsRegex: 'v.*' } }));
  const shown = async () => (await stack.plan()).changes[0]?.fields.map(({ path }) => path);
  expect(await shown()).toEqual(['/vcsRepo/tagsRegex', '/fileTriggersEnabled', '/triggerPrefixes']);
  await stack.run(['apply', '--yes'], 0);
  await stack.run(['plan', '--exit-code'], 0);
  await stack.declare(workspace('app', { vcsRepo: { ...vcsRepo, tagsRegex: null }, triggerPrefixes: ['a'] }));
  await stack.run(['apply', '--yes'], 0);
  expect(await attributes()).toMatchObject({
    'vcs-repo': { 'tags-regex': null },
    'trigger-prefixes': ['a'],
  });
  await stack.run(['plan', '--exit-code'], 0);
});

const regex = { vcsRepo: { ...vcsRepo, tagsRegex: 'v.*' } };
const patterns = { vcsRepo, triggerPatterns: ['/infra/**'] };
const prefixes = { vcsRepo, triggerPrefixes: ['mods'] };

const triggers: Readonly<Record<string, Record<string, unknown>>> = {
  'no repository': {},
  'triggerPatterns without a repository': { triggerPatterns: ['/infra/**'] },
  'no trigger': { vcsRepo },
  'every trigger null': {
    vcsRepo: { ...vcsRepo, tagsRegex: null },
    triggerPatterns: null,
    triggerPrefixes: null,
  },
  triggerPatterns: patterns,
  'triggerPatterns and file triggers': { ...patterns, fileTriggersEnabled: true },
  'triggerPatterns and no file triggers': { ...patterns, fileTriggersEnabled: false },
  triggerPrefixes: prefixes,
  'triggerPrefixes and no file triggers': { ...prefixes, fileTriggersEnabled: false },
  'vcsRepo.tagsRegex': regex,
  'tagsRegex and no file triggers': { ...regex, fileTriggersEnabled: false },
  'fileTriggersEnabled: false': { vcsRepo, fileTriggersEnabled: false },
  'fileTriggersEnabled: true': { vcsRepo, fileTriggersEnabled: true },
};

const names = Object.keys(triggers);
const idlePatterns = 'triggerPatterns and no file triggers';
/** The triggers that the dialect accepts: some refuse patterns beside file triggers that are off. */
const acceptedIn = (dialect: WorkspacesDialect) =>
  dialect === 'hcp-terraform' ? names.filter((name) => name !== idlePatterns) : names;

/** What a real server lacks that has only parts of the API. */
const parts = ['tag-bindings', 'safe-delete', 'own-mode', 'full-lists'] as const;
const byLedger = { ownership: 'ledger' };

interface Served {
  readonly dialect?: string;
  readonly missing?: readonly Lack[];
  /** workspaces that somebody created there before */
  readonly byHand?: readonly string[];
  readonly target?: object;
}

async function openServed({ dialect, missing = [], byHand = ['somebody-elses'], target = {} }: Served) {
  const bench = await openBench(dialect === undefined ? {} : { dialects: [dialect] });
  bench.wire.setHandler(lacking(...missing));
  const others = new TestClient(bench.wire.url, secrets.API_TOKEN);
  for (const name of byHand) await others.created({ name });
  const stack = await bench.checkout({
    workspaces: { ...target, ...(dialect === undefined ? {} : { dialect }), requestsPerSecond: 10_000 },
    spec: { guards: { maxUpdatePercent: 100 } },
  });
  return { bench, stack };
}

/** A workspace for each change from one of these triggers to another, as it is before or after the change. */
const changes = (some: readonly string[], side: 'before' | 'after') =>
  some.flatMap((from, one) =>
    some.flatMap((to, other) =>
      one === other ? [] : [workspace(`app-${one}-${other}`, triggers[side === 'before' ? from : to])],
    ),
  );

/** Contradictions, if file triggers follow from the lists. */
const impossible = names.filter((name) =>
  /(triggerPatterns|triggerPrefixes) and no file triggers|fileTriggersEnabled: true/.test(name),
);
const possible = names.filter((name) => !impossible.includes(name));

const loose: Served = {
  dialect: 'hcp-terraform',
  missing: ['exclusive-triggers', ...parts],
  target: byLedger,
};

describe('One apply is enough for each change from one trigger to another', () => {
  it.each<[string, Served, readonly string[]]>([
    ['in the dialect neutral', { dialect: 'neutral' }, acceptedIn('neutral')],
    ['in the dialect hcp-terraform', { dialect: 'hcp-terraform' }, acceptedIn('hcp-terraform')],
    ['with ownership by ledger', { missing: parts, target: byLedger }, acceptedIn(dialectUnderTest)],
    ['if one does not clear the others', loose, possible],
    ['the same in the dialect neutral', { ...loose, dialect: 'neutral' }, possible],
  ])('%s', async (_, served, some) => {
    const { stack } = await openServed(served);
    await stack.declare(...changes(some, 'before'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(...changes(some, 'after'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect((await stack.run(['drift'], 0)).out).toContain('No drift, nothing pending');
  });
});

async function refusals(stack: Checkout) {
  const { code, out } = await stack.tryRun(['plan', '--format', 'json']);
  const { problems } = JSON.parse(out) as PlanJson;
  return { code, problems: problems.map((problem) => problem.code) };
}

describe('If file triggers follow from the lists of triggers,', () => {
  it('the plan refuses each change to a contradiction, with a fix', async () => {
    const { bench, stack } = await openServed(loose);
    const cases = possible.flatMap((from, one) =>
      impossible.map((to, other) => ({ name: `app-${one}-${other}`, from, to })),
    );
    await stack.declare(...cases.map(({ name, from }) => workspace(name, triggers[from])));
    await stack.run(['apply', '--yes'], 0);
    const written = bench.written().length;
    await stack.declare(...cases.map(({ name, to }) => workspace(name, triggers[to])));
    expect(await refusals(stack)).toEqual({ code: 7, problems: cases.map(() => 'file-triggers-derived') });
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toHaveLength(written);
  });

  it('the plan refuses to create a contradiction, too', async () => {
    const { bench, stack } = await openServed(loose);
    await stack.declare(...impossible.map((name, index) => workspace(`app-${index}`, triggers[name])));
    expect((await refusals(stack)).problems).toEqual(impossible.map(() => 'file-triggers-derived'));
    const output = (await stack.run(['plan'], 7)).out.replace(/\s+/g, ' ');
    expect(output).toContain('"fileTriggersEnabled: true" is not possible without a list of triggers');
    expect(output).toContain(
      'fix: declare "triggerPatterns" or "triggerPrefixes", or remove "fileTriggersEnabled"',
    );
    expect(output).toContain('"fileTriggersEnabled: false" is not possible together with a list of triggers');
    expect(output).toContain('fix: remove the list of triggers, or "fileTriggersEnabled"');
    expect(bench.written()).toEqual([expect.stringMatching(/^POST/)]);
  });

  it.each(impossible.filter((name) => name !== idlePatterns))(
    'an apply of %s fails if nothing shows that yet, and the next plan refuses it',
    async (to) => {
      const { stack } = await openServed({ ...loose, byHand: [] });
      await stack.declare(workspace('app', triggers[to]));
      await stack.run(['apply', '--yes'], 6);
      expect(await refusals(stack)).toEqual({ code: 7, problems: ['file-triggers-derived'] });
    },
  );

  it('an apply that turns them off beside a list fails if nothing shows that yet', async () => {
    const { stack } = await openServed({ ...loose, byHand: [] });
    await stack.setUp(workspace('app', patterns));
    await stack.declare(workspace('app', { ...patterns, fileTriggersEnabled: false }));
    await stack.run(['apply', '--yes'], 6);
    expect(await refusals(stack)).toEqual({ code: 7, problems: ['file-triggers-derived'] });
  });
});

describe('If a new trigger does not clear the others,', () => {
  it.each([
    ['patterns', { 'trigger-patterns': ['/x'] }, prefixes],
    ['prefixes', { 'trigger-prefixes': ['x'] }, patterns],
    ['prefixes', { 'trigger-prefixes': ['x'] }, regex],
    ['patterns', { 'trigger-patterns': ['/x'] }, regex],
  ])('undeclared %s are cleared in the same apply (case %#)', async (_, byHand, spec) => {
    const { bench, stack } = await openServed(loose);
    await stack.declare(workspace('app', { vcsRepo }));
    await stack.run(['apply', '--yes'], 0);
    const others = new TestClient(bench.wire.url, secrets.API_TOKEN);
    const id = await bench.idOf('app');
    await others.update(id, byHand);
    await stack.declare(workspace('app', spec));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    const [name = ''] = Object.keys(byHand);
    expect((await others.attributes(id))[name]).toEqual(null);
  });

  it('a failed update that clears them is repaired by the next apply', async () => {
    const { bench, stack } = await openServed(loose);
    await stack.declare(workspace('app', patterns), workspace('web', regex));
    await stack.run(['apply', '--yes'], 0);
    bench.wire.add({
      method: 'PATCH',
      path: /workspaces/,
      body: /"trigger-patterns":\[\]/,
      times: 1000,
      fault: { answer: 403 },
    });
    await stack.declare(workspace('app', prefixes), workspace('web', prefixes));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toMatch(/2 failed/);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes().at(-1)?.text).toContain('"trigger-patterns":[]');
    await stack.run(['plan', '--exit-code'], 0);
  });
});
