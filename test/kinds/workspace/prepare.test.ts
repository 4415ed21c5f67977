import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import {
  changeOf,
  declare,
  type LiveWorkspace,
  planFor,
  type Situation,
} from '../../targets/workspaces/plan-organization.ts';

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

  it('that is there may be changed in part', () => {
    const plan = planned({ vcsRepo: { branch: 'main' } }, { attributes: { 'vcs-repo': repository } });
    expect(plan.problems).toEqual([]);
  });

  it('shows that a new connection takes the place of the old one', () => {
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

describe('What the service will refuse', () => {
  const live = (attributes: Record<string, never | unknown>, facts = {}) => ({
    address: { kind: 'Workspace', target: 'acme', name: 'app' },
    spec: {},
    witness: {},
    facts: {
      locked: false,
      lockedReason: '',
      resourceCount: 0,
      ...attributes,
      ...facts,
    } as never,
  });
  const record = { origin: 'created', fields: {}, marks: { locked: true } } as const;

  it('is a delete of what manages resources or is locked by others', () => {
    expect(kind.obstacles?.(live({}), 'delete')).toEqual([]);
    expect(kind.obstacles?.(live({ resourceCount: 1 }), 'delete')).toEqual([
      'it manages 1 resource, and a safe delete refuses that',
    ]);
    expect(kind.obstacles?.(live({ locked: true, lockedReason: 'frozen' }), 'delete')).toEqual([
      'it is locked ("frozen")',
    ]);
    expect(kind.obstacles?.(live({ locked: true }), 'delete', record)).toEqual([]);
  });
});

describe('A workspace with all the tags it can have', () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
  const adopted = (count: number) =>
    planFor({
      declared: [declare('Workspace', 'app', {}, { adopt: true })],
      live: [{ name: 'app', claim: null, tags: tags(count) }],
    });

  it('cannot be adopted, and the plan says so', () => {
    expect(adopted(10).problems).toMatchObject([{ code: 'no-room-for-claim', class: 'conflict' }]);
    expect(adopted(9).problems).toEqual([]);
  });

  it('is no problem once one of them is the claim', () => {
    expect(planned({}, { tags: tags(9) }).problems).toEqual([]);
  });
});
