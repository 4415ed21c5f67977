import { describe, expect, it } from 'vitest';
import { kinds } from '../../src/kinds/index.ts';
import { deprecatedFields } from '../../src/manifest/validate-manifest.ts';

function warnings(kind: string, spec: Record<string, never[] | boolean | string>) {
  const found = kinds.get(kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return deprecatedFields(found, spec).map(
    ({ path, severity, fix }) => `${severity} ${path.join('.')}: ${fix}`,
  );
}

describe('A field that the API has deprecated', () => {
  it('has a warning that names its successor', () => {
    expect(warnings('Workspace', { operations: true })).toEqual([
      'warning spec.operations: use executionMode',
    ]);
    expect(warnings('ClusterAuthRole', { policies: [] })).toEqual([
      'warning spec.policies: use tokenPolicies',
    ]);
  });

  it('has a warning to leave it out if it has no successor', () => {
    expect(warnings('ClusterAuthConfig', { issuer: 'me' })).toEqual([
      'warning spec.issuer: leave "issuer" out',
    ]);
  });

  it('has no warning if it is not written', () => {
    expect(warnings('Workspace', { executionMode: 'remote' })).toEqual([]);
  });
});
