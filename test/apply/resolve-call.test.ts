import { describe, expect, it } from 'vitest';
import { resolveCall } from '../../src/apply/send-call.ts';
import { type Call, IdReference, SecretReference } from '../../src/model/call.ts';
import { readAddress } from '../../src/model/address.ts';

const call: Call = {
  id: 'Door/acme/front#write',
  target: 'acme',
  method: 'POST',
  path: ['doors'],
  order: 0,
  needs: [],
  success: [200],
  repeatable: true,
};

const ids: Readonly<Record<string, string>> = { 'House/acme/home': 'house/1' };

function resolve(about: Partial<Call>) {
  return resolveCall(
    { ...call, ...about },
    {
      idOf: (address) => ids[address],
      readSecret: async (source) =>
        'env' in source ? `value of ${source.env}` : `content of ${source.file}`,
    },
  );
}

describe('a path', () => {
  it('has its segments, each encoded separately', async () => {
    const { path } = await resolve({ path: ['auth', 'team', 'a/b c?'] });
    expect(path).toBe('/auth/team/a%2Fb%20c%3F');
  });

  it('has ids in place of their references', async () => {
    const { path } = await resolve({
      path: ['houses', new IdReference(readAddress('House/acme/home')), 'doors'],
    });
    expect(path).toBe('/houses/house%2F1/doors');
  });
});

describe('a body', () => {
  it('has ids and secrets in place of their references, at any depth', async () => {
    const request = await resolve({
      body: {
        data: [{ id: new IdReference(readAddress('House/acme/home')) }, 'plain', null, 3],
        lock: { code: new SecretReference({ env: 'CODE' }), key: new SecretReference({ file: 'key.pem' }) },
      },
    });
    expect(request.body).toEqual({
      data: [{ id: 'house/1' }, 'plain', null, 3],
      lock: { code: 'value of CODE', key: 'content of key.pem' },
    });
  });

  it('lists the values that no message may show', async () => {
    const body = { code: new SecretReference({ env: 'CODE' }) };
    expect(await resolve({ body })).toMatchObject({ secrets: ['value of CODE'] });
  });

  it('stays missing if the call has none', async () => {
    expect(await resolve({})).toEqual({ method: 'POST', path: '/doors', repeatable: true });
  });
});

it('an unknown id is an error that names the resource', async () => {
  await expect(resolve({ path: [new IdReference(readAddress('House/acme/nowhere'))] })).rejects.toThrow(
    'no id is known for House/acme/nowhere',
  );
});
