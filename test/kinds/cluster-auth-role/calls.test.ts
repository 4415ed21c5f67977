import { afterEach, describe, expect, it } from 'vitest';
import { clusterAuthRole as kind } from '../../../src/kinds/cluster-auth-role/index.ts';
import { liveRole } from '../../../src/kinds/cluster-auth-role/live-role.ts';
import type { JsonObject } from '../../../src/model/json/json.ts';
import type { Spec } from '../../../src/model/resource/resource.ts';
import { bareRole } from '../../support/services/cluster-auth/bare-role.ts';
import { declare, meet } from '../../support/services/cluster-auth/declare.ts';
import { type Mount, openEmbeddedMount } from '../../support/services/cluster-auth/open-mount.ts';

const spec: Spec = { boundServiceAccountNames: ['api'], boundServiceAccountNamespaces: ['payments'] };
const role = (more: Spec = {}) => declare(kind, 'payments-api', { ...spec, ...more });

const live = (more: JsonObject = {}) => liveRole(role().address, { ...bareRole, ...more });

function callsFor(declared: Spec, was?: JsonObject) {
  const { change, context } = meet(kind, role(declared), was === undefined ? undefined : live(was));
  return kind.calls(change, context);
}

describe('The calls of a role', () => {
  it('create it with every field, zeros spelt out, so that the result is known', () => {
    const { calls, preconditions } = callsFor({ tokenTtl: '1h', tokenPolicies: 'b,a' });
    expect(calls).toEqual([
      {
        id: 'ClusterAuthRole/prod/payments-api#create',
        target: 'prod',
        method: 'POST',
        permission: 'create',
        path: ['auth', 'cluster', 'role', 'payments-api'],
        body: { ...bareRole, audience: '', token_ttl: 3600, token_policies: ['a', 'b'] },
        order: 20,
        needs: [],
        success: [200, 204],
        repeatable: true,
      },
    ]);
    expect(preconditions).toBeUndefined();
  });

  it('repeat what the manifest does not declare, the selector included', () => {
    const selector = '{"matchLabels":{"team":"payments"}}';
    const { calls, preconditions } = callsFor(
      { tokenTtl: 60 },
      { audience: 'vault', bound_service_account_namespace_selector: selector, token_policies: ['kept'] },
    );
    expect(calls[0]?.body).toEqual({
      ...bareRole,
      audience: 'vault',
      bound_service_account_namespace_selector: selector,
      token_policies: ['kept'],
      token_ttl: 60,
    });
    expect(preconditions).toEqual(['content']);
  });

  it('leave out of an update what the service does not answer and nobody declares', () => {
    const { token_bound_cidrs: _, ...old } = bareRole;
    const was = liveRole(role().address, old);
    const { change, context } = meet(kind, role({ tokenTtl: 60 }), was);
    const [call] = kind.calls(change, context).calls;
    expect(call?.body).not.toHaveProperty('token_bound_cidrs');
    expect(call?.body).toHaveProperty('bound_service_account_namespace_selector', '');
  });

  it('bring a field that is no longer declared back to its default', () => {
    const record = { origin: 'created' as const, fields: { audience: 'vault' } };
    const { change, context } = meet(kind, role(), live({ audience: 'vault' }), { record });
    expect(change.fields).toMatchObject([
      { path: ['audience'], before: 'vault', after: '', origin: 'no longer declared' },
    ]);
    expect(kind.calls(change, context).calls[0]?.body).toHaveProperty('audience', '');
  });

  it('narrow before they widen: a lost policy goes first, a gained one waits', () => {
    expect(callsFor({ tokenPolicies: ['a'] }, { token_policies: ['a', 'b'] }).calls[0]?.order).toBe(10);
    expect(callsFor({ tokenPolicies: ['a', 'b'] }, { token_policies: ['a'] }).calls[0]?.order).toBe(20);
    expect(callsFor({ tokenPolicies: ['b'] }, { token_policies: ['a'] }).calls[0]?.order).toBe(20);
  });

  it('delete it among those that narrow, relying on its whole content', () => {
    const { change, context } = meet(kind, role(), live());
    const { calls, preconditions } = kind.calls({ ...change, action: 'delete' }, context);
    expect(calls).toMatchObject([
      { method: 'DELETE', path: ['auth', 'cluster', 'role', 'payments-api'], order: 10 },
    ]);
    expect(calls[0]).not.toHaveProperty('body');
    expect(preconditions).toEqual(['content']);
  });

  it('are none for a role that is released, or adopted as it is', () => {
    const { change, context } = meet(kind, role(), live());
    expect(kind.calls({ ...change, action: 'release' }, context).calls).toEqual([]);
    expect(kind.calls({ ...change, action: 'adopt' }, context).calls).toEqual([]);
  });

  it('go to the segments of a mount whose path has a slash', () => {
    const { change, context } = meet(kind, role());
    const { calls } = kind.calls(change, {
      ...context,
      target: { ...context.target, mount: 'team/cluster' },
    });
    expect(calls[0]?.path).toEqual(['auth', 'team', 'cluster', 'role', 'payments-api']);
  });

  it('come with a note when the names of identities change', () => {
    expect(meet(kind, role({ aliasNameSource: 'serviceaccount_name' }), live()).notes).toEqual([
      expect.stringContaining('new identity'),
    ]);
    expect(meet(kind, role({ aliasNameSource: null }), live({ alias_name_source: '' })).notes).toEqual([]);
  });
});

describe('The plan of a role', () => {
  it('foresees that a live value which nobody declares will not fit the declared one', () => {
    expect(meet(kind, role({ tokenTtl: '2h' }), live({ token_max_ttl: 3600 })).problems).toEqual([
      'ttl-over-maximum',
    ]);
    expect(meet(kind, role({ tokenPeriod: 60 }), live({ token_type: 'batch' })).problems).toEqual([
      'batch-periodic',
    ]);
    expect(
      meet(kind, role({ tokenTtl: '2h', tokenMaxTtl: 0 }), live({ token_max_ttl: 3600 })).problems,
    ).toEqual([]);
  });

  it('has nothing against a live role that stands as declared, however odd', () => {
    expect(meet(kind, role(), live({ token_type: 'batch', token_period: 60 })).problems).toEqual([]);
  });

  it('takes a field that is no longer declared for the default it goes back to', () => {
    const record = { origin: 'created' as const, fields: { tokenMaxTtl: 3600 } };
    expect(meet(kind, role({ tokenTtl: '2h' }), live({ token_max_ttl: 3600 }), { record }).problems).toEqual(
      [],
    );
  });
});

describe('The content of a live role', () => {
  it('is the same whether the service answers a default, an empty value or nothing', () => {
    const { audience: _, ...rest } = { ...bareRole, audience: '' };
    expect(liveRole(role().address, { ...rest, token_type: '', alias_name_source: '' }).facts).toEqual(
      live().facts,
    );
  });

  it('moves with a field that no manifest declares', () => {
    expect(live({ token_num_uses: 3 }).facts).not.toEqual(live().facts);
  });
});

describe('Against the embedded service, a role', () => {
  let mount: Mount | undefined;
  afterEach(async () => {
    await mount?.close();
  });

  it('keeps its selector through an update that does not speak of it', async () => {
    mount = await openEmbeddedMount();
    const selector = '{"matchLabels":{"team":"payments"}}';
    await mount.write('/auth/cluster/role/payments-api', {
      bound_service_account_names: ['api'],
      bound_service_account_namespace_selector: selector,
    });
    const was = await kind.readOne(mount.session, role().address);
    const declared = declare(kind, 'payments-api', { boundServiceAccountNames: ['api'], tokenTtl: '1h' });
    const { change, context } = meet(kind, declared, was);
    for (const call of kind.calls(change, context).calls) expect((await mount.send(call)).status).toBe(204);
    const is = await kind.readOne(mount.session, role().address);
    expect(is?.spec).toMatchObject({ boundServiceAccountNamespaceSelector: selector, tokenTtl: 3600 });
  });
});
