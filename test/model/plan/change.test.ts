import { describe, expect, it } from 'vitest';
import { type Action, removedId, removedIdentity } from '../../../src/model/plan/change.ts';

const change = (action: Action, about: { id?: string; fingerprint?: string }) => ({
  address: { kind: 'Workspace', target: 'acme', name: 'app' },
  action,
  fields: [],
  ...about,
});

describe('Which one of all that bear a name is removed by an approval', () => {
  it.each(['delete', 'release'] as const)('is told by its id when it is taken away: %s', (action) => {
    expect(removedIdentity(change(action, { id: 'ws-1', fingerprint: 'f' }))).toEqual({ id: 'ws-1' });
    expect(removedId(change(action, { id: 'ws-1' }))).toBe('ws-1');
  });

  it('is told by its content where it has no id', () => {
    expect(removedIdentity(change('delete', { fingerprint: 'f' }))).toEqual({ fingerprint: 'f' });
    expect(removedId(change('delete', { fingerprint: 'f' }))).toBeUndefined();
  });

  it.each(['create', 'update', 'adopt', 'none'] as const)('does not matter for what stays: %s', (action) => {
    expect(removedIdentity(change(action, { id: 'ws-1', fingerprint: 'f' }))).toBeUndefined();
    expect(removedId(change(action, { id: 'ws-1' }))).toBeUndefined();
  });

  it('is not told where nothing of it is known', () => {
    expect(removedIdentity(change('delete', {}))).toBeUndefined();
  });
});
