import { expect, describe, it } from 'vitest';
import { type Action, approvedId, approvedIdentity } from '../../src/model/change.ts';

const change = (action: Action, about: { id?: string; fingerprint?: string }) => ({
  address: { kind: 'Workspace', target: 'acme', name: 'app' },
  action,
  fields: [],
  ...about,
});

describe('The resource that an approval is about', () => {
  it.each(['adopt', 'delete', 'release'] as const)('is identified by its id: %s', (action) => {
    expect(approvedIdentity(change(action, { id: 'ws-1', fingerprint: 'f' }))).toEqual({ id: 'ws-1' });
    expect(approvedId(change(action, { id: 'ws-1' }))).toBe('ws-1');
  });

  it('is identified by its content if it has no id', () => {
    expect(approvedIdentity(change('delete', { fingerprint: 'f' }))).toEqual({ fingerprint: 'f' });
    expect(approvedId(change('delete', { fingerprint: 'f' }))).toBeUndefined();
  });

  it.each(['create', 'update', 'none'] as const)(
    'is identified by its name when it is ours: %s',
    (action) => {
      expect(approvedIdentity(change(action, { id: 'ws-1', fingerprint: 'f' }))).toBeUndefined();
      expect(approvedId(change(action, { id: 'ws-1' }))).toBeUndefined();
    },
  );

  it('is not identified if neither is known', () => {
    expect(approvedIdentity(change('delete', {}))).toBeUndefined();
  });
});
