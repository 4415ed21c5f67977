import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/model/kind.ts';
import type { Ledger } from '../../src/model/ledger.ts';
import { WireError } from '../../src/model/http.ts';
import { parentKind, registryOf } from '../support/sample-kinds/sample-kind.ts';
import { at, desired, live, record, type World } from '../support/sample-kinds/sample-plan.ts';
import { applySamples } from '../support/sample-kinds/sample-service.ts';
import { readAddress } from '../../src/model/address.ts';

const app = at('Parent', 'app');
const lost = new WireError('the connection broke', { method: 'POST', url: 'https://toys.test', sent: true });

describe('a change that was carried out in part', () => {
  /** One call for each changed field, the second after the first. */
  const slow: Kind = {
    ...parentKind,
    calls: ({ address, fields }) => ({
      calls: fields.map(({ path: [name = ''] }, order) => ({
        id: `${address.name}#${name}`,
        target: address.target,
        method: 'PATCH',
        path: [name],
        order,
        needs: [],
        success: [200],
        repeatable: true,
        writes: [name],
      })),
    }),
  };
  const world = {
    kinds: registryOf(slow),
    desired: [desired(app, { colour: 'blue', owner: 'ann' })],
    live: [live(app, { spec: { colour: 'red', owner: 'bob' }, ownershipTag: 'mine' })],
    records: { 'Parent/acme/app': record({ id: 'id-app', origin: 'created', fields: { timeout: 5 } }) },
  } satisfies World;
  const fieldsOf = (ledger: Ledger | undefined) =>
    ledger?.records.get(readAddress('Parent/acme/app'))?.fields;

  it.each([
    ['was refused', { status: 409 }, 'failed'],
    ['was lost', lost, 'unknown'],
  ] as const)('is recorded as far as it was made if the rest %s', async (_, answer, outcome) => {
    const done = await applySamples(world, {
      answer: ({ path }) => (path === '/owner' ? answer : undefined),
    });
    expect(done.summary).toEqual([`Parent/acme/app: ${outcome}`]);
    expect(fieldsOf(done.ledger)).toEqual({ timeout: 5, colour: 'blue' });
  });

  it('is recorded call by call, so that an interrupted run has recorded what was done', async () => {
    const done = await applySamples(world);
    const fields = done.written.map(({ ledger, after }) => [after, fieldsOf(ledger)]);
    expect(fields).toContainEqual([1, { timeout: 5, colour: 'blue' }]);
  });

  it('is recorded by its later calls if the first was refused', async () => {
    const done = await applySamples(world, {
      answer: ({ path }) => (path === '/colour' ? { status: 409 } : undefined),
    });
    expect(fieldsOf(done.ledger)).toEqual({ timeout: 5, owner: 'ann' });
  });

  it('is not recorded by calls that name no field', async () => {
    const nameless: Kind = {
      ...slow,
      calls: (change, context) => ({
        calls: slow.calls(change, context).calls.map(({ writes: _, ...call }) => call),
      }),
    };
    const done = await applySamples(
      { ...world, kinds: registryOf(nameless) },
      { answer: ({ path }) => (path === '/owner' ? { status: 409 } : undefined) },
    );
    expect(fieldsOf(done.ledger)).toEqual({ timeout: 5 });
  });
});
