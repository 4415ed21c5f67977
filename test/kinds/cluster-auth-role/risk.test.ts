import { describe, expect, it } from 'vitest';
import { risk } from '../../../src/kinds/cluster-auth-role/risk.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { isNarrowing } from '../../../src/model/risk.ts';

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

  it('is both where one is exchanged for another', () => {
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

  it('is none where only the spelling changes', () => {
    expect(
      effects(
        { tokenTtl: '1h', tokenBoundCidrs: ['1.2.3.4/32'] },
        { tokenTtl: 3600, tokenBoundCidrs: '1.2.3.4' },
      ),
    ).toEqual([]);
    expect(isNarrowing([])).toBe(false);
  });

  it('trips a guard for a wildcard, a cleared audience and a lifetime without end', () => {
    expect(guards({}, { boundServiceAccountNamespaces: ['*'] })).toEqual(['wildcard']);
    expect(guards(undefined, { boundServiceAccountNames: ['*'] })).toEqual(['new-role', 'wildcard']);
    expect(guards(undefined, { boundServiceAccountNames: ['ap*'] })).toEqual(['new-role']);
    expect(guards({ audience: 'vault' }, {})).toEqual(['cleared-audience']);
    expect(guards({ tokenMaxTtl: 60 }, {})).toEqual(['unlimited-lifetime']);
    expect(guards({}, { tokenPeriod: 60 })).toEqual(['unlimited-lifetime']);
    expect(guards(undefined, { tokenPeriod: 60 })).toEqual(['new-role', 'unlimited-lifetime']);
    expect(guards({ tokenPolicies: ['a'] }, { tokenPolicies: ['a', 'b'] })).toEqual([]);
  });

  it('only shrinks when a role goes, and only grows when one comes', () => {
    expect(isNarrowing(risk(base, undefined))).toBe(true);
    expect(risk(undefined, base).map(({ effect }) => effect)).toEqual(['widens']);
  });
});
