// Each rule of a role with its error text, over HTTP, and the order of the checks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { errorOf, type ServedMount, serveMount } from '../../support/server/cluster-auth/serve-mount.ts';

const WEB = { bound_service_account_names: ['web'], bound_service_account_namespaces: ['shop'] };

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
});
afterAll(() => mount.close());

const statusOf = async (fields: object): Promise<number> =>
  (await mount.send('POST', 'cluster/role/tried', { ...WEB, ...fields })).status;

/** The text with which a role is refused; the fields are written to a role that does not exist yet. */
async function refusal(fields: object): Promise<string | undefined> {
  await mount.send('DELETE', 'cluster/role/tried');
  const { status, errors } = errorOf(await mount.send('POST', 'cluster/role/tried', { ...WEB, ...fields }));
  expect(status).toBe(400);
  expect(errors).toHaveLength(1);
  return errors[0];
}

describe('token fields', () => {
  it('refuse an invalid CIDR block', async () => {
    expect(await refusal({ token_bound_cidrs: ['nowhere'] })).toMatch(/^error parsing address "nowhere": /);
    expect(await refusal({ bound_cidrs: ['nowhere'] })).toMatch(/^error parsing address "nowhere": /);
  });

  it('accept the token types default, service and batch', async () => {
    for (const token_type of ['default', 'service', 'batch', ''])
      expect(await statusOf({ token_type })).toBe(204);
    for (const token_type of ['default-service', 'default-batch', 'Batch']) {
      expect(await refusal({ token_type })).toBe(`invalid 'token_type' value "${token_type}"`);
    }
  });

  it('refuse a negative number of uses', async () => {
    expect(await refusal({ token_num_uses: -1 })).toBe("'token_num_uses' cannot be negative");
  });

  it('refuse periodic batch tokens', async () => {
    expect(await refusal({ token_type: 'batch', token_period: '1h' })).toBe(
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
    );
  });

  it('refuse batch tokens with limited uses', async () => {
    expect(await refusal({ token_type: 'batch', token_num_uses: 1 })).toBe(
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
    );
  });

  it('refuse a lifetime above the maximum, but not one equal to it or without one', async () => {
    expect(await refusal({ token_ttl: '2h', token_max_ttl: '1h' })).toBe(
      "'token_ttl' cannot be greater than 'token_max_ttl'",
    );
    expect(await statusOf({ token_ttl: '1h', token_max_ttl: '1h' })).toBe(204);
    expect(await statusOf({ token_ttl: '1h', token_max_ttl: 0 })).toBe(204);
  });

  it('have another error for lifetimes under their deprecated names', async () => {
    expect(await refusal({ ttl: '2h', max_ttl: '1h' })).toBe(
      'token ttl should not be greater than token max ttl',
    );
  });

  it('accept a lifetime above the explicit maximum', async () => {
    expect(await statusOf({ token_ttl: '2h', token_explicit_max_ttl: '1h' })).toBe(204);
  });

  it('refuse a period above the maximum of the mount', async () => {
    expect(await refusal({ token_period: '100000h' })).toBe(
      `token period of '"100000h0m0s"' is greater than the backend's maximum lease TTL of '"768h0m0s"'`,
    );
    expect(await statusOf({ token_period: '768h' })).toBe(204);
  });
});

describe('bound service accounts', () => {
  it('require names', async () => {
    const text = '"bound_service_account_names" can not be empty';
    expect(await refusal({ bound_service_account_names: [] })).toBe(text);
    expect(await refusal({ bound_service_account_names: null })).toBe(text);
  });

  it('require namespaces or a selector', async () => {
    const text =
      '"bound_service_account_namespaces" can not be empty if "bound_service_account_namespace_selector" is not set';
    expect(await refusal({ bound_service_account_namespaces: '' })).toBe(text);
    expect(
      await refusal({ bound_service_account_namespaces: [], bound_service_account_namespace_selector: '' }),
    ).toBe(text);
  });

  it('accept "*" alone, also in both fields, and globs beside names', async () => {
    expect(await statusOf({ bound_service_account_names: '*', bound_service_account_namespaces: '*' })).toBe(
      204,
    );
    expect(await statusOf({ bound_service_account_names: 'web-*,api' })).toBe(204);
  });

  it('refuse "*" beside other values', async () => {
    const text = 'can not mix "*" with values';
    expect(await refusal({ bound_service_account_names: 'web,*' })).toBe(text);
    expect(await refusal({ bound_service_account_namespaces: ['*', 'shop'] })).toBe(text);
  });
});

describe('the namespace selector', () => {
  const only = (selector: string) => ({
    bound_service_account_namespaces: [],
    bound_service_account_namespace_selector: selector,
  });

  it('is JSON or YAML with matchLabels', async () => {
    for (const selector of [
      '{"matchLabels":{"a":"b"}}',
      'matchLabels:\n  a: b\n',
      '{}',
      '{"matchExpressions":null}',
      '{"MATCHLABELS":{"a":"b"}}',
      'unknown: member',
      '{"matchLabels":{"a":1,"b":true,"c":null}}',
      '{"matchLabels":{}} and more',
      '{\t"matchLabels":\t{}}',
      'matchLabels: {a: b}\n---\nmatchExpressions: [{key: a, operator: Exists}]\n',
      '# nothing but a comment',
      'null',
      ' ',
    ]) {
      expect(await statusOf(only(selector)), selector).toBe(204);
    }
  });

  it('is refused in any other form', async () => {
    for (const selector of [
      'team=shop',
      '{"matchLabels":',
      '["a"]',
      '{"matchLabels":["a"]}',
      '{"matchExpressions":[{"key":"a","operator":"Exists"}]}',
      '{"matchExpressions":[]}',
      '{"MatchExpressions":[]}',
      '{"matchLabels":{"a":["b"]}}',
      '5',
    ]) {
      expect(await refusal(only(selector)), selector).toBe(
        'invalid "bound_service_account_namespace_selector" configured',
      );
    }
  });
});

describe('the alias name source', () => {
  const text = 'invalid alias_name_source, must be one of: serviceaccount_uid, serviceaccount_name';

  it('is serviceaccount_uid or serviceaccount_name', async () => {
    for (const source of ['serviceaccount_uid', 'serviceaccount_name']) {
      expect(await statusOf({ alias_name_source: source })).toBe(204);
    }
    expect(await refusal({ alias_name_source: 'uid' })).toBe(text);
  });

  it('may be empty on a new role only', async () => {
    await mount.send('DELETE', 'cluster/role/alias');
    const empty = () => mount.send('POST', 'cluster/role/alias', { ...WEB, alias_name_source: '' });
    expect((await empty()).status).toBe(204);
    expect(errorOf(await empty())).toEqual({ status: 400, errors: [text] });
  });
});

describe('the order of the checks', () => {
  it('is conversion, token fields, service accounts, wildcards and alias name source', async () => {
    const wrong = {
      token_ttl: 'soon',
      token_bound_cidrs: 'nowhere',
      token_type: 'bad',
      token_num_uses: -1,
      token_period: '100000h',
      bound_service_account_names: [],
      bound_service_account_namespaces: ['*', 'a'],
      bound_service_account_namespace_selector: 'a=b',
      alias_name_source: 'bad',
    };
    const texts: (string | undefined)[] = [];
    const repairs = [
      { token_ttl: 1 },
      { token_bound_cidrs: [] },
      { token_type: 'service' },
      { token_num_uses: 0 },
      { token_period: 0 },
      { bound_service_account_names: 'web' },
      { bound_service_account_namespace_selector: '' },
      { bound_service_account_namespaces: 'shop' },
    ];
    let fields: object = wrong;
    for (const repair of [{}, ...repairs]) {
      fields = { ...fields, ...repair };
      texts.push((await refusal(fields))?.slice(0, 42));
    }
    expect(texts).toEqual([
      'error converting input for field "token_ttl": could not'.slice(0, 42),
      'error parsing address "nowhere": Unable to convert'.slice(0, 42),
      `invalid 'token_type' value "bad"`,
      "'token_num_uses' cannot be negative",
      `token period of '"100000h0m0s"' is greater than`.slice(0, 42),
      '"bound_service_account_names" can not be empty'.slice(0, 42),
      'invalid "bound_service_account_namespace_selector"'.slice(0, 42),
      'can not mix "*" with values',
      'invalid alias_name_source, must be one of: service'.slice(0, 42),
    ]);
  });
});
