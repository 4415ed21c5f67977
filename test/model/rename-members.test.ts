import { expect, it } from 'vitest';
import { renameMembers } from '../../src/model/call.ts';

it('members get their new names at any depth, and values are not changed', () => {
  const body = { mode: 'mode', list: [{ mode: 1 }], constructor: { mode: null } };
  expect(renameMembers(body, { mode: 'execution' })).toEqual({
    execution: 'mode',
    list: [{ execution: 1 }],
    constructor: { execution: null },
  });
});
