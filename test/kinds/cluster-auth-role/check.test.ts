import { describe, expect, it } from 'vitest';
import { clusterAuthRole as kind } from '../../../src/kinds/cluster-auth-role/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare } from '../../support/services/cluster-auth/declare.ts';
import { knownDialect } from '../../support/kinds/known-dialect.ts';

const good: Spec = {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'vault',
};
const others = {
  declared: () => undefined,
  target: { name: 'prod', service: 'cluster-auth' as const, url: 'embedded', dialect: 'neutral' },
  dialect: knownDialect('cluster-auth'),
};

function findings(spec: Spec, dialect = others.dialect) {
  const all = kind.check?.(declare(kind, 'r', { ...good, ...spec }), { ...others, dialect }) ?? [];
  return all.map(({ severity, code, path }) => [severity, code, path.join('.')].join(' '));
}

const selector = '{"matchLabels":{"team":"payments"}}';

const refused: readonly [title: string, spec: Spec, findings: string[]][] = [
  [
    'an empty list of service accounts',
    { boundServiceAccountNames: [] },
    ['error empty-names boundServiceAccountNames'],
  ],
  [
    'no namespace and no selector',
    { boundServiceAccountNamespaces: [] },
    ['error empty-namespaces boundServiceAccountNamespaces'],
  ],
  [
    '"*" among names',
    { boundServiceAccountNames: ['a', '*'] },
    ['error mixed-wildcard boundServiceAccountNames.1'],
  ],
  [
    '"*" among namespaces',
    { boundServiceAccountNamespaces: ['*', 'a'] },
    ['error mixed-wildcard boundServiceAccountNamespaces.0'],
  ],
  [
    'a TTL over its maximum, however written',
    { tokenTtl: '2h', tokenMaxTtl: 3600 },
    ['error ttl-over-maximum tokenTtl'],
  ],
  ['periodic batch tokens', { tokenType: 'batch', tokenPeriod: '1h' }, ['error batch-periodic tokenType']],
  ['counted batch tokens', { tokenType: 'batch', tokenNumUses: 1 }, ['error batch-counted tokenType']],
  ['text that is not a duration', { tokenTtl: '1 hour' }, ['error invalid-duration tokenTtl']],
  ['a duration in weeks', { tokenPeriod: '1w' }, ['error invalid-duration tokenPeriod']],
  ['a negative duration', { tokenMaxTtl: '-5' }, ['error invalid-duration tokenMaxTtl']],
  [
    'a duration that truncates to 0, which means no limit',
    { tokenExplicitMaxTtl: '500ms' },
    ['error duration-below-second tokenExplicitMaxTtl'],
  ],
  ['an invalid address', { tokenBoundCidrs: ['10.0.0.0', 'ten'] }, ['error invalid-cidr tokenBoundCidrs.1']],
  [
    'an IPv4 block as IPv6 that the service would take for another block',
    { tokenBoundCidrs: ['10.0.0.0/8', '::ffff:10.0.0.0/90'] },
    ['error invalid-cidr tokenBoundCidrs.1'],
  ],
  ['an invalid port', { tokenBoundCidrs: '10.0.0.1:65536' }, ['error invalid-cidr tokenBoundCidrs']],
  [
    'more seconds than 64 bits hold',
    { tokenMaxTtl: 9_223_372_037 },
    ['error duration-out-of-range tokenMaxTtl'],
  ],
  ['more days than 64 bits hold', { tokenPeriod: '106752d' }, ['error duration-out-of-range tokenPeriod']],
  ['more hours than 64 bits hold', { tokenTtl: '2562048h' }, ['error duration-out-of-range tokenTtl']],
  ['a prefix that is too long', { tokenBoundCidrs: '10.0.0.0/99' }, ['error invalid-cidr tokenBoundCidrs']],
  ['an IPv6 prefix on IPv4', { tokenBoundCidrs: ['10.0.0.0/120'] }, ['error invalid-cidr tokenBoundCidrs.0']],
  [
    'a selector as key=value',
    { boundServiceAccountNamespaceSelector: 'team=payments' },
    ['error invalid-selector boundServiceAccountNamespaceSelector'],
  ],
  [
    'a selector with expressions',
    { boundServiceAccountNamespaceSelector: 'matchExpressions: [{key: a, operator: Exists}]' },
    ['error invalid-selector boundServiceAccountNamespaceSelector'],
  ],
  ...(
    [
      ['with a misspelt member', '{"matchLabel":{"team":"payments"}}'],
      ['with a member in capitals', '{"MATCHLABELS":{"team":"payments"}}'],
      ['with an unknown member beside its labels', '{"matchLabels":{"team":"payments"},"teams":[]}'],
      ['whose label is a list', 'matchLabels: {tier: [1]}'],
      ['whose labels are a list', 'matchLabels: [team]'],
      ['of two documents', 'matchLabels: {team: payments}\n---\nmatchLabels: {}\n'],
      ['of a comment and a document', '# ours\n---\nmatchLabels: {team: payments}\n'],
      ['that is a list', '[]'],
      ['that is truncated', '{"matchLabels":'],
    ] as const
  ).map(([title, boundServiceAccountNamespaceSelector]): [string, Spec, string[]] => [
    `a selector ${title}`,
    { boundServiceAccountNamespaceSelector },
    ['error invalid-selector boundServiceAccountNamespaceSelector'],
  ]),
  ['policies under both names', { policies: ['a'], tokenPolicies: ['b'] }, ['error policies-twice policies']],
];

const warned: readonly [title: string, spec: Spec, findings: string[]][] = [
  ['a blank audience', { audience: '' }, ['warning blank-audience audience']],
  ['a null audience', { audience: null }, ['warning blank-audience audience']],
  [
    'every account of every namespace',
    { boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'] },
    ['warning open-role boundServiceAccountNames'],
  ],
  ...['{}', '{"matchLabels":{}}', '{"matchLabels":null}', 'null', '~', '  ', '# nothing', '---\n'].map(
    (boundServiceAccountNamespaceSelector): [string, Spec, string[]] => [
      `a selector without labels: ${JSON.stringify(boundServiceAccountNamespaceSelector)}`,
      { boundServiceAccountNamespaceSelector },
      ['warning open-selector boundServiceAccountNamespaceSelector'],
    ],
  ),
];

const names: readonly [title: string, pattern: string, account: boolean, namespace: boolean][] = [
  ['a DNS label', 'ci-1', true, true],
  ['dots', 'ci.web', true, false],
  ['upper case', 'Web', false, false],
  ['an underscore', 'ci_web', false, false],
  ['a hyphen at the end', 'web-', false, false],
  ['an empty label', 'web..api', false, false],
  ['white space only', ' ', false, false],
  ['several names in one', 'web,api', false, false],
  ['64 characters', 'a'.repeat(64), true, false],
  ['254 characters', `${'a'.repeat(60)}.`.repeat(4) + 'a'.repeat(10), false, false],
  ['a glob', 'web-*', true, true],
  ['a glob of both ends', '*-web-*', true, true],
  ['a glob in upper case', 'CI-*', false, false],
  ['a glob that begins with a hyphen', '-web*', false, false],
  ['two stars', 'a**', true, true],
];

const accepted: readonly [title: string, spec: Spec][] = [
  ['globs among names', { boundServiceAccountNames: ['ci-*', 'api'] }],
  [
    'a selector in JSON instead of namespaces',
    { boundServiceAccountNamespaces: [], boundServiceAccountNamespaceSelector: selector },
  ],
  ['a selector whose label is a number', { boundServiceAccountNamespaceSelector: 'matchLabels: {tier: 1}' }],
  ['no selector by the empty text', { boundServiceAccountNamespaceSelector: '' }],
  ['no selector by null', { boundServiceAccountNamespaceSelector: null }],
  ['a selector in YAML', { boundServiceAccountNamespaceSelector: 'matchLabels:\n  team: payments\n' }],
  ['a TTL equal to its maximum', { tokenTtl: '60m', tokenMaxTtl: '1h' }],
  ['a TTL without a maximum', { tokenTtl: '60m', tokenMaxTtl: 0 }],
  [
    'every spelling of a duration',
    { tokenTtl: 60, tokenMaxTtl: '7d', tokenExplicitMaxTtl: '1.5h', tokenPeriod: '' },
  ],
  ['microseconds with the Greek letter', { tokenTtl: '2000000\u03bcs' }],
  ['an IPv4 block as IPv6', { tokenBoundCidrs: ['::ffff:10.0.0.0/104', '::ffff:10.0.0.1'] }],
  [
    'addresses, blocks and ports',
    { tokenBoundCidrs: ['10.0.0.1', '10.0.0.1/24', '::1', 'fd00::/8', '10.0.0.1:80', '[::1]:80'] },
  ],
  [
    'batch tokens that are neither periodic nor counted',
    { tokenType: 'batch', tokenPeriod: 0, tokenNumUses: null },
  ],
];

describe('Validating a role', () => {
  it.each(refused)('refuses %s', (_, spec, expected) => expect(findings(spec)).toEqual(expected));
  it.each(warned)('warns of %s', (_, spec, expected) => expect(findings(spec)).toEqual(expected));
  it.each(accepted)('accepts %s', (_, spec) => expect(findings(spec)).toEqual([]));

  it('points at the document when it has no namespaces', () => {
    const { boundServiceAccountNamespaces: _, ...rest } = good;
    expect(kind.check?.(declare(kind, 'r', rest), others)).toMatchObject([
      { code: 'empty-namespaces', path: [] },
    ]);
  });

  it('reports nothing for a removal request', () => {
    expect(kind.check?.(declare(kind, 'r', {}, { remove: 'safe' }), others)).toEqual([]);
  });
});

describe('A name that is impossible in a cluster', () => {
  it.each(names)('%s', (_, pattern, account, namespace) => {
    const found = findings({
      boundServiceAccountNames: [pattern, 'api'],
      boundServiceAccountNamespaces: ['payments', pattern],
    });
    expect(found).toEqual([
      ...(account ? [] : ['warning impossible-name boundServiceAccountNames.0']),
      ...(namespace ? [] : ['warning impossible-name boundServiceAccountNamespaces.1']),
    ]);
  });

  it.each([
    ['a value', '{"matchLabels":{"team":"pay ments"}}'],
    ['a key', 'matchLabels: {-team: a}'],
    ['a key with two prefixes', 'matchLabels: {a/b/c: a}'],
    ['a value with half of a surrogate pair', '{"matchLabels":{"team":"\\ud800"}}'],
  ])('may be in a label of the selector: %s', (_, boundServiceAccountNamespaceSelector) => {
    expect(findings({ boundServiceAccountNamespaceSelector })).toEqual([
      'warning impossible-name boundServiceAccountNamespaceSelector',
    ]);
  });

  it('does not include a label with a prefix or without a value', () => {
    const labels = 'matchLabels: { example.com/Team_1: "", tier: 1 }';
    expect(findings({ boundServiceAccountNamespaceSelector: labels })).toEqual([]);
  });
});

describe('Upgrading a role', () => {
  it('moves the deprecated policies to tokenPolicies, normalized like in the service', () => {
    expect(kind.upgrade?.({ ...good, policies: ' Dev ,prod' })).toEqual({
      ...good,
      tokenPolicies: ['dev', 'prod'],
    });
    expect(kind.upgrade?.({ policies: ['a', 'Root'] })).toEqual({ tokenPolicies: ['root'] });
    expect(kind.upgrade?.({ policies: null })).toEqual({ tokenPolicies: null });
  });

  it('leaves both names alone when both are set, because validation refuses them', () => {
    const both: Spec = { policies: ['a'], tokenPolicies: ['b'] };
    expect(kind.upgrade?.(both)).toEqual(both);
  });
});

describe('The name of a role', () => {
  it.each(['a', 'payments-api', 'Payments.API_2'])('may be "%s"', (name) =>
    expect(kind.names.pattern.test(name)).toBe(true),
  );
  it.each(['', '-a', 'a.', 'a/b', 'a b', 'ä'])('may not be "%s"', (name) =>
    expect(kind.names.pattern.test(name)).toBe(false),
  );
  it('is kept in lower case', () => expect(kind.names.fold?.('Payments-API')).toBe('payments-api'));
});

describe('A check that depends on the dialect', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `account-${index}`);
  it.each<[dialect: string, title: string, spec: Spec, findings: string[]]>([
    ['openbao', 'a strict binding', { tokenStrictlyBindIp: true }, []],
    [
      'openbao',
      'a strict binding beside addresses',
      { tokenStrictlyBindIp: true, tokenBoundCidrs: '10.0.0.1' },
      ['error two-bindings tokenStrictlyBindIp'],
    ],
    [
      'vault',
      'a strict binding',
      { tokenStrictlyBindIp: true },
      ['error not-in-dialect tokenStrictlyBindIp'],
    ],
    [
      'neutral',
      'a strict binding beside the defaults of a role',
      { tokenStrictlyBindIp: true },
      ['error not-in-dialect tokenStrictlyBindIp'],
    ],
    ['openbao', 'a thousand names', { boundServiceAccountNames: names }, ['error too-many-texts']],
    ['openbao', 'nine hundred names', { boundServiceAccountNames: names.slice(100) }, []],
    ['vault', 'a thousand names', { boundServiceAccountNames: names }, []],
  ])('is made like %s makes it: %s', (dialect, _, spec, expected) => {
    const found = findings(spec, knownDialect('cluster-auth', dialect)).map((line) => line.trim());
    expect(found).toEqual(expected);
  });
});
