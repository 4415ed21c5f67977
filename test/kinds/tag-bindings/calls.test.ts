import type { CallValue } from '../../../src/model/call.ts';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import {
  at,
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'TagBindings/acme/app';

function planned(spec: Spec, live: Partial<LiveWorkspace>, about: Partial<Situation> = {}) {
  return planFor({
    declared: [declare('Workspace', 'app'), declare('TagBindings', 'app', spec)],
    live: [{ name: 'app', ...live }],
    ...about,
  });
}

/** `env=prod`, in the order in which they are sent. */
function sent(list: CallValue | undefined): string[] {
  const items = Array.isArray(list) ? (list as readonly Json[]) : [];
  return items.map((item) => `${at(item, 'attributes', 'key')}=${at(item, 'attributes', 'value')}`);
}

const relation = ['data', 'relationships', 'tag-bindings', 'data'] as const;

describe('Changing the tags of a workspace', () => {
  it('replaces the whole set with the ownership tag, if the set is as it was read', () => {
    const change = changeOf(
      planned({ tags: { env: 'test' } }, { tags: { env: 'prod', team: 'a' } }),
      address,
    );
    expect(change.calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(sent(at(change.calls[0]?.body, ...relation))).toEqual([
      'env=test',
      'trueup-stack=payments:id=0123abcd',
    ]);
    expect(change.preconditions).toEqual({ direct: { env: 'prod', team: 'a' }, assessmentsEnabled: false });
    expect(change.calls[0]).toMatchObject({ order: 5, success: [200], repeatable: true });
    expect(change.calls[0]).not.toHaveProperty('sharesRead');
  });

  it('adds and changes single tags if the service can, without a precondition', () => {
    const spec = { tags: { env: 'test', team: 'a', owner: 'alice' } };
    const change = changeOf(
      planned(spec, { tags: { env: 'prod', team: 'a' } }, { dialect: 'hcp-terraform' }),
      address,
    );
    expect(change.calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app/tag-bindings']);
    expect(sent(at(change.calls[0]?.body, 'data'))).toEqual(['env=test', 'owner=alice']);
    expect(change.calls[0]).toMatchObject({ sharesRead: true });
    expect(change.preconditions).toEqual({});
  });

  it.each(['neutral', 'hcp-terraform'])(
    'sends tags with any key, such as __proto__, through %s',
    (dialect) => {
      const spec = { tags: JSON.parse('{ "env": "a", "__proto__": "b", "constructor": "c" }') };
      const change = changeOf(planned(spec, { tags: { env: 'a' } }, { dialect }), address);
      const [body] = change.calls.map((call) => call.body);
      const list = at(body, 'data', 'relationships') === undefined ? at(body, 'data') : at(body, ...relation);
      expect(sent(list)).toEqual(expect.arrayContaining(['__proto__=b', 'constructor=c']));
    },
  );

  it('replaces the set there, too, as soon as one tag is removed', () => {
    const change = changeOf(
      planned({ tags: {} }, { tags: { env: 'prod' } }, { dialect: 'hcp-terraform' }),
      address,
    );
    expect(change.calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(sent(at(change.calls[0]?.body, ...relation))).toEqual(['trueup-stack=payments:id=0123abcd']);
  });

  it('leaves alone tags that are kept for others or belong to the service', () => {
    const live = { tags: { env: 'prod', 'cost-center': '1', 'hc:managed': 'x' } };
    const spec = { tags: { env: 'prod' }, keep: ['cost-*'] };
    expect(planned(spec, live).changes).toEqual([]);
    const change = changeOf(planned({ ...spec, tags: { env: 'test' } }, live), address);
    expect(change.fields).toMatchObject([{ path: ['tags', 'env'] }]);
    expect(sent(at(change.calls[0]?.body, ...relation))).toEqual([
      'cost-center=1',
      'env=test',
      'hc:managed=x',
      'trueup-stack=payments:id=0123abcd',
    ]);
  });

  it('manages a declared key that a pattern of keep matches as well', () => {
    const spec = { tags: { 'cost-owner': 'me' }, keep: ['cost-*'] };
    expect(planned(spec, { tags: { 'cost-owner': 'me' } }).changes).toEqual([]);
    const change = changeOf(planned(spec, { tags: { 'cost-owner': 'you' } }), address);
    expect(sent(at(change.calls[0]?.body, ...relation))).toEqual([
      'cost-owner=me',
      'trueup-stack=payments:id=0123abcd',
    ]);
  });

  it('writes the ownership tag that the same plan gives to the workspace', () => {
    const plan = planFor({
      declared: [
        declare('Workspace', 'app', {}, { protect: true }),
        declare('TagBindings', 'app', { tags: { env: 'test' } }),
      ],
      live: [{ name: 'app', tags: { env: 'prod' } }],
    });
    const [first, second] = [changeOf(plan, 'Workspace/acme/app'), changeOf(plan, address)];
    expect(sent(at(first.calls[0]?.body, ...relation))).toEqual([
      'env=prod',
      'trueup-stack=payments:protect:id=0123abcd',
    ]);
    expect(sent(at(second.calls[0]?.body, ...relation))).toEqual([
      'env=test',
      'trueup-stack=payments:protect:id=0123abcd',
    ]);
    expect(first.calls[0]?.order).toBeLessThan(second.calls[0]?.order ?? 0);
  });

  it('repeats health assessments with the value that the plan gives to the workspace', () => {
    const on = { 'assessments-enabled': true };
    const change = changeOf(planned({ tags: {} }, { attributes: on, tags: { a: '1' } }), address);
    expect(at(change.calls[0]?.body, 'data', 'attributes')).toEqual(on);
    const plan = planned(
      { tags: {} },
      { tags: { a: '1' } },
      {
        declared: [
          declare('Workspace', 'app', { assessmentsEnabled: true }),
          declare('TagBindings', 'app', { tags: {} }),
        ],
      },
    );
    expect(at(changeOf(plan, address).calls[0]?.body, 'data', 'attributes')).toEqual(on);
  });

  it('does not repeat health assessments that the plan for the workspace ends', () => {
    const plan = planned(
      { tags: {} },
      { attributes: { 'assessments-enabled': true }, tags: { a: '1' } },
      {
        declared: [
          declare('Workspace', 'app', { executionMode: 'local' }),
          declare('TagBindings', 'app', { tags: {} }),
        ],
      },
    );
    expect(at(changeOf(plan, address).calls[0]?.body, 'data', 'attributes')).toBeUndefined();
  });

  it('reports a set that the service would refuse', () => {
    const tags = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`k${index}`, '1']));
    const live = { tags: { 'cost-a': '1', 'cost-b': '1' } };
    const plan = planned({ tags, keep: ['cost-*'] }, live);
    expect(plan.problems).toMatchObject([
      { code: 'too-many-tags', found: '8 declared, 2 kept for others, 1 ownership tag' },
    ]);
  });
});

describe('A removed document', () => {
  it('removes only its unchanged tags', () => {
    const plan = planFor({
      declared: [declare('Workspace', 'app')],
      live: [{ name: 'app', tags: { env: 'prod', team: 'theirs', other: 'x', 'hc:own': 'y' } }],
      records: { [address]: { id: 'ws-app', fields: { tags: { env: 'prod', team: 'ours' } } } },
    });
    const change = changeOf(plan, address);
    expect(change).toMatchObject({ action: 'delete', fields: [{ path: ['tags', 'env'], before: 'prod' }] });
    expect(sent(at(change.calls[0]?.body, ...relation))).toEqual([
      'hc:own=y',
      'other=x',
      'team=theirs',
      'trueup-stack=payments:id=0123abcd',
    ]);
  });
});
