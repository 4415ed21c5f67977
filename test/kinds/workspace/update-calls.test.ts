import { describe, expect, it } from 'vitest';
import type { Spec } from '../../../src/model/resource.ts';
import {
  at,
  changeOf,
  declare,
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

  it('replaces all direct tags with themselves and the ownership tag, and relies on what was read', () => {
    const { calls, preconditions } = adopted({}, 'neutral');
    expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
    expect(at(calls[0]?.body, 'data', 'relationships', 'tag-bindings', 'data')).toEqual([
      { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
      { type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'payments:id=0123abcd' } },
    ]);
    expect(at(calls[0]?.body, 'data', 'attributes')).toEqual({ 'assessments-enabled': false });
    expect(preconditions).toEqual({ direct: { env: 'prod' }, assessmentsEnabled: false });
  });

  it('adds it alone where the service can add a tag', () => {
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
