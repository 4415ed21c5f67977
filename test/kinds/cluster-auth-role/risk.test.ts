import { describe, expect, it } from 'vitest';
import { similarity, risk } from '../../../src/kinds/cluster-auth-role/risk.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { isNarrowing } from '../../../src/model/guard.ts';

const base: Spec = { boundServiceAccountNames: ['api'], boundServiceAccountNamespaces: ['payments'] };
const effects = (before: Spec, after: Spec) =>
  risk({ ...base, ...before }, { ...base, ...after }).map(
    ({ path, effect }) => `${effect} ${path.join('.')}`,
  );
const guards = (before: Spec | undefined, after: Spec) =>
  risk(before === undefined ? undefined : { ...base, ...before }, { ...base, ...after }).flatMap(
    ({ guard }) => guard ?? [],
  );

/** Each pair narrows from the first to the second and widens from the second to the first. */
const pairs: readonly [title: string, wide: Spec, narrow: Spec][] = [
  ['a service account', { boundServiceAccountNames: ['api', 'web'] }, {}],
  ['a namespace', { boundServiceAccountNamespaces: ['payments', 'billing'] }, {}],
  ['a wildcard', { boundServiceAccountNames: ['*'] }, { boundServiceAccountNames: ['api', 'web'] }],
  [
    'a glob over what it matches',
    { boundServiceAccountNames: ['ap*'] },
    { boundServiceAccountNames: ['api', 'app-*'] },
  ],
  ['a selector', { boundServiceAccountNamespaceSelector: '{"matchLabels":{"a":"b"}}' }, {}],
  ['no audience', {}, { audience: 'vault' }],
  ['a policy', { tokenPolicies: ['read', 'write'] }, { tokenPolicies: ['read'] }],
  ['the default policy', { tokenNoDefaultPolicy: false }, { tokenNoDefaultPolicy: true }],
  ['any address', {}, { tokenBoundCidrs: ['10.0.0.0/8'] }],
  ['a wider block', { tokenBoundCidrs: ['10.0.0.0/8'] }, { tokenBoundCidrs: ['10.1.0.0/16', '10.2.3.4'] }],
  ['a longer lifetime', { tokenTtl: '2h' }, { tokenTtl: '1h' }],
  ['no limit of lifetime', { tokenMaxTtl: 0 }, { tokenMaxTtl: '30d' }],
  ['no hard cap', {}, { tokenExplicitMaxTtl: 60 }],
  ['no limit of uses', {}, { tokenNumUses: 5 }],
  ['a period', { tokenPeriod: '1h' }, {}],
  ['a longer period', { tokenPeriod: '2h' }, { tokenPeriod: '1h' }],
];

describe('The risk of changing a role', () => {
  it.each(pairs)('is wider with %s, and narrower without', (_, wide, narrow) => {
    expect(isNarrowing(risk({ ...base, ...wide }, { ...base, ...narrow }))).toBe(true);
    expect(effects(narrow, wide).some((effect) => effect.startsWith('widens'))).toBe(true);
    expect(isNarrowing(risk({ ...base, ...narrow }, { ...base, ...wide }))).toBe(false);
  });

  it('is both if one value replaces another', () => {
    expect(effects({ audience: 'a' }, { audience: 'b' }).toSorted()).toEqual([
      'narrows audience',
      'widens audience',
    ]);
    expect(effects({ tokenPolicies: ['a'] }, { tokenPolicies: ['b'] }).toSorted()).toEqual([
      'narrows tokenPolicies',
      'widens tokenPolicies',
    ]);
  });

  it('is wider when batch tokens become renewable', () => {
    expect(effects({ tokenType: 'batch' }, { tokenType: 'service' })).toEqual(['widens tokenType']);
  });

  it('is empty if only the spelling changes', () => {
    expect(
      effects(
        { tokenTtl: '1h', tokenBoundCidrs: ['1.2.3.4/32'] },
        { tokenTtl: 3600, tokenBoundCidrs: '1.2.3.4' },
      ),
    ).toEqual([]);
    expect(isNarrowing([])).toBe(false);
  });

  it('triggers guards for a wildcard, a cleared audience and an unlimited lifetime', () => {
    expect(guards({}, { boundServiceAccountNamespaces: ['*'] })).toEqual(['wildcard']);
    expect(guards(undefined, { boundServiceAccountNames: ['*'] })).toEqual(['new-role', 'wildcard']);
    expect(guards(undefined, { boundServiceAccountNames: ['ap*'] })).toEqual(['new-role']);
    expect(guards({ audience: 'vault' }, {})).toEqual(['cleared-audience']);
    expect(guards({ tokenMaxTtl: 60 }, {})).toEqual(['unlimited-lifetime']);
    expect(guards({ tokenExplicitMaxTtl: 60 }, {})).toEqual(['unlimited-lifetime']);
    expect(guards({ tokenTtl: 60 }, {})).toEqual([]);
    expect(guards({}, { tokenPeriod: 60 })).toEqual(['unlimited-lifetime']);
    expect(guards(undefined, { tokenPeriod: 60 })).toEqual(['new-role', 'unlimited-lifetime']);
    expect(guards({ tokenPolicies: ['a'] }, { tokenPolicies: ['a', 'b'] })).toEqual([]);
  });

  it('only narrows for a deleted role, and only widens for a new one', () => {
    expect(isNarrowing(risk(base, undefined))).toBe(true);
    expect(risk(undefined, base).map(({ effect }) => effect)).toEqual(['widens']);
  });

  it.each<[string, Spec | undefined, Spec | undefined, string[]]>([
    [
      'a new role',
      undefined,
      { tokenPolicies: ['read'], tokenTtl: '1h', tokenMaxTtl: '8h' },
      [
        '"api" in "payments" can log in with a JWT for any audience and gets the policies "read", "default" for 1h, at most 8h',
      ],
    ],
    [
      'a deleted role',
      { tokenNoDefaultPolicy: true },
      undefined,
      ['"api" in "payments" can no longer log in, and loses no policy'],
    ],
    [
      'one more namespace',
      {},
      { boundServiceAccountNamespaces: ['payments', 'billing'], tokenPolicies: ['read'] },
      [
        '"api" in "billing" can log in and gets the policies "read", "default"',
        '"api" in "billing", "payments" gains the policy "read"',
      ],
    ],
    [
      'every account',
      {},
      { boundServiceAccountNames: ['**'] },
      ['every service account in "payments" can log in and gets the policy "default"'],
    ],
    [
      'a selector',
      {},
      { boundServiceAccountNamespaceSelector: '{"matchLabels":{"a":"b"}}' },
      ['"api" in the namespaces that its selector matches can log in and gets the policy "default"'],
    ],
    [
      'a longer lifetime',
      { tokenMaxTtl: '1h' },
      { tokenMaxTtl: '2h' },
      ['tokenMaxTtl of tokens of "api" in "payments" grows from 1h to 2h'],
    ],
    [
      'every account in every namespace',
      {},
      { boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'] },
      ['every service account in every namespace can log in and gets the policy "default"'],
    ],
    [
      'a lifetime that is now left to the mount',
      { tokenTtl: '1h' },
      {},
      [
        'tokenTtl of tokens of "api" in "payments" was 1h and becomes what the mount gives, which may be longer',
      ],
    ],
    [
      'a lifetime that was left to the mount',
      { tokenTtl: 0 },
      { tokenTtl: '1h' },
      [
        'tokenTtl of tokens of "api" in "payments" was what the mount gives, which may be shorter, and becomes 1h',
      ],
    ],
    [
      'a removed limit of the role',
      { tokenMaxTtl: '8h' },
      {},
      [`tokenMaxTtl of tokens of "api" in "payments" was 8h and is now limited only by the mount`],
    ],
  ])('has a message for %s that says who gains or loses what', (_, before, after, words) => {
    const withBase = (spec: Spec | undefined) => (spec === undefined ? undefined : { ...base, ...spec });
    expect(risk(withBase(before), withBase(after)).map(({ message }) => message)).toEqual(words);
  });
});

/** Texts of selectors that admit every namespace in the real service. */
const openSelectors = [
  '{}',
  '{"matchLabels":{}}',
  'null',
  '  ',
  '# c',
  '{"matchLabel":{"a":"b"}}',
  '# c\n---\nx: 1\n',
];

it('A lifetime that is not proved shorter does not narrow', () => {
  for (const [before, after] of [
    [{ tokenTtl: '1h' }, {}],
    [{}, { tokenTtl: '1h' }],
  ] as const)
    expect(effects(before, after)).toEqual(['widens tokenTtl']);
});

describe('A selector that admits every namespace', () => {
  const by = (boundServiceAccountNamespaceSelector: string | null, more: Spec = {}): Spec => ({
    boundServiceAccountNamespaceSelector,
    ...more,
  });
  const labels = '{"matchLabels":{"team":"a"}}';
  const messagesOf = (before: Spec, after: Spec) =>
    risk({ ...base, ...before }, { ...base, ...after }).map(({ message }) => message);

  it.each(openSelectors)('is a wildcard, for a new role and for a changed one: %j', (open) => {
    expect(guards(undefined, by(open))).toEqual(['new-role', 'wildcard']);
    for (const before of [by(''), by(labels), by(null)]) {
      expect(guards(before, by(open))).toEqual(['wildcard']);
      expect(effects(before, by(open))).toEqual(['widens boundServiceAccountNamespaceSelector']);
      expect(messagesOf(before, by(open))).toEqual([
        '"api" in every namespace can log in and gets the policy "default"',
      ]);
    }
  });

  it.each(['', null, labels, 'matchLabels: {tier: 1}', '{"MATCHLABELS":{"a":"b"}}'])('is not %j', (text) => {
    expect(guards(undefined, by(text))).toEqual(['new-role']);
    expect(guards({}, by(text))).toEqual([]);
  });

  it.each(openSelectors)('narrows when it is removed, or gets labels: %j', (open) => {
    expect(messagesOf(by(open), by(null))).toEqual([
      'only "api" in "payments" can log in, no longer "api" in every namespace',
    ]);
    expect(messagesOf(by(open), by(labels))).toEqual([
      'only "api" in "payments" and the namespaces that its selector matches can log in, no longer "api" in every namespace',
    ]);
    for (const after of [by(null), by(labels), by('', { boundServiceAccountNamespaces: ['billing'] })])
      expect(isNarrowing(risk({ ...base, ...by(open) }, { ...base, ...after }))).toBe(true);
  });

  it('includes all that a list or another selector admitted before', () => {
    const listed = (boundServiceAccountNamespaces: string[]): Spec => ({ boundServiceAccountNamespaces });
    for (const [before, after] of [
      [listed(['payments']), by('{}', listed([]))],
      [listed(['payments', 'billing']), by('{}', listed(['payments']))],
      [by(labels, listed([])), listed(['*'])],
      [by(labels), by('null', listed([]))],
    ] as const) {
      expect(messagesOf(before, after)).toEqual([
        '"api" in every namespace can log in and gets the policy "default"',
      ]);
      expect(guards(before, after)).toEqual(['wildcard']);
    }
  });

  it('changes nothing if every namespace was admitted already', () => {
    const all: Spec = { boundServiceAccountNamespaces: ['*'] };
    expect(messagesOf(all, by('{}', { boundServiceAccountNamespaces: [] }))).toEqual([]);
    expect(messagesOf(by('{}'), all)).toEqual([]);
    expect(messagesOf(by('{}'), by('null'))).toEqual([]);
    expect(
      messagesOf(by('{}'), by('{}', { boundServiceAccountNamespaces: ['payments', 'billing'] })),
    ).toEqual([]);
    expect(messagesOf(all, { ...all, ...by(labels) })).toEqual([]);
  });

  it('is called every namespace in all messages about the role', () => {
    const more = by('{}', { tokenTtl: '1h' });
    expect(messagesOf(more, by('{}', { tokenTtl: '2h' }))).toEqual([
      'tokenTtl of tokens of "api" in every namespace grows from 1h to 2h',
    ]);
    expect(risk({ ...base, ...by('{}') }, undefined).map(({ message }) => message)).toEqual([
      '"api" in every namespace can no longer log in, and loses the policy "default"',
    ]);
  });
});

describe('The similarity of roles', () => {
  it('depends on their accounts and namespaces, in any order', () => {
    const other = {
      boundServiceAccountNames: 'api',
      boundServiceAccountNamespaces: ['payments'],
      tokenTtl: 60,
    };
    expect(similarity(other)).toEqual(similarity(base));
    expect(similarity({ ...base, tokenPolicies: ['x'] })?.[0]).toBe(similarity(base)?.[0]);
    expect(similarity({ ...base, boundServiceAccountNames: ['web'] })?.[0]).not.toBe(similarity(base)?.[0]);
  });
});
