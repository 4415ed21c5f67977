import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localLedger } from '../../src/ledger/local-ledger.ts';
import { LedgerConflict, LedgerError } from '../../src/model/ledger.ts';
import { ledgerOf, record } from '../support/sample-kinds/sample-plan.ts';
import { readAddress } from '../../src/model/address.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

async function open() {
  const directory = temporaryFolder();
  const file = join(directory, '.trueup', 'mine.ledger.json');
  const store = localLedger(file, 'mine');
  const written = async () => {
    await store.write({
      ...(await store.read()),
      records: ledgerOf({ 'Parent/acme/app': record() }).records,
    });
    return readFile(file, 'utf8');
  };
  return { directory: join(directory, '.trueup'), file, store, written };
}

it('reading creates no directory and no file', async () => {
  const { directory, store } = await open();
  expect(await store.read()).toMatchObject({ known: false, serial: 0 });
  await expect(stat(directory)).rejects.toThrow('ENOENT');
});

it('only its owner may read it', async () => {
  const { file, written } = await open();
  await written();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('it is readable JSON, ordered by address, for any order of its records', async () => {
  const { file, store } = await open();
  const records = ledgerOf({ 'Parent/acme/b': record(), 'Parent/acme/a': record() }).records;
  await store.write({ known: false, serial: 0, records });
  const text = await readFile(file, 'utf8');
  expect(Object.keys(JSON.parse(text).records)).toEqual(['Parent/acme/a', 'Parent/acme/b']);
  expect(text.split('\n').length).toBeGreaterThan(5);
});

it('every value that a field can have is read as it was written', async () => {
  const { store } = await open();
  const fields = {
    nothing: null,
    text: 'ä "quoted" \u2028',
    list: [1, [true, {}]],
    labels: JSON.parse('{"__proto__": "x", "constructor": "y", "10": "z", "9": ""}'),
  };
  const records = new Map([
    [
      readAddress('Parent/acme/a/b'),
      record({ id: '1', fields, content: fields, marks: { edges: { app: 'id' } } }),
    ],
  ]);
  await store.write({ known: false, serial: 0, records });
  expect((await store.read()).records).toEqual(records);
});

describe('a ledger that was changed is reported, and never taken for an empty one', () => {
  it.each<[string, (text: string) => string, string]>([
    ['truncated', (text) => text.slice(0, -20), 'is damaged: it is not JSON'],
    ['empty', () => '', 'is damaged: it is not JSON'],
    ['another file', () => '[1, 2]', 'is damaged: it is not a ledger'],
    ['null', () => 'null', 'is damaged: it is not a ledger'],
    ['without records', () => '{"version":1,"stack":"mine","serial":1,"checksum":"x"}', 'it is not a ledger'],
    ['edited', (text) => text.replace('created', 'adopted'), 'its checksum does not match'],
    [
      'with another address of a record',
      (text) => text.replace('Parent/acme/app', 'Parent/acme/lib'),
      'its checksum does not match',
    ],
    ['of a newer trueup', (text) => text.replace('"version": 3', '"version": 5'), 'has version 5'],
    [
      'of another stack',
      (text) => text.replace('"mine"', '"yours"'),
      'belongs to stack "yours", not to "mine"',
    ],
  ])('%s', async (_, spoil, message) => {
    const { file, store, written } = await open();
    await writeFile(file, spoil(await written()));
    await expect(store.read()).rejects.toThrow(message);
    await expect(store.read()).rejects.toBeInstanceOf(LedgerError);
    await expect(store.write(ledgerOf({}))).rejects.toThrow(message);
  });

  it('replaced by a directory', async () => {
    const { file, store } = await open();
    await mkdir(file, { recursive: true });
    await expect(store.read()).rejects.toThrow(`"${file}" cannot be read`);
  });
});

describe('a write', () => {
  it('that fails names the file, and leaves the old one unchanged', async () => {
    const { directory, file, store, written } = await open();
    const text = await written();
    await chmod(directory, 0o500);
    onTestFinished(() => chmod(directory, 0o700));
    const refused = await store.write(await store.read()).then(
      () => undefined,
      (error: Error) => error,
    );
    // Root may write everywhere, so nothing is refused.
    if (refused !== undefined) {
      expect(refused).toBeInstanceOf(LedgerError);
      expect(refused.message).toContain(`"${file}" cannot be written`);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
  });

  it('from an older ledger is refused, and leaves nothing behind', async () => {
    const { directory, store, written } = await open();
    const before = await store.read();
    await written();
    await expect(store.write(before)).rejects.toBeInstanceOf(LedgerConflict);
    expect(await readdir(directory)).toEqual(['.gitignore', 'mine.ledger.json', 'mine.ledger.json.guard']);
  });

  it('leaves only the ledger and its empty guard file', async () => {
    const { directory, store, written } = await open();
    await written();
    await store.write(await store.read());
    expect(await readdir(directory)).toEqual(['.gitignore', 'mine.ledger.json', 'mine.ledger.json.guard']);
  });

  it('that was killed half-way changes nothing, because its temporary file is not the ledger', async () => {
    const { file, store, written } = await open();
    await written();
    await writeFile(`${file}.1234.new`, '{"version":1,"stack":"mi');
    expect((await store.read()).records.size).toBe(1);
    expect(await store.write(await store.read())).toMatchObject({ serial: 2 });
  });

  it('removes old temporary files of killed writes, but no recent ones and no other files', async () => {
    const { directory, file, written } = await open();
    await mkdir(directory);
    const fresh = () => `${randomUUID()}.new`;
    const [old, young, other] = [
      `${file}.${fresh()}`,
      `${file}.${fresh()}`,
      join(directory, `other.${fresh()}`),
    ];
    const foreign = ['merged.new', 'copy-1.new', `${randomUUID()}.new.new`].map((end) => `${file}.${end}`);
    const folder = `${file}.00000000-0000-0000-0000-000000000000.new`;
    await mkdir(folder);
    for (const left of [old, young, other, ...foreign]) await writeFile(left, '');
    const yesterday = Date.now() / 1000 - 86_400;
    for (const left of [folder, old, other, ...foreign]) await utimes(left, yesterday, yesterday);
    await written();
    const kept = [file, `${file}.guard`, folder, young, other, ...foreign].map((path) => basename(path));
    expect((await readdir(directory)).toSorted()).toEqual(kept.toSorted());
  });

  it('is seen completely by concurrent reads', async () => {
    const { store } = await open();
    const big = ledgerOf(
      Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`Parent/acme/${index}`, record()])),
    );
    let ledger = await store.write({ ...big, serial: 0 });
    let isWriting = true;
    const reading = (async () => {
      const sizes = new Set<number>();
      while (isWriting) sizes.add((await store.read()).records.size);
      return sizes;
    })();
    for (let round = 0; round < 10; round += 1) ledger = await store.write(ledger);
    isWriting = false;
    expect(await reading).toEqual(new Set([500]));
  });
});
