// Which accounts a role admits, and what the cluster needs to confirm them (wire/cluster-auth 3).
import { describe, expect, it } from 'vitest';
import {
  checkAddress,
  checkAlias,
  checkName,
  checkNamespace,
  checkPolicies,
  checkReview,
} from '../../../src/commands/role-check/checks.ts';
import { checkedConfig, checkedRole } from '../../../src/commands/role-check/rules.ts';

const account = { name: 'web-1', namespace: 'payments', uid: 'a-uid' };

function roleWith(spec: Parameters<typeof checkedRole>[0]) {
  return checkedRole({ boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'], ...spec }, {});
}

function configWith(
  spec: Partial<Parameters<typeof checkedConfig>[0]> = {},
  hasReviewerJwt?: boolean | null,
) {
  const config = checkedConfig(
    { clusterHost: 'https://c', ...spec },
    {},
    hasReviewerJwt === undefined ? undefined : { hasReviewerJwt, usesAnnotations: false },
  );
  return { is: 'known', config } as const;
}

describe('the name of an account', () => {
  it.each<[string[], 'passed' | 'failed']>([
    [['*'], 'passed'],
    [['api', 'web-1'], 'passed'],
    [['web-*'], 'passed'],
    [['*-1'], 'passed'],
    [['w*b*1'], 'passed'],
    [['*web-1*'], 'passed'],
    [['web-?'], 'failed'],
    [['WEB-1'], 'failed'],
    [['web'], 'failed'],
    [['web-1*1'], 'failed'],
    [['[w]eb-1'], 'failed'],
  ])('is matched by %j', (boundServiceAccountNames, result) => {
    expect(checkName(account, roleWith({ boundServiceAccountNames }))).toMatchObject({ result });
  });
});

describe('the namespace of an account', () => {
  const selector = '{"matchLabels":{"team":"payments"}}';
  const byLabels = roleWith({
    boundServiceAccountNamespaces: ['other'],
    boundServiceAccountNamespaceSelector: selector,
  });

  it('is admitted if it is listed, even with a selector that does not match', () => {
    const role = roleWith({
      boundServiceAccountNamespaces: ['pay*'],
      boundServiceAccountNamespaceSelector: selector,
    });
    expect(checkNamespace(account, { role, config: configWith() })).toMatchObject({ result: 'passed' });
  });

  it('is refused if it is not listed and there is no selector', () => {
    const role = roleWith({ boundServiceAccountNamespaces: ['other'] });
    expect(checkNamespace(account, { role, config: configWith() })).toMatchObject({
      result: 'failed',
      field: { of: 'role', name: 'boundServiceAccountNamespaces' },
    });
  });

  it.each<[string, ReturnType<typeof configWith>, 'open' | 'failed']>([
    ['with a reviewer JWT', configWith({ disableLocalCaJwt: true }, true), 'open'],
    ['with the JWT of its own pod, perhaps', configWith({}, false), 'open'],
    ['with a JWT that the service does not show', configWith({ disableLocalCaJwt: true }, null), 'open'],
    ['with no JWT', configWith({ disableLocalCaJwt: true }, false), 'failed'],
    [
      'with a JWT that is declared',
      configWith({ disableLocalCaJwt: true, tokenReviewerJwt: { env: 'A' } }),
      'open',
    ],
  ])('is checked for a selector %s', (_, config, result) => {
    expect(checkNamespace(account, { role: byLabels, config })).toMatchObject({ result });
  });
});

describe('the address of a client', () => {
  const role = roleWith({ tokenBoundCidrs: ['10.0.0.0/8', '192.0.2.7', '10.0.0.0/99'] });

  it.each<[string, 'passed' | 'failed']>([
    ['10.200.0.1', 'passed'],
    ['192.0.2.7', 'passed'],
    ['192.0.2.8', 'failed'],
    ['::1', 'failed'],
  ])('%s is compared with the addresses of the role', (from, result) => {
    expect(checkAddress(role, from)).toMatchObject({ result });
  });
});

describe('the identity of an account', () => {
  it.each<[string, Partial<typeof account>, 'passed' | 'failed']>([
    ['serviceaccount_uid', {}, 'passed'],
    ['serviceaccount_uid', { uid: '' }, 'failed'],
    ['serviceaccount_name', { uid: '' }, 'passed'],
    ['serviceaccount_name', { namespace: '' }, 'failed'],
  ])('by %s, of an account with %j', (aliasNameSource, lacking, result) => {
    const role = roleWith({ aliasNameSource });
    expect(checkAlias({ ...account, ...lacking }, role)).toMatchObject({ result });
  });
});

describe('the cluster', () => {
  it('is asked only if the address of its host is valid', () => {
    expect(checkReview(account, configWith())).toMatchObject({ result: 'open' });
    expect(checkReview(account, configWith({ clusterHost: 'cluster:6443' }))).toMatchObject({
      result: 'failed',
      fix: 'set "clusterHost" of the config to "https://cluster:6443"',
    });
  });

  it('cannot confirm an account without name, namespace and UID', () => {
    const { result, message } = checkReview({ ...account, uid: '', namespace: '' }, configWith());
    expect(result).toBe('failed');
    expect(message).toContain('the JWT has no namespace, no uid');
  });
});

describe('the policies of a role', () => {
  it.each<[string[], 'passed' | 'failed']>([
    [[], 'passed'],
    [['rooted'], 'passed'],
    [['web', ' Root'], 'failed'],
  ])('%j are checked', (tokenPolicies, result) => {
    expect(checkPolicies(roleWith({ tokenPolicies }))).toMatchObject({ result });
  });
});
