import { describe, expect, it } from 'vitest';
import { LedgerKeeper, type LedgerWriter } from '../../src/apply/keep-ledger.ts';
import { type Ledger, LedgerConflict } from '../../src/model/ledger.ts';
import { ledgerOf, record } from '../support/sample-kinds/sample-plan.ts';
import { addressOf, namesIn } from '../support/ledger/ledger-samples.ts';

/** A store in memory whose writes end or fail when the test says so. */
class ManualStore implements LedgerWriter {
  readonly written: Ledger[] = [];
  readonly #waiting: { readonly ledger: Ledger; end(error?: Error): void }[] = [];

  write(ledger: Ledger): Promise<Ledger> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        if (error !== undefined) return reject(error);
        const stored = { ...ledger, known: true, serial: ledger.serial + 1 };
        this.written.push(stored);
        resolve(stored);
      };
      this.#waiting.push({ ledger, end });
    });
  }

  get underWay(): number {
    return this.#waiting.length;
  }

  /** Ends the current write, and lets those that wait for it continue. */
  async finish(error?: Error): Promise<void> {
    this.#waiting.shift()?.end(error);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  names(): string[][] {
    return this.written.map(namesIn);
  }
}

function open(known = true) {
  const store = new ManualStore();
  return { store, keeper: new LedgerKeeper(store, ledgerOf({ [addressOf('old')]: record() }, known)) };
}

describe('saving', () => {
  it('writes nothing when nothing changed', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('old'), record());
    keeper.drop(addressOf('never there'));
    expect(await keeper.save()).toMatchObject({ serial: 1 });
    expect(store.underWay).toBe(0);
  });

  it('writes a ledger that did not exist, even when it is empty', async () => {
    const { store, keeper } = open(false);
    const saved = keeper.save();
    await store.finish();
    expect(await saved).toMatchObject({ known: true, serial: 1 });
  });

  it('is done when all earlier changes are written', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    const first = keeper.save();
    keeper.put(addressOf('b'), record());
    keeper.drop(addressOf('old'));
    const second = keeper.save();
    expect(store.underWay).toBe(1);
    await store.finish();
    expect(store.names()).toEqual([['old', 'a']]);
    await store.finish();
    expect(store.names()).toEqual([
      ['old', 'a'],
      ['a', 'b'],
    ]);
    const [one, two] = await Promise.all([first, second]);
    expect([one.serial, two.serial]).toEqual([3, 3]);
  });

  it('collects changes during one write into the next one', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('n0'), record());
    keeper.saveSoon();
    for (let index = 1; index <= 50; index += 1) {
      keeper.put(addressOf(`n${index}`), record());
      keeper.saveSoon();
    }
    const saved = keeper.save();
    await store.finish();
    await store.finish();
    expect((await saved).records.size).toBe(52);
    expect(store.written).toHaveLength(2);
  });
});

describe('a write that fails', () => {
  const full = new Error('the disk is full');

  it('in the background is no unhandled rejection, and the next write makes up for it', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    keeper.saveSoon();
    keeper.saveSoon();
    await store.finish(full);
    const saved = keeper.save();
    await store.finish();
    expect((await saved).records.has(addressOf('a'))).toBe(true);
  });

  it('in the background is reported once by the last write if that fails, too', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    keeper.saveSoon();
    await store.finish(full);
    const saved = expect(keeper.save()).rejects.toThrow('the disk is full');
    await store.finish(full);
    await saved;
    expect(store.underWay).toBe(0);
  });

  it('while the last one waits for it is repeated by the last one', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    keeper.saveSoon();
    const saved = keeper.save();
    await store.finish(full);
    await store.finish();
    expect(namesIn(await saved)).toEqual(['old', 'a']);
  });

  it('because another run wrote the ledger ends all later ones with that error', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    keeper.saveSoon();
    await store.finish(new LedgerConflict('the ledger', { found: 2, expected: 1 }));
    keeper.put(addressOf('b'), record());
    keeper.saveSoon();
    await expect(keeper.save()).rejects.toThrow('was written by another run');
    await expect(keeper.save()).rejects.toThrow('was written by another run');
    expect(store.underWay).toBe(0);
  });

  it('loses nothing that was put during the write', async () => {
    const { store, keeper } = open();
    keeper.put(addressOf('a'), record());
    keeper.saveSoon();
    keeper.put(addressOf('b'), record());
    await store.finish(full);
    const saved = keeper.save();
    await store.finish();
    expect(namesIn(await saved)).toEqual(['old', 'a', 'b']);
  });
});

it('a record can be read as soon as it was put, before it is written', () => {
  const { keeper } = open();
  keeper.put(addressOf('a'), record({ id: '1' }));
  expect(keeper.get(addressOf('a'))?.id).toBe('1');
  keeper.drop(addressOf('a'));
  expect(keeper.get(addressOf('a'))).toBeUndefined();
});
