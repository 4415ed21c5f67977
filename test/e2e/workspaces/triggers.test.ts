/** What starts runs: the service has one of several triggers, and clears the others when one is set (rules 13, 27). */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const vcsRepo = { identifier: 'acme/network', oauthTokenId: 'ot-git' };

/** Applied with a repository, whose triggers somebody sets by hand then. */
async function openApp(byHand: object) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(workspace('app', { vcsRepo }));
  const id = await bench.idOf('app');
  const patch = async (attributes: object) => {
    const body = { data: { type: 'workspaces', attributes } };
    expect(await bench.byHand.patch(`/workspaces/${id}`, body)).toMatchObject({ status: 200 });
  };
  await patch(byHand);
  const attributes = async () => (await bench.byHand.get(`/workspaces/${id}`)).resource.attributes;
  return { bench, stack, patch, attributes };
}

it('A list of triggers that a write clears is shown, and is a part of what is approved', async () => {
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
  // It was never ours: nothing of it is reset later.
  expect((await stack.ledger()).records['Workspace/acme/app']?.fields).not.toHaveProperty('triggerPatterns');
});

it('So are an expression for tags, and the file triggers that one turns off', async () => {
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

const triggers: Readonly<Record<string, object>> = {
  'no trigger': { vcsRepo },
  triggerPatterns: { vcsRepo, triggerPatterns: ['/infra/**'] },
  triggerPrefixes: { vcsRepo, triggerPrefixes: ['mods'] },
  'vcsRepo.tagsRegex': { vcsRepo: { ...vcsRepo, tagsRegex: 'v.*' } },
  'tagsRegex and no file triggers': {
    vcsRepo: { ...vcsRepo, tagsRegex: 'v.*' },
    fileTriggersEnabled: false,
  },
  'fileTriggersEnabled: false': { vcsRepo, fileTriggersEnabled: false },
};

/** Both together are refused by the real service. */
const idlePatterns = {
  'triggerPatterns and no file triggers': {
    vcsRepo,
    triggerPatterns: ['/infra/**'],
    fileTriggersEnabled: false,
  },
};

describe.each([
  ['neutral', { ...triggers, ...idlePatterns }],
  ['hcp-terraform', triggers],
] as const)(
  'In the dialect %s, one apply is enough',
  (dialect, triggers: Readonly<Record<string, object>>) => {
    it.each(Object.keys(triggers))('for each change away from %s', async (from) => {
      const bench = await openBench({ dialects: [dialect] });
      const spec = { guards: { maxUpdatePercent: 100 } };
      const stack = await bench.checkout({ workspaces: { dialect }, spec });
      const others = Object.keys(triggers).filter((name) => name !== from);
      await stack.declare(...others.map((_, index) => workspace(`app-${index}`, triggers[from])));
      await stack.run(['apply', '--yes'], 0);
      await stack.declare(...others.map((to, index) => workspace(`app-${index}`, triggers[to])));
      await stack.run(['apply', '--yes'], 0);
      await stack.run(['plan', '--exit-code'], 0);
    });
  },
);
