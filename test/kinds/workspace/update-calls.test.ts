import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import {
  at,
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  planFor,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

describe('Writing the ownership tag', () => {
  const adopted = (spec: Spec, dialect: string) =>
    changeOf(
      planFor({
        declared: [declare('Workspace', 'app', spec, { adopt: true })],
        live: [{ name: 'app', ownershipTag: null, tags: { env: 'prod' } }],
        dialect,
      }),
      address,
    );

  it('replaces all direct tags by themselves and the ownership tag, if they are as they were read', () => {
    const { calls, preconditions } = adopted({}, 'neutral');
    expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(at(calls[0]?.body, 'data', 'relationships', 'tag-bindings', 'data')).toEqual([
      { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
      { type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'payments:id=0123abcd' } },
    ]);
    expect(at(calls[0]?.body, 'data', 'attributes')).toEqual({ 'assessments-enabled': false });
    expect(preconditions).toEqual({ direct: { env: 'prod' }, assessmentsEnabled: false });
  });

  it('adds only the ownership tag if the service can add single tags', () => {
    const { calls, preconditions } = adopted({ autoApply: true }, 'hcp-terraform');
    expect(calls.map((call) => [lineOf(call), call.id])).toEqual([
      ['PATCH /workspaces/ws-app', `${address}#update`],
      ['PATCH /workspaces/ws-app/tag-bindings', `${address}#claim`],
    ]);
    expect(calls[1]?.body).toEqual({
      data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'payments:id=0123abcd' } }],
    });
    expect(preconditions).toEqual({ assessmentsEnabled: false });
  });
});

describe('Sharing the read before an update with other workspaces', () => {
  const repository = { identifier: 'acme/infra', branch: 'main', 'oauth-token-id': 'ot-1' };
  const isShared = (spec: Spec, live: Partial<LiveWorkspace> = {}) => {
    const { calls } = changeOf(
      planFor({ declared: [declare('Workspace', 'app', spec)], live: [{ name: 'app', ...live }] }),
      address,
    );
    expect(calls).not.toEqual([]);
    return calls.every(({ sharesRead }) => sharesRead === true);
  };

  it.each<[string, Spec]>([
    ['a text', { description: 'new' }],
    ['a flag', { autoApply: true }],
    ['a version', { engineVersion: '1.9.0' }],
  ])('is allowed for a change of %s', (_, spec) => {
    expect(isShared(spec)).toBe(true);
  });

  it.each<[string, Spec, JsonObject]>([
    ['a list of triggers', { triggerPatterns: ['/a/*'] }, {}],
    ['the branch of its repository', { vcsRepo: { branch: 'next' } }, { 'vcs-repo': repository }],
    ['its repository, which is removed', { vcsRepo: null }, { 'vcs-repo': repository }],
    ['its project', { projectId: 'prj-other' }, {}],
    ['flat tags', { tagNames: ['one'] }, {}],
    ['an SSH key', { sshKeyId: 'sshkey-1' }, {}],
    ['a lock', { lock: { reason: 'frozen' } }, {}],
    ['the mode', { executionMode: 'local' }, {}],
    ['destroy plans', { allowDestroyPlan: false }, {}],
    ['auto-destroy', { autoDestroyAt: '2031-01-01T00:00:00.000Z' }, {}],
  ])('is not allowed for a change of %s', (_, spec, attributes) => {
    expect(isShared(spec, { attributes })).toBe(false);
  });

  it('is not allowed for a rename', () => {
    const change = changeOf(
      planFor({
        declared: [declare('Workspace', 'app', {}, { renamedFrom: 'old' })],
        live: [{ name: 'old' }],
        records: { 'Workspace/acme/old': { id: 'ws-old' } },
      }),
      address,
    );
    expect(change.calls.map((call) => [lineOf(call), call.sharesRead])).toEqual([
      ['PATCH /workspaces/ws-old', undefined],
    ]);
  });

  it('is not allowed for an ownership tag', () => {
    const change = changeOf(
      planFor({
        declared: [declare('Workspace', 'app', {}, { adopt: true })],
        live: [{ name: 'app', ownershipTag: null }],
        dialect: 'hcp-terraform',
      }),
      address,
    );
    expect(change.calls.map((call) => [lineOf(call), call.sharesRead])).toEqual([
      ['PATCH /workspaces/ws-app/tag-bindings', undefined],
    ]);
  });
});
