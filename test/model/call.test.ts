import { describe, expect, it } from 'vitest';
import {
  IdReference,
  isCallObject,
  isReference,
  referencesIn,
  SecretReference,
} from '../../src/model/call.ts';
import { readAddress } from '../../src/model/address.ts';

const id = new IdReference(readAddress('Workspace/acme/app'));
const token = new SecretReference({ env: 'TOKEN' });

describe('A reference in a call', () => {
  it('is found at any depth, in its order', () => {
    expect(referencesIn({ data: [{ id: 'ws-1' }, { id }], token, at: { id } })).toEqual([id, token, id]);
    expect(referencesIn(id)).toEqual([id]);
  });

  it('is never in a response: JSON of the same form is only JSON', () => {
    const answered = JSON.parse(JSON.stringify({ data: id, token }));
    expect(answered).toEqual({ data: { $id: 'Workspace/acme/app' }, token: { $secret: { env: 'TOKEN' } } });
    expect(referencesIn(answered)).toEqual([]);
    expect(isReference(answered.data)).toBe(false);
    expect(isCallObject(answered.data)).toBe(true);
  });

  it('is not an object, and neither is a list, null or undefined', () => {
    expect([id, token, [id], null, 'text', undefined].map(isCallObject)).toEqual(Array(6).fill(false));
    expect(referencesIn(undefined)).toEqual([]);
  });
});
