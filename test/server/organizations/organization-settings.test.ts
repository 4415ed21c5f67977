// Settings of an organization that clients of the dialect `hcp-terraform` set and read, and that have no effect here.
import { describe, expect, it } from 'vitest';

import { serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

function serve(): Promise<TestClient> {
  return serveForTest({ dialects: ['hcp-terraform'] });
}

describe('settings of an organization', () => {
  const FLAG = 'cost-estimation-enabled';

  it('are stored and returned, but have no effect', async () => {
    const api = await serve();
    const shown = async () => (await api.get('/organizations/acme')).resource.attributes;
    expect(await shown()).toMatchObject({
      [FLAG]: false,
      'stacks-enabled': false,
      'user-tokens-enabled': true,
    });
    const body = (attributes: object) => ({ data: { type: 'organizations', attributes } });
    const set = await api.patch('/organizations/acme', body({ [FLAG]: true, 'user-tokens-enabled': false }));
    expect(set.resource.attributes).toMatchObject({ [FLAG]: true, 'user-tokens-enabled': false });
    await api.patch('/organizations/acme', body({ 'stacks-enabled': true }));
    expect(await shown()).toMatchObject({
      [FLAG]: true,
      'stacks-enabled': true,
      'user-tokens-enabled': false,
    });
    const made = await api.post('/organizations', body({ name: 'new-co', [FLAG]: true }));
    expect(made.resource.attributes).toMatchObject({ [FLAG]: true });
    expect((await api.patch('/organizations/acme', body({ [FLAG]: 'yes' }))).pointers).toEqual([
      `/data/attributes/${FLAG}`,
    ]);
  });

  it('have the values that Terraform expects of a new organization', async () => {
    const api = await serve();
    const body = { data: { type: 'organizations', attributes: { name: 'new-co', email: 'a@example.com' } } };
    const made = await api.post('/organizations', body);
    const expected = {
      'collaborator-auth-policy': 'password',
      'two-factor-conformant': false,
      'session-timeout': null,
      'session-remember': null,
      'owners-team-saml-role-id': null,
      'remaining-testable-count': 5,
    };
    expect(made.resource.attributes).toMatchObject(expected);
    expect((await api.get('/organizations/new-co')).resource.attributes).toMatchObject(expected);
  });

  it('with a policy or a number of minutes are stored, and other values are refused', async () => {
    const api = await serve();
    const patch = (attributes: object) =>
      api.patch('/organizations/acme', { data: { type: 'organizations', attributes } });
    const set = {
      'collaborator-auth-policy': 'two_factor_mandatory',
      'session-timeout': 20160,
      'session-remember': 60,
      'owners-team-saml-role-id': 'owners',
    };
    await patch(set);
    await patch({ 'session-remember': null, 'two-factor-conformant': true });
    expect((await api.get('/organizations/acme')).resource.attributes).toMatchObject({
      ...set,
      'session-remember': null,
      'two-factor-conformant': false,
    });
    for (const wrong of [{ 'collaborator-auth-policy': 'none' }, { 'session-timeout': -1 }]) {
      expect((await patch(wrong)).pointers).toEqual([`/data/attributes/${Object.keys(wrong)[0]}`]);
    }
  });

  it('exist only in this dialect', async () => {
    const api = await serveForTest();
    expect((await api.get('/organizations/acme')).resource.attributes).not.toHaveProperty(FLAG);
  });
});
