import { afterEach, describe, expect, it } from 'vitest';
import { clusterAuthRole as kind } from '../../../src/kinds/cluster-auth-role/index.ts';
import { liveRole } from '../../../src/kinds/cluster-auth-role/live-role.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { bareRole } from '../../support/services/cluster-auth/bare-role.ts';
import { declare, draftChange } from '../../support/services/cluster-auth/declare.ts';
import { type Mount, openEmbeddedMount } from '../../support/services/cluster-auth/open-mount.ts';

const spec: Spec = { boundServiceAccountNames: ['api'], boundServiceAccountNamespaces: ['payments'] };
const role = (more: Spec = {}) => declare(kind, 'payments-api', { ...spec, ...more });

const live = (more: JsonObject = {}) => liveRole(role().address, { ...bareRole, ...more });

function callsFor(declared: Spec, was?: JsonObject) {
  const { change, context } = draftChange(kind, role(declared), was === undefined ? undefined : live(was));
  return kind.calls(change, context);
}

describe('The calls of a role', () => {
  it('create it with every field, including empty ones, so that the result is known', () => {
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

  it('repeat what the manifest does not declare, including the selector', () => {
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

  it('leave out of an update the undeclared fields that the service does not return', () => {
    const { token_bound_cidrs: _, ...old } = bareRole;
    const was = liveRole(role().address, old);
    const { change, context } = draftChange(kind, role({ tokenTtl: 60 }), was);
    const [call] = kind.calls(change, context).calls;
    expect(call?.body).not.toHaveProperty('token_bound_cidrs');
    expect(call?.body).toHaveProperty('bound_service_account_namespace_selector', '');
  });

  it('reset a field that is no longer declared to its default', () => {
    const record = { origin: 'created' as const, fields: { audience: 'vault' } };
    const { change, context } = draftChange(kind, role(), live({ audience: 'vault' }), { record });
    expect(change.fields).toMatchObject([
      { path: ['audience'], before: 'vault', after: '', origin: 'no longer declared' },
    ]);
    expect(kind.calls(change, context).calls[0]?.body).toHaveProperty('audience', '');
  });

  it('narrow before they widen: a removed policy is sent first, an added one later', () => {
    expect(callsFor({ tokenPolicies: ['a'] }, { token_policies: ['a', 'b'] }).calls[0]?.order).toBe(10);
    expect(callsFor({ tokenPolicies: ['a', 'b'] }, { token_policies: ['a'] }).calls[0]?.order).toBe(20);
    expect(callsFor({ tokenPolicies: ['b'] }, { token_policies: ['a'] }).calls[0]?.order).toBe(20);
  });

  it('delete a role in the same step as calls that narrow access, on condition that its content is unchanged', () => {
    const { change, context } = draftChange(kind, role(), live());
    const { calls, preconditions } = kind.calls({ ...change, action: 'delete' }, context);
    expect(calls).toMatchObject([
      { method: 'DELETE', path: ['auth', 'cluster', 'role', 'payments-api'], order: 10 },
    ]);
    expect(calls[0]).not.toHaveProperty('body');
    expect(preconditions).toEqual(['content']);
  });

  it('are empty for a role that is released, or adopted as it is', () => {
    const { change, context } = draftChange(kind, role(), live());
    expect(kind.calls({ ...change, action: 'release' }, context).calls).toEqual([]);
    expect(kind.calls({ ...change, action: 'adopt' }, context).calls).toEqual([]);
  });

  it('use the path segments of a mount whose path has a slash', () => {
    const { change, context } = draftChange(kind, role());
    const { calls } = kind.calls(change, {
      ...context,
      target: { ...context.target, mount: 'team/cluster' },
    });
    expect(calls[0]?.path).toEqual(['auth', 'team', 'cluster', 'role', 'payments-api']);
  });

  it('have a note when the names of identities change', () => {
    expect(draftChange(kind, role({ aliasNameSource: 'serviceaccount_name' }), live()).notes).toEqual([
      expect.stringContaining('new identity'),
    ]);
    expect(draftChange(kind, role({ aliasNameSource: null }), live({ alias_name_source: '' })).notes).toEqual(
      [],
    );
  });
});

describe('The plan of a role', () => {
  it('reports that an undeclared live value does not fit a declared one', () => {
    expect(draftChange(kind, role({ tokenTtl: '2h' }), live({ token_max_ttl: 3600 })).problems).toEqual([
      'ttl-over-maximum',
    ]);
    expect(draftChange(kind, role({ tokenPeriod: 60 }), live({ token_type: 'batch' })).problems).toEqual([
      'batch-periodic',
    ]);
    expect(
      draftChange(kind, role({ tokenTtl: '2h', tokenMaxTtl: 0 }), live({ token_max_ttl: 3600 })).problems,
    ).toEqual([]);
  });

  it('reports nothing about a live role that equals its manifest, even if its undeclared values conflict', () => {
    expect(draftChange(kind, role(), live({ token_type: 'batch', token_period: 60 })).problems).toEqual([]);
  });

  it('uses the default for a field that is no longer declared', () => {
    const record = { origin: 'created' as const, fields: { tokenMaxTtl: 3600 } };
    expect(
      draftChange(kind, role({ tokenTtl: '2h' }), live({ token_max_ttl: 3600 }), { record }).problems,
    ).toEqual([]);
  });
});

describe('An undeclared field of a role that was changed since the last apply', () => {
  const bare = live().facts.content;
  const content = (more: Spec = {}) => ({ ...(bare as Spec), ...more });
  const created = (more: Spec = {}, declared: Spec = {}) => ({
    record: { origin: 'created' as const, fields: { ...spec, ...declared }, content: content(more) },
  });

  it.each([
    [
      'a period beside batch tokens',
      { tokenType: 'batch' },
      { token_period: 3600 },
      ['tokenPeriod', 3600, 0],
    ],
    [
      'a limit of uses beside batch tokens',
      { tokenType: 'batch' },
      { token_num_uses: 3 },
      ['tokenNumUses', 3, 0],
    ],
    [
      'batch tokens beside a period',
      { tokenPeriod: '1h' },
      { token_type: 'batch' },
      ['tokenType', 'batch', 'default'],
    ],
    ['a maximum below the lifetime', { tokenTtl: '2h' }, { token_max_ttl: 60 }, ['tokenMaxTtl', 60, 0]],
    [
      'a lifetime above the maximum',
      { tokenMaxTtl: '1h' },
      { token_ttl: 7200, token_max_ttl: 9000 },
      ['tokenTtl', 7200, 0],
    ],
  ] as const)(
    'is reset in the write that it conflicts with: %s',
    (_, declared, found, [name, before, after]) => {
      const { change, context, problems } = draftChange(
        kind,
        role(declared),
        live(found),
        created({}, declared),
      );
      expect(problems).toEqual([]);
      const other = Object.keys(declared)[0];
      expect(change.fields.find(({ path }) => path[0] === name)).toMatchObject({ before, after });
      expect(change.fields.find(({ path }) => path[0] === name)?.origin).toContain(
        `reset because it conflicts with ${other}`,
      );
      expect(change.fields.map(({ path }) => path[0])).toEqual(expect.arrayContaining([name, other]));
      const written = {
        token_period: 0,
        token_num_uses: 0,
        token_type: 'default',
        token_max_ttl: 0,
        token_ttl: 0,
      };
      const wire = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const [call] = kind.calls(change, context).calls;
      expect(call?.body).toHaveProperty(wire, written[wire as keyof typeof written]);
    },
  );

  it('returns to the value of the last apply, not to the default', () => {
    const about = created({ tokenMaxTtl: 86_400 }, { tokenTtl: 7200 });
    const { change, problems } = draftChange(
      kind,
      role({ tokenTtl: '2h' }),
      live({ token_ttl: 30, token_max_ttl: 60 }),
      about,
    );
    expect(problems).toEqual([]);
    expect(change.fields).toMatchObject([
      { path: ['tokenTtl'], before: 30, after: 7200 },
      { path: ['tokenMaxTtl'], before: 60, after: 86_400 },
    ]);
  });

  it('is an error if the value of the last apply does not fit the manifest either', () => {
    const about = created({ tokenMaxTtl: 3600 });
    expect(draftChange(kind, role({ tokenTtl: '2h' }), live({ token_max_ttl: 60 }), about).problems).toEqual([
      'ttl-over-maximum',
    ]);
  });

  it('is left alone if it conflicts with nothing', () => {
    const { change } = draftChange(kind, role({ tokenTtl: '2h' }), live({ token_num_uses: 3 }), created());
    expect(change.fields.map(({ path }) => path)).toEqual([['tokenTtl']]);
  });
});

describe('The content of a live role', () => {
  it('is the same whether the service returns a default, an empty value or nothing', () => {
    const { audience: _, ...rest } = { ...bareRole, audience: '' };
    expect(liveRole(role().address, { ...rest, token_type: '', alias_name_source: '' }).facts).toEqual(
      live().facts,
    );
  });

  it('changes with an undeclared field', () => {
    expect(live({ token_num_uses: 3 }).facts).not.toEqual(live().facts);
  });
});

describe('Against the embedded service, a role', () => {
  let mount: Mount | undefined;
  afterEach(async () => {
    await mount?.close();
  });

  it('keeps its selector through an update that does not include it', async () => {
    mount = await openEmbeddedMount();
    const selector = '{"matchLabels":{"team":"payments"}}';
    await mount.write('/auth/cluster/role/payments-api', {
      bound_service_account_names: ['api'],
      bound_service_account_namespace_selector: selector,
    });
    const was = await kind.readOne(mount.session, role().address);
    const declared = declare(kind, 'payments-api', { boundServiceAccountNames: ['api'], tokenTtl: '1h' });
    const { change, context } = draftChange(kind, declared, was);
    for (const call of kind.calls(change, context).calls) expect((await mount.send(call)).status).toBe(204);
    const is = await kind.readOne(mount.session, role().address);
    expect(is?.spec).toMatchObject({ boundServiceAccountNamespaceSelector: selector, tokenTtl: 3600 });
  });
});
