// Which user's limit the requests of a check count for, in a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckRates } from '../../../src/commands/fleet/rates/check-rates.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const owner = { address: 'https://secrets.example.com', identity: 'hash of a role' };
const answer = { status: 200, milliseconds: 5 };

describe.skipIf(bin === undefined)('The requests of a check that logs in', () => {
  it('count for its own user, even if another check uses the same role as another user', async () => {
    const { client } = await openFleetDatabase(server);
    let meanwhile: () => Promise<unknown> = async () => {};
    const ann = new CheckRates(
      {
        transaction: async (work) => {
          const result = await work(client);
          await meanwhile();
          return result;
        },
      },
      'check',
    );
    const bob = new CheckRates({ transaction: (work) => work(client) }, 'check');
    const requestOf = async (rates: CheckRates) => {
      await rates.answer({ do: 'take', id: 1, count: 1, ...owner });
      await rates.answer({ do: 'observe', answer, ...owner });
    };
    await requestOf(ann);
    await requestOf(bob);
    meanwhile = () => bob.answer({ do: 'set-user', user: 'entity of bob', ...owner });
    await ann.answer({ do: 'set-user', user: 'entity of ann', ...owner });
    meanwhile = async () => {};
    await requestOf(ann);
    await requestOf(bob);
    const [counts, other] = [ann.counts, bob.counts].map((all) => all.filter(({ requests }) => requests > 0));
    expect([counts, other]).toEqual([
      [{ ...owner, identity: expect.any(String), requests: 2 }],
      [{ ...owner, identity: expect.any(String), requests: 2 }],
    ]);
    expect(counts?.[0]?.identity).not.toBe(other?.[0]?.identity);
  });
});
