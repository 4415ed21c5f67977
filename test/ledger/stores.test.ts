// One contract for every store of a ledger. Each `open` is another machine.
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { gitLedger } from '../../src/ledger/git/git-ledger.ts';
import { localLedger } from '../../src/ledger/local-ledger.ts';
import { postgresLedger } from '../../src/ledger/postgres-ledger.ts';
import { LedgerConflict, type StackStore } from '../../src/model/ledger.ts';
import { makeRemote } from '../support/ledger/git-remote.ts';
import { addressOf, entry, ledger, lock, namesIn } from '../support/ledger/ledger-samples.ts';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

/** Opens the store of one stack, at the same place each time; closed with the test. */
type Open = (stack?: string) => StackStore;

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

function closing(store: StackStore): StackStore {
  onTestFinished(() => store.close());
  return store;
}

const places: readonly (readonly [string, () => Open])[] = [
  [
    'a local file',
    () => {
      const directory = temporaryFolder();
      return (stack = 'payments') =>
        closing(localLedger(join(directory, '.trueup', `${stack}.ledger.json`), stack));
    },
  ],
  [
    'a git ref',
    () => {
      const remote = makeRemote();
      return (stack = 'payments') =>
        closing(gitLedger({ directory: remote.clone(), env: process.env }, { remote: 'origin', stack }));
    },
  ],
  [
    'PostgreSQL',
    () => {
      const url = server?.newDatabase() ?? '';
      return (stack = 'payments') => closing(postgresLedger(url, stack));
    },
  ],
];

it.runIf(postgresIsRequired)('PostgreSQL is available if the environment requires it', () => {
  expect(bin).toBeDefined();
});

describe.each(places)('%s', (name, place) => {
  describe.skipIf(name === 'PostgreSQL' && bin === undefined)('keeps a ledger', () => {
    it('that is unknown before the first write', async () => {
      const store = place()();
      expect(await store.read()).toEqual({ known: false, serial: 0, records: new Map() });
    });

    it('that other machines read as it was written', async () => {
      const open = place();
      const written = await open().write({
        ...ledger(0, 'Kind/acme/b', 'Kind/acme/a'),
        targets: new Map([['acme', 'workspaces acme at https://toys.test']]),
        stackId: '0123abcd',
        takenIds: ['89abcdef'],
        repository: { remote: 'git.test/acme/infra', path: 'stacks/trueup.yaml' },
        commit: { id: 'c0ffee', dirty: true },
        closedFor: 'heir',
        approved: {
          version: 2,
          digest: 'd1',
          atoms: ['["a"]', '["b"]'],
          createdAt: '2026-11-20T11:42:00.000Z',
        },
      });
      expect(written.serial).toBe(1);
      expect(await open().read()).toEqual(written);
    });

    it('without an approved plan, once that is done', async () => {
      const open = place();
      const first = await open().write({
        ...ledger(0, 'a'),
        approved: { version: 2, digest: 'd1', atoms: [] },
      });
      const { approved, ...rest } = first;
      expect(approved).toEqual({ version: 2, digest: 'd1', atoms: [] });
      await open().write(rest);
      expect(await open().read()).not.toHaveProperty('approved');
    });

    it('of each stack separately', async () => {
      const open = place();
      await open().write(ledger(0, 'a'));
      expect((await open('other').read()).known).toBe(false);
    });

    it('that can be set aside and replaced by a new one, without changes of lock and history', async () => {
      const open = place();
      await open().write(ledger(0, 'old'));
      await open().lock(lock('a'));
      expect(await open().setAside()).toContain('damaged-20');
      expect(await open().read()).toEqual({ known: false, serial: 0, records: new Map() });
      await open().write(ledger(0, 'new'));
      expect(namesIn(await open().read())).toEqual(['new']);
      expect((await open().readLock())?.id).toBe('a');
    });

    it('and refuses a write that began from an older one', async () => {
      const open = place();
      const [ours, theirs] = [open(), open()];
      const read = await ours.read();
      await theirs.write(ledger(0, 'theirs'));
      await expect(ours.write(read)).rejects.toThrow(LedgerConflict);
      await expect(ours.write(read)).rejects.toThrow(
        /was written by another run meanwhile \(serial 1, expected 0\)/,
      );
      expect(namesIn(await open().read())).toEqual(['theirs']);
    });

    it('that can be set aside for a new one, and says where it is', async () => {
      const open = place();
      await open().lock(lock('mine'));
      await open().write(ledger(0, 'a'));
      expect(await open().setAside()).toContain('payments');
      expect((await open().read()).known).toBe(false);
      expect((await open().write(ledger(0, 'b'))).serial).toBe(1);
      expect(await open().readLock()).toEqual(lock('mine'));
    });

    it('and refuses a write from one that no longer exists', async () => {
      await expect(place()().write(ledger(7, 'a'))).rejects.toThrow('(serial 0, expected 7)');
    });

    it('and lets exactly one of several concurrent writers succeed', async () => {
      const open = place();
      const first = await open().write(ledger(0, 'first'));
      const ends = await Promise.allSettled(
        ['a', 'b', 'c', 'd'].map((writer) => open().write({ ...ledger(1, writer), serial: first.serial })),
      );
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const end of ends)
        if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(LedgerConflict);
      expect((await open().read()).serial).toBe(2);
    });

    it('with any text in it', async () => {
      const open = place();
      const store = open();
      let { serial } = await store.read();
      const text = fc.string({ unit: 'binary' });
      await fc.assert(
        fc.asyncProperty(fc.dictionary(text, fc.jsonValue()), text, async (fields, address) => {
          const record = { origin: 'adopted' as const, fields: JSON.parse(JSON.stringify(fields)) };
          const records = new Map([[addressOf(address), record]]);
          const written = await store.write({ known: true, serial, records, targets: new Map() });
          serial = written.serial;
          expect(await store.read()).toEqual(written);
        }),
        { numRuns: 15 },
      );
    });
  });

  describe.skipIf(name === 'PostgreSQL' && bin === undefined)('keeps a lock', () => {
    it('that is free at first', async () => {
      expect(await place()().readLock()).toBeUndefined();
    });

    it('that one run takes, and that refuses another run', async () => {
      const open = place();
      const mine = lock('mine', { attempt: 2, pid: 41, url: 'https://ci.example.com/771' });
      expect(await open().lock(mine)).toEqual(mine);
      expect(await open().lock(lock('yours'))).toEqual(mine);
      expect(await open().readLock()).toEqual(mine);
    });

    it('that is free again once it was released', async () => {
      const open = place();
      await open().lock(lock('mine'));
      expect(await open().unlock('mine')).toEqual(lock('mine'));
      expect(await open().readLock()).toBeUndefined();
      expect(await open().lock(lock('yours'))).toEqual(lock('yours'));
    });

    it('that only its own id releases', async () => {
      const open = place();
      expect(await open().unlock('mine')).toBeUndefined();
      await open().lock(lock('mine'));
      expect(await open().unlock('yours')).toBeUndefined();
      expect(await open().readLock()).toEqual(lock('mine'));
    });

    it('that may be taken over only by naming the lock that is held', async () => {
      const open = place();
      await open().lock(lock('old'));
      expect(await open().lock(lock('wrong'), 'another')).toEqual(lock('old'));
      expect(await open().lock(lock('new'), 'old')).toEqual(lock('new'));
      expect(await open().lock(lock('late'), 'old')).toEqual(lock('new'));
    });

    it('that exactly one of several concurrent runs gets', async () => {
      const open = place();
      const wanted = ['a', 'b', 'c', 'd'].map((id) => lock(id));
      const held = await Promise.all(wanted.map((one) => open().lock(one)));
      expect(new Set(held.map(({ id }) => id)).size).toBe(1);
      expect(await open().readLock()).toEqual(held[0]);
    });

    it('that does not prevent a write by a run without it', async () => {
      const open = place();
      const ours = open();
      await ours.lock(lock('mine'));
      const read = await ours.read();
      await open().unlock('mine');
      await open().lock(lock('yours'));
      expect((await ours.write(read)).serial).toBe(1);
      expect(await open().readLock()).toEqual(lock('yours'));
    });
  });

  describe.skipIf(name === 'PostgreSQL' && bin === undefined)('keeps the history', () => {
    it('that is empty at first', async () => {
      const store = place()();
      expect(await store.listEntries(10)).toEqual([]);
      expect(await store.showEntry('20261120T114200Z-7f3a')).toBeUndefined();
    });

    it('newest first, with at most the requested number of entries', async () => {
      const open = place();
      for (const id of ['20261120T2-b', '20261121T1-a', '20261120T1-c'])
        await open().keepEntries([entry(id)]);
      expect((await open().listEntries(10)).map(({ id }) => id)).toEqual([
        '20261121T1-a',
        '20261120T2-b',
        '20261120T1-c',
      ]);
      expect((await open().listEntries(1)).map(({ id }) => id)).toEqual(['20261121T1-a']);
      expect(await open().readEntries(1, 1)).toMatchObject([{ id: '20261120T2-b' }]);
      expect(await open().readEntries(10, 3)).toEqual([]);
    });

    it('with entries that can be completed', async () => {
      const open = place();
      await open().keepEntries([entry('e1')]);
      const completed = entry('e1', { ended: '2026-11-20T11:43:00.000Z', commit: 'abc', dirty: true });
      await open().keepEntries([completed]);
      expect(await open().listEntries(10)).toEqual([completed]);
      expect(await open().showEntry('e1')).toEqual(completed);
    });

    it('with entries that can be removed while others stay', async () => {
      const open = place();
      await open().keepEntries([entry('e1'), entry('e2'), entry('e3')]);
      await open().removeEntries(['e1', 'e3', 'none', '../payments.ledger']);
      expect((await open().listEntries(10)).map(({ id }) => id)).toEqual(['e2']);
      await open().removeEntries([]);
      expect((await open().listEntries(10)).map(({ id }) => id)).toEqual(['e2']);
    });

    it('and shows nothing for an invalid id', async () => {
      const open = place();
      await open().keepEntries([entry('e1')]);
      for (const id of ['e2', '', '../payments.ledger', "e1' or 'a' = 'a"])
        expect(await open().showEntry(id)).toBeUndefined();
    });

    it('and knows the newest entry under its lock', async () => {
      const open = place();
      const store = open();
      expect(await store.newestEntryId()).toBeUndefined();
      await open().keepEntries([entry('e1'), entry('e3')]);
      await store.lock(lock('mine'));
      expect(await store.newestEntryId()).toBe('e3');
      await store.keepEntries([entry('e2')]);
      expect(await store.newestEntryId()).toBe('e3');
      await store.keepEntries([entry('e4-other')]);
      expect(await store.newestEntryId()).toBe('e4-other');
    });

    it('during changes of ledger and lock', async () => {
      const open = place();
      await open().keepEntries([entry('e1')]);
      await open().write(ledger(0, 'a'));
      await open().lock(lock('mine'));
      await open().keepEntries([entry('e2')]);
      await open().unlock('mine');
      expect((await open().listEntries(10)).map(({ id }) => id)).toEqual(['e2', 'e1']);
      expect((await open().read()).serial).toBe(1);
    });
  });
});
