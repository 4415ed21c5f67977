/**
 * A store that carries out a write and fails before it responds: the next write of the run continues from that one, if
 * no other run has written. Real git and a real PostgreSQL, each with a connection that breaks.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { gitLedger } from '../../src/ledger/git/git-ledger.ts';
import { postgresLedger } from '../../src/ledger/postgres-ledger.ts';
import { LedgerConflict, type StackStore } from '../../src/model/ledger.ts';
import { makeRemote } from '../support/ledger/git-remote.ts';
import { ledger, lock, namesIn } from '../support/ledger/ledger-samples.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

/** A ledger with a connection that breaks when the test says so. */
interface BreakingLine {
  readonly store: StackStore;
  /** the same ledger with a working connection */
  readonly other: StackStore;
  /** the next write is carried out, and then nothing responds */
  breakAfterWrite(): void;
  mend(): void;
  /** the response to the next unlock is lost */
  loseUnlock(): void;
}

function closing(store: StackStore): StackStore {
  onTestFinished(() => store.close());
  return store;
}

function overGit(): BreakingLine {
  const remote = makeRemote();
  const at = (directory: string) =>
    closing(gitLedger({ directory, env: process.env }, { remote: 'origin', stack: 'payments' }));
  const [head, away] = [join(remote.directory, 'HEAD'), join(remote.directory, 'HEAD.away')];
  const hook = join(remote.directory, 'hooks', 'post-receive');
  // The update is done when this hook runs.
  const afterPush = (does: string) => {
    mkdirSync(join(remote.directory, 'hooks'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\n${does}\nkill -9 $PPID\n`);
    chmodSync(hook, 0o755);
  };
  return {
    store: at(remote.clone()),
    other: at(remote.clone()),
    // Without its HEAD the directory is no repository.
    breakAfterWrite: () => afterPush('mv HEAD HEAD.away'),
    loseUnlock: () => afterPush('rm hooks/post-receive'),
    mend: () => {
      rmSync(hook, { force: true });
      if (existsSync(away)) renameSync(away, head);
    },
  };
}

/** How PostgreSQL reports what it has done to a row. */
const done = { write: /UPDATE 1/, unlock: /DELETE 1/ };

/** A socket of the test between the store and the server. */
async function overPostgres(): Promise<BreakingLine> {
  const url = server?.newDatabase() ?? '';
  const directory = temporaryFolder();
  const real = join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432');
  const sockets = new Set<Socket>();
  let isDown = false;
  let isLost: RegExp | undefined;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const line = createServer((near) => {
    if (isDown) return near.destroy();
    const far = dial(real);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    near.on('data', (chunk) => far.write(chunk));
    // The server reports what it has done once it is done.
    far.on('data', (chunk) => {
      if (!isLost?.test(chunk.toString('latin1'))) return near.write(chunk);
      if (isLost === done.write) isDown = true;
      isLost = undefined;
      return breakAll();
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    return undefined;
  });
  await new Promise<void>((ready) => line.listen(join(directory, '.s.PGSQL.5432'), ready));
  onTestFinished(() => {
    breakAll();
    line.close();
  });
  const broken = new URL(url);
  broken.searchParams.set('host', directory);
  return {
    store: closing(postgresLedger(broken.href, 'payments')),
    other: closing(postgresLedger(url, 'payments')),
    breakAfterWrite: () => {
      isLost = done.write;
    },
    loseUnlock: () => {
      isLost = done.unlock;
    },
    mend: () => {
      isDown = false;
    },
  };
}

const places = [
  ['a git ref', overGit],
  ['PostgreSQL', overPostgres],
] as const;

describe.each(places)('a lock in %s', (name, open) => {
  it.skipIf(name === 'PostgreSQL' && bin === undefined)(
    'that was released is known to have been ours, even if the response was lost',
    async () => {
      const line = await open();
      await line.store.lock(lock('mine'));
      line.loseUnlock();
      expect(await line.store.unlock('mine')).toEqual(lock('mine'));
      expect(await line.other.readLock()).toBeUndefined();
    },
  );
});

describe.each(places)('a ledger in %s with a lost response to a write', (name, open) => {
  describe.skipIf(name === 'PostgreSQL' && bin === undefined)('counts that write as our own', () => {
    /** Begun, with one write that was carried out without a response. */
    async function lost() {
      const line = await open();
      const begun = await line.store.write(ledger(0, 'a'));
      line.breakAfterWrite();
      await expect(line.store.write({ ...begun, ...recordsOf('a', 'b') })).rejects.toThrow(/cannot be/);
      return { ...line, begun };
    }
    const recordsOf = (...names: string[]) => ({ records: ledger(1, ...names).records });
    const namesOf = async ({ other }: BreakingLine) => namesIn(await other.read());

    it('and the next one continues from it', async () => {
      const line = await lost();
      line.mend();
      expect(await line.other.read()).toMatchObject({ serial: 2 });
      const written = await line.store.write({ ...line.begun, ...recordsOf('a', 'b', 'c') });
      expect(written.serial).toBe(3);
      expect(await namesOf(line)).toEqual(['a', 'b', 'c']);
      expect((await line.store.write({ ...written, ...recordsOf('d') })).serial).toBe(4);
    });

    it('even if others failed in between', async () => {
      const line = await lost();
      for (const more of ['c', 'd'])
        await expect(line.store.write({ ...line.begun, ...recordsOf('a', 'b', more) })).rejects.toThrow();
      line.mend();
      await line.store.write({ ...line.begun, ...recordsOf('a', 'b', 'e') });
      expect(await namesOf(line)).toEqual(['a', 'b', 'e']);
    });

    it('even if the next one was lost in the same way', async () => {
      const line = await lost();
      line.mend();
      line.breakAfterWrite();
      const next = { ...line.begun, ...recordsOf('a', 'b', 'c') };
      await expect(line.store.write(next)).rejects.toThrow(/cannot be/);
      line.mend();
      // It writes what is stored already, so nothing is written.
      expect((await line.store.write(next)).serial).toBe(3);
      expect((await line.store.write({ ...line.begun, ...recordsOf('z'), serial: 3 })).serial).toBe(4);
      expect(await namesOf(line)).toEqual(['z']);
    });

    it('and not what another run has written since', async () => {
      const line = await lost();
      line.mend();
      const theirs = await line.other.read();
      await line.other.write({ ...theirs, ...recordsOf('theirs') });
      await expect(line.store.write({ ...line.begun, ...recordsOf('ours') })).rejects.toThrow(LedgerConflict);
      expect(await namesOf(line)).toEqual(['theirs']);
    });

    it('and not an equal ledger after another run has raised its serial', async () => {
      const line = await lost();
      line.mend();
      await line.other.write(await line.other.read());
      await expect(line.store.write({ ...line.begun, ...recordsOf('a', 'b', 'c') })).rejects.toThrow(
        LedgerConflict,
      );
    });
  });
});
