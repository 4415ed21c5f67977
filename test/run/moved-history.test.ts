// The history of a resource moves with it to another stack, and the history of other resources stays.
import { expect, it } from 'vitest';
import type { AddressText } from '../../src/model/address.ts';
import type { HistoryChange, HistoryEntry } from '../../src/model/ledger.ts';
import type { ChangeForPolicies } from '../../src/model/policy.ts';
import { copyHistory } from '../../src/run/stack-moves.ts';
import { entry } from '../support/ledger/ledger-samples.ts';

const at = (text: string) => text as AddressText;

function checked(more: Partial<ChangeForPolicies> = {}): ChangeForPolicies {
  return { tags: {}, tagsBefore: {}, accessGained: [], accessLost: [], references: [], ...more };
}

function change(address: string, more: Partial<ChangeForPolicies> = {}): HistoryChange {
  return { address: at(address), action: 'update', reason: 'x', fields: [], checked: checked(more) };
}

const app = at('Workspace/acme/app');
const shared = entry('one', {
  stack: 'billing',
  changes: [
    change('TagBindings/acme/app', { parent: app }),
    change('TagBindings/acme/other', { parent: at('Workspace/acme/other') }),
    change('RemoteStateConsumers/acme/app', { parent: app, references: [at('Workspace/acme/reader')] }),
  ],
  tagged: { [app]: checked({ tags: { env: 'a' } }), [at('Workspace/acme/other')]: checked() },
  related: {
    [app]: { description: 'app' },
    'Workspace/acme/other': { description: 'of another team' },
    'Workspace/acme/reader': { description: 'reader' },
  },
});

/** @param moves addresses in the other stack, with those here */
async function copied(moves: Readonly<Record<string, string>>, kept = new Map<string, HistoryEntry>()) {
  const record = { origin: 'created', fields: {} } as const;
  await copyHistory(
    { stack: { name: 'billing' }, store: { listEntries: async () => [shared] } },
    {
      records: Object.fromEntries(Object.entries(moves).map(([from, to]) => [to, { at: at(from), record }])),
    },
    {
      showEntry: async (id) => kept.get(id),
      keepEntries: async (entries) => {
        for (const one of entries) kept.set(one.id, one);
      },
    },
  );
  return kept;
}

it('Values of other resources that policies checked stay in the history of their stack.', async () => {
  const moves = {
    'Workspace/acme/app': 'Workspace/here/app',
    'TagBindings/acme/app': 'TagBindings/here/app',
  };
  const copy = (await copied(moves)).get('one-billing');
  expect(copy?.changes.map(({ address }) => address)).toEqual(['TagBindings/here/app']);
  expect(copy?.tagged).toEqual({ 'Workspace/here/app': checked({ tags: { env: 'a' } }) });
  expect(copy?.related).toEqual({ 'Workspace/acme/app': { description: 'app' } });
});

it('Values of a workspace that policies checked move with its tags, even if the workspace stays.', async () => {
  const copy = (await copied({ 'TagBindings/acme/other': 'TagBindings/acme/other' })).get('one-billing');
  expect(Object.keys(copy?.tagged ?? {})).toEqual(['Workspace/acme/other']);
  expect(Object.keys(copy?.related ?? {})).toEqual(['Workspace/acme/other']);
});

it('A resource that moves later adds its values that policies checked to the copy.', async () => {
  const first = await copied({ 'TagBindings/acme/other': 'TagBindings/acme/other' });
  const consumers = 'RemoteStateConsumers/acme/app';
  const copy = (await copied({ [consumers]: consumers }, first)).get('one-billing');
  expect(copy?.changes).toHaveLength(2);
  expect(Object.keys(copy?.related ?? {}).sort()).toEqual([
    'Workspace/acme/app',
    'Workspace/acme/other',
    'Workspace/acme/reader',
  ]);
});
