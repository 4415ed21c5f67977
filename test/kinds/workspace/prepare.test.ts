import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import {
  changeOf,
  declare,
  type LiveWorkspace,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

function planned(spec: Spec, live?: Partial<LiveWorkspace>, records: Situation['records'] = {}) {
  return planFor({
    declared: [declare('Workspace', 'app', spec)],
    live: live === undefined ? [] : [{ name: 'app', ...live }],
    records,
  });
}

describe('A repository', () => {
  const repository = {
    identifier: 'acme/network',
    'oauth-token-id': 'ot-1',
    'vcs-app-installation-id': null,
  };

  it('that is new needs its identifier and a connection, and the plan says so', () => {
    for (const vcsRepo of [{ branch: 'main' }, { identifier: 'a/b' }, { oauthTokenId: 'ot-1' }]) {
      expect(planned({ vcsRepo }, {}).problems).toMatchObject([
        { code: 'vcs-repo-incomplete', class: 'invalid' },
      ]);
      expect(planned({ vcsRepo }).problems).toHaveLength(1);
    }
    expect(planned({ vcsRepo: { identifier: 'a/b', oauthTokenId: 'ot-1' } }, {}).problems).toEqual([]);
  });

  it('that exists may be changed partly', () => {
    const plan = planned({ vcsRepo: { branch: 'main' } }, { attributes: { 'vcs-repo': repository } });
    expect(plan.problems).toEqual([]);
  });

  it('shows that a new connection replaces the old one', () => {
    const plan = planned(
      { vcsRepo: { vcsAppInstallationId: 'app-1' } },
      { attributes: { 'vcs-repo': repository } },
    );
    expect(changeOf(plan, address).fields).toMatchObject([
      { path: ['vcsRepo', 'oauthTokenId'], before: 'ot-1', after: null },
      { path: ['vcsRepo', 'vcsAppInstallationId'], before: null, after: 'app-1' },
    ]);
  });
});

describe('A trigger of runs', () => {
  const repository = { identifier: 'acme/network', 'oauth-token-id': 'ot-1', 'tags-regex': null };
  const byTags = { ...repository, 'tags-regex': 'v.*' };

  const fieldsOf = (plan: ReturnType<typeof planned>) =>
    plan.changes.flatMap(({ fields }) =>
      fields.map(({ path, before, after }) => [path.join('.'), before, after]),
    );

  interface Case {
    readonly spec: Spec;
    readonly live: JsonObject;
    /** path, before, after */
    readonly shown: readonly (readonly [string, unknown, unknown])[];
    readonly sent: JsonObject;
  }

  it.each<[string, Case]>([
    [
      'with a list of prefixes clears the patterns',
      {
        spec: { triggerPrefixes: ['mods'] },
        live: { 'trigger-patterns': ['/infra/**'] },
        shown: [
          ['triggerPatterns', ['/infra/**'], []],
          ['triggerPrefixes', [], ['mods']],
        ],
        sent: { 'trigger-prefixes': ['mods'] },
      },
    ],
    [
      'with a list of patterns clears the prefixes',
      {
        spec: { triggerPatterns: ['/infra/**'] },
        live: { 'trigger-prefixes': ['mods'] },
        shown: [
          ['triggerPatterns', [], ['/infra/**']],
          ['triggerPrefixes', ['mods'], []],
        ],
        sent: { 'trigger-patterns': ['/infra/**'] },
      },
    ],
    [
      'with a list clears the expression for tags, besides other changes of the repository',
      {
        spec: { triggerPrefixes: ['mods'], vcsRepo: { branch: 'next' } },
        live: { 'vcs-repo': { ...byTags, branch: 'main' } },
        shown: [
          ['vcsRepo.branch', 'main', 'next'],
          ['vcsRepo.tagsRegex', 'v.*', null],
          ['triggerPrefixes', [], ['mods']],
        ],
        sent: { 'trigger-prefixes': ['mods'], 'vcs-repo': { branch: 'next', 'tags-regex': '' } },
      },
    ],
    [
      'with an expression for tags clears a list, and turns file triggers off',
      {
        spec: { vcsRepo: { tagsRegex: 'v.*' } },
        live: { 'vcs-repo': repository, 'trigger-prefixes': ['mods'] },
        shown: [
          ['vcsRepo.tagsRegex', null, 'v.*'],
          ['fileTriggersEnabled', true, false],
          ['triggerPrefixes', ['mods'], []],
        ],
        sent: {
          'file-triggers-enabled': false,
          'trigger-prefixes': [],
          'vcs-repo': { 'tags-regex': 'v.*' },
        },
      },
    ],
    [
      'with a list that is live already clears nothing',
      {
        spec: { triggerPrefixes: ['mods'], description: 'x' },
        live: { 'trigger-prefixes': ['mods'], 'trigger-patterns': ['/infra/**'] },
        shown: [['description', null, 'x']],
        sent: { description: 'x' },
      },
    ],
    [
      'with an empty list clears nothing',
      {
        spec: { triggerPrefixes: [], description: 'x' },
        live: { 'trigger-patterns': ['/infra/**'] },
        shown: [['description', null, 'x']],
        sent: { description: 'x' },
      },
    ],
  ])('%s', (_, { spec, live, shown, sent }) => {
    const plan = planned(spec, { attributes: live });
    expect(fieldsOf(plan)).toEqual(shown);
    const { calls, notes } = changeOf(plan, address);
    expect(calls.map(({ body }) => body)).toMatchObject([{ data: { attributes: sent } }]);
    const isCleared = shown.some(([path]) => /trigger|tags/.test(path));
    expect(notes.some((note) => /^setting .* clears .*: only one of them starts runs$/.test(note))).toBe(
      isCleared,
    );
  });

  it('that is removed with its repository is shown with it', () => {
    const plan = planned(
      { triggerPrefixes: ['mods'], vcsRepo: null },
      { attributes: { 'vcs-repo': byTags } },
    );
    expect(fieldsOf(plan).map(([path]) => path)).toEqual(['vcsRepo', 'triggerPrefixes']);
    expect(changeOf(plan, address).notes).toEqual([]);
  });

  it('is still reported as no longer declared if we had set it', () => {
    const records = { [address]: { id: 'ws-app', fields: { triggerPatterns: ['/infra/**'] } } };
    const attributes = { 'trigger-patterns': ['/infra/**'] };
    const { fields } = changeOf(planned({ triggerPrefixes: ['mods'] }, { attributes }, records), address);
    expect(fields).toMatchObject([
      { path: ['triggerPatterns'], after: [], origin: 'no longer declared' },
      { path: ['triggerPrefixes'] },
    ]);
  });

  it('is cleared beside a new connection of the repository', () => {
    const plan = planned(
      { triggerPrefixes: ['mods'], vcsRepo: { vcsAppInstallationId: 'app-1' } },
      { attributes: { 'vcs-repo': byTags } },
    );
    expect(fieldsOf(plan).map(([path]) => path)).toEqual(
      expect.arrayContaining(['vcsRepo.tagsRegex', 'vcsRepo.oauthTokenId', 'vcsRepo.vcsAppInstallationId']),
    );
  });
});

describe('The service will refuse', () => {
  const live = (attributes: Record<string, never | unknown>, facts = {}) => ({
    address: { kind: 'Workspace', target: 'acme', name: 'app' },
    spec: {},
    evidence: {},
    facts: {
      locked: false,
      lockedReason: '',
      resourceCount: 0,
      ...attributes,
      ...facts,
    } as never,
  });
  const marks = { locked: true, lockedReason: 'frozen' };
  const record = { origin: 'created', fields: {}, marks } as const;

  it('the deletion of a workspace that manages resources or that others locked', () => {
    expect(kind.blockers?.(live({}), 'delete')).toEqual([]);
    expect(kind.blockers?.(live({ resourceCount: 1 }), 'delete')).toEqual([
      'it manages 1 resource, and a safe delete refuses that',
    ]);
    expect(kind.blockers?.(live({ locked: true, lockedReason: 'frozen' }), 'delete')).toEqual([
      'it is locked ("frozen")',
    ]);
    const ours = live({ locked: true, lockedReason: 'frozen' });
    expect(kind.blockers?.(ours, 'delete', record)).toEqual([]);
    expect(kind.blockers?.(live({ locked: true }), 'delete', record)).toEqual(['it is locked']);
  });
});

describe('A workspace with the maximum number of tags', () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
  const adopted = (count: number) =>
    planFor({
      declared: [declare('Workspace', 'app', {}, { adopt: true })],
      live: [{ name: 'app', ownershipTag: null, tags: tags(count) }],
    });

  it('cannot be adopted, and the plan says so', () => {
    expect(adopted(10).problems).toMatchObject([{ code: 'no-room-for-claim', class: 'conflict' }]);
    expect(adopted(9).problems).toEqual([]);
  });

  it('is no problem once one of them is the ownership tag', () => {
    expect(planned({}, { tags: tags(9) }).problems).toEqual([]);
  });
});
