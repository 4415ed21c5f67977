// Which account a JWT is for: the flat claims of JWTs from secrets, and the object of projected ones (wire/cluster-auth 3).
import { describe, expect, it } from 'vitest';
import { readServiceAccount } from '../../../src/commands/role-check/claims.ts';

const flat = {
  'kubernetes.io/serviceaccount/namespace': 'orders',
  'kubernetes.io/serviceaccount/service-account.name': 'worker',
  'kubernetes.io/serviceaccount/service-account.uid': 'flat-uid',
};

const nested = {
  namespace: 'payments',
  pod: { name: 'app-1', uid: 'pod-uid' },
  serviceaccount: { name: 'app', uid: 'nested-uid' },
};

describe('the account of a JWT', () => {
  it('is read from flat claims, or from one object, which takes precedence', () => {
    const worker = { namespace: 'orders', name: 'worker', uid: 'flat-uid' };
    const app = { namespace: 'payments', name: 'app', uid: 'nested-uid' };
    expect(readServiceAccount(flat)).toEqual({ account: worker });
    expect(readServiceAccount({ 'kubernetes.io': nested })).toEqual({ account: app });
    expect(readServiceAccount({ ...flat, 'kubernetes.io': nested })).toEqual({ account: app });
    expect(readServiceAccount({ ...flat, 'kubernetes.io': { namespace: 'payments' } })).toEqual({
      account: { ...worker, namespace: 'payments' },
    });
  });

  it('is empty if the claims are missing', () => {
    const account = { namespace: '', name: '', uid: '' };
    expect(readServiceAccount({})).toEqual({ account });
    expect(readServiceAccount({ 'kubernetes.io': null, aud: null })).toEqual({ account });
  });

  it.each<[object, string]>([
    [{ 'kubernetes.io': 'text' }, 'the claim "kubernetes.io" is not an object'],
    [
      { 'kubernetes.io': { serviceaccount: { name: 1 } } },
      'the claim "kubernetes.io.serviceaccount.name" is not a text',
    ],
    [{ 'kubernetes.io': { pod: [] } }, 'the claim "kubernetes.io.pod" is not an object'],
    [{ aud: 'vault' }, 'the claim "aud" is not a list'],
  ])('cannot be read from %j', (claims, problem) => {
    expect(readServiceAccount({ ...claims })).toEqual({ problem });
  });
});
