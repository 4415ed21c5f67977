import { describe, expect, it } from 'vitest';
import { remoteStateConsumers as kind } from '../../../src/kinds/remote-state-consumers/index.ts';
import { risk } from '../../../src/kinds/remote-state-consumers/risk.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare } from '../../support/services/workspaces/plan-organization.ts';
import { knownDialect } from '../../support/kinds/known-dialect.ts';

function findings(consumers: readonly string[], workspace: Spec = {}): string[] {
  const others = {
    declared: () => declare('Workspace', 'app', workspace),
    target: { name: 'acme', service: 'workspaces', url: 'embedded', dialect: 'neutral' },
    dialect: knownDialect('workspaces'),
  } as const;
  const found = kind.check?.(declare(kind.name, 'app', { consumers }), others) ?? [];
  return found.map(({ code, path }) => `${code} at ${path.join('.')}`);
}

describe('Consumers are refused when', () => {
  it('one is the workspace itself', () => {
    expect(findings(['one', 'app'])).toEqual(['consumer-of-itself at consumers.1']);
  });

  it('one is listed twice', () => {
    expect(findings(['one', 'two', 'one'])).toEqual(['duplicate-consumer at consumers.2']);
  });

  it('the workspace is declared to share its state globally', () => {
    expect(findings(['one'], { globalRemoteState: true })).toEqual(['consumers-while-global at consumers']);
    expect(findings([], { globalRemoteState: true })).toEqual(['consumers-while-global at consumers']);
    expect(findings(['one'], { globalRemoteState: false })).toEqual([]);
    expect(findings(['one'], { globalRemoteState: null })).toEqual([]);
  });

  it('they name a workspace that does not exist, which only the plan can know', () => {
    expect(kind.references?.(declare(kind.name, 'app', { consumers: ['one'] }))).toEqual([
      { to: { kind: 'Workspace', target: 'acme', name: 'app' }, path: [] },
      { to: { kind: 'Workspace', target: 'acme', name: 'one' }, path: ['consumers', '0'] },
    ]);
  });
});

describe('The risk of consumers', () => {
  it('lists who gains and who loses access to the state', () => {
    expect(risk({ consumers: ['a', 'b'] }, { consumers: ['b', 'c'] })).toEqual([
      { path: ['consumers'], effect: 'widens', message: '"c" may read the state' },
      { path: ['consumers'], effect: 'narrows', message: '"a" loses access to the state' },
    ]);
    expect(risk(undefined, { consumers: ['a', 'b'] })).toEqual([
      { path: ['consumers'], effect: 'widens', message: '"a", "b" may read the state' },
    ]);
  });

  it('is empty if everyone had access before, which is a risk of the workspace itself', () => {
    expect(risk({}, { consumers: ['a'] })).toEqual([]);
  });
});
