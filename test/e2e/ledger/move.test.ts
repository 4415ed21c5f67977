// `trueup ledger move`: the ledger has the same content at the new place, and the old place names the new one.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerMoveSchema } from '../../../src/commands/ledger/schema.ts';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdLock } from '../../support/cli/locked-stack.ts';
import { movableStack, stackFile } from '../../support/cli/movable-stack.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../../support/ledger/postgres-server.ts';

const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(ledgerMoveSchema);
const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

it.runIf(postgresIsRequired)('PostgreSQL is installed if the environment requires it', () => {
  expect(bin).toBeDefined();
});

const move = (to: string, ...more: readonly string[]) => ['ledger', 'move', '--to', to, '--yes', ...more];
const elsewhere = { local: { folder: 'ledger' } };
const places = ['local', 'git', ...(bin === undefined ? [] : ['postgres'])];
const pairs = places.flatMap((from) => places.flatMap((to) => (from === to ? [] : [[from, to] as const])));

describe('A ledger that moves', () => {
  it.each(pairs)('from %s to %s has the same content there, and after a move back', async (from, to) => {
    const scene = await movableStack({ ledger: from, url: server?.newDatabase() ?? '' });
    const before = await scene.content();
    await scene.run(move(to), 0);
    for (const args of [
      ['plan'],
      ['apply', '--yes'],
      ['history'],
      ['history', 'show', 'latest'],
      ['ledger', 'show'],
    ]) {
      const { err } = await scene.run(args, 1);
      expect(err).toMatch(/^error: the ledger .* was moved to /);
      expect(err).toContain(`write "ledger: ${to}" into the "spec" of the stack file`);
    }
    expect((await scene.run(['recover', '--yes'], 1)).err).toContain('was moved to');
    await scene.name(to);
    expect(await scene.content()).toEqual(before);
    await scene.run(['plan', '--exit-code'], 0);
    await scene.stack.declare(workspace('app', { description: 'three' }));
    await scene.run(['apply', '--yes'], 0);
    const after = await scene.content();
    expect(after.history).toHaveLength(3);
    await scene.run(move(from, '--write'), 0);
    expect(await scene.content()).toEqual(after);
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('is refused while the move of resources from another stack is unfinished', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const store = localLedger(join(scene.stack.directory, '.trueup', 'payments.ledger.json'), 'payments');
    await store.write({ ...(await store.read()), incoming: [{ from: { stack: 'billing' }, records: {} }] });
    const { err } = await scene.run(move('git'), 1);
    expect(err).toContain('nothing was moved: an apply that was interrupted');
    expect(err).toContain('run "trueup apply" first');
  });

  it('leaves no file that an older version of trueup could read as a ledger', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.run(move('git'), 0);
    expect(await scene.stack.ledger()).toMatchObject({ version: 4 });
    const copy = git(scene.remote, 'show', 'refs/trueup/payments:ledger.json');
    expect(JSON.parse(copy)).toMatchObject({ version: 3 });
  });

  it('records the remote that the repository got since the last apply, but no other repository', async () => {
    const stack = await (await openBench()).checkout();
    git(stack.directory, 'init', '--quiet');
    await stack.setUp(workspace('app'));
    const repository = async () =>
      JSON.parse((await stack.run(['ledger', 'show', '--format', 'json'], 0)).out).repository;
    expect(await repository()).toEqual({ path: 'trueup.yaml' });
    const { directory: remote } = makeRemote();
    git(stack.directory, 'remote', 'add', 'origin', remote);
    await stack.run(['ledger', 'move', '--to', 'git', '--write', '--yes'], 0);
    const named = await repository();
    expect(named).toEqual({ path: 'trueup.yaml', remote: expect.stringContaining('remote') });
    git(stack.directory, 'remote', 'set-url', 'origin', makeRemote().directory);
    git(stack.directory, 'remote', 'add', 'first', remote);
    await stack.run(['ledger', 'move', '--from', '{ git: { remote: first } }', '--to', 'git', '--yes'], 0);
    expect(await repository()).toEqual(named);
  });

  it('to another local folder has the same content there', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const before = await scene.content();
    await scene.run(move('{ local: { folder: ledger } }'), 0);
    await scene.name(elsewhere);
    expect(await scene.content()).toEqual(before);
  });

  it('is only shown with --dry-run, which writes nothing', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const { out } = await scene.run(['ledger', 'move', '--to', 'git', '--write', '--dry-run'], 0);
    expect(out).toContain('would be moved');
    expect(out).toContain('1 record, 2 applies');
    expect(git(scene.remote, 'for-each-ref', 'refs/trueup')).toBe('');
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('needs --yes if there is no terminal', async () => {
    const scene = await movableStack({ ledger: 'local' });
    expect((await scene.run(['ledger', 'move', '--to', 'git'], 1)).err).toContain('pass --yes');
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('prints JSON in the form of its schema', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const json = async (...args: string[]) => {
      const answer = JSON.parse((await scene.run(move('git', '--format', 'json', ...args), 0)).out);
      expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
      return answer;
    };
    expect(await json('--dry-run')).toMatchObject({ moved: false, dryRun: true, records: 1, applies: 2 });
    expect(await json()).toMatchObject({
      moved: true,
      from: { ledger: 'local' },
      to: { ledger: 'git' },
      stackFile: { file: 'trueup.yaml', ledger: 'git', written: false },
    });
    expect(await json('--write')).toMatchObject({ moved: false, stackFile: { written: true } });
    expect(await json()).toMatchObject({ moved: false, stackFile: { namesNewPlace: true } });
  });

  it('changes with --write one value of the stack file, and keeps its comments', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const file = join(scene.stack.directory, stackFile);
    const { spec } = JSON.parse(await readFile(file, 'utf8'));
    const text = (ledger: string) =>
      `# our stack\napiVersion: trueup.dev/v1\nkind: Stack\nmetadata: { name: payments } # the team\nspec:\n  ${ledger} # where it is\n  manifests: [manifests/*.yaml]\n  targets: ${JSON.stringify(spec.targets)}\n`;
    await scene.stack.write(stackFile, text('ledger: local'));
    await scene.run(move('git', '--write'), 0);
    expect(await readFile(file, 'utf8')).toBe(text('ledger: git'));
    await scene.run(['plan', '--exit-code'], 0);
  });

  it.each([
    ['there is no stack file', '-', '--write needs a stack file'],
    ['no file fits beside the stack file', `${'s'.repeat(240)}.yaml`, 'too long'],
  ])('moves nothing with --write if %s', async (_, path, said) => {
    const { stack, env, remote } = await movableStack({ ledger: 'local' });
    const stdin = await readFile(join(stack.directory, stackFile), 'utf8');
    await stack.write(path, stdin);
    const { err } = await trueup(move('git', '--write', path), { cwd: stack.directory, env, stdin });
    expect(err).toContain(said);
    expect(git(remote, 'for-each-ref', 'refs/trueup')).toBe('');
  });

  it('is refused for a place that is not valid in a stack file', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const { err } = await scene.run(move('{ git: { remote: --upload-pack=x } }'), 1);
    expect(err).toContain('--to takes what "spec.ledger" of a stack file may have');
    expect((await scene.run(move('postgres://u:hunter2@h/d'), 1)).err).not.toContain('hunter2');
  });

  it('is not moved if something is missing at the new place, which is reported', async () => {
    const scene = await movableStack({ ledger: 'local' });
    expect((await scene.run(move('postgres'), 1)).err).toContain('"TRUEUP_LEDGER_URL" is not set');
    expect((await scene.run(move('{ git: { remote: other } }'), 1)).err).toContain(
      'git remote add other URL',
    );
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('is not moved to the same place under another name', async () => {
    const scene = await movableStack({ ledger: 'git' });
    git(scene.stack.directory, 'remote', 'add', 'backup', scene.remote);
    const { err } = await scene.run(move('{ git: { remote: backup } }'), 1);
    expect(err).toContain('only the stack file has to change');
    await scene.run(['plan', '--exit-code'], 0);
  });
});

describe('A move is refused', () => {
  it('while another run holds the lock of either place, and the printed command removes it', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await holdLock(scene.stack);
    expect((await scene.run(move('git'), 8)).err).toContain('who:   ann');
    await scene.run(['unlock', '--id', 'lock-of-ann'], 0);
    await scene.name(elsewhere);
    await scene.run(move('{ local: { folder: ledger } }', '--from', 'local'), 0);
    await holdLock(scene.stack);
    const { err } = await scene.run(move('local'), 8);
    const [, command = ''] = /it is over: trueup (.*)$/m.exec(err) ?? [];
    expect(command).toBe('unlock --id lock-of-ann --ledger local');
    await scene.run(command.split(' '), 0);
    await scene.run(move('local'), 0);
  });

  it('if the new place has other content, and neither changes', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const other = await (await openBench()).checkout({ spec: { ledger: 'git' } });
    git(other.directory, 'init', '--quiet');
    git(other.directory, 'remote', 'add', 'origin', scene.remote);
    await other.declare(workspace('other'));
    await other.run(['apply', '--yes'], 0);
    const ref = git(scene.remote, 'rev-parse', 'refs/trueup/payments');
    expect((await scene.run(move('git'), 9)).err).toContain('has other records, or another state');
    await scene.run(['plan', '--exit-code'], 0);
    expect(git(scene.remote, 'rev-parse', 'refs/trueup/payments')).toBe(ref);
    await other.run(['plan', '--exit-code'], 0);
  });

  it('by a remote that refuses pushes, and nothing is lost', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await refusePushes(scene.remote, true);
    const { err } = await scene.run(move('git'), 1);
    expect(err).toContain('the run needs permission to push "refs/trueup/payments"');
    await scene.run(['plan', '--exit-code'], 0);
    await refusePushes(scene.remote, false);
    await scene.run(move('git', '--write'), 0);
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('by a remote that refuses to close the old ledger, and both places say which one is valid', async () => {
    const scene = await movableStack({ ledger: 'git' });
    // The lock is taken by the first push; the second one would close the ledger.
    await refusePushes(scene.remote, true, 'grep -q movedTo');
    const { err } = await scene.run(move('local'), 1);
    expect(err).toContain('was not closed: nothing is lost, and the same command continues the move');
    await scene.run(['plan', '--exit-code'], 0);
    await scene.name('local');
    const unfinished = await scene.run(['plan'], 1);
    expect(unfinished.err).toContain('is an unfinished copy');
    expect(unfinished.err).toContain('"trueup ledger move --from git --to local"');
    await scene.name('git');
    await scene.stack.declare(workspace('app', { description: 'meanwhile' }));
    await scene.run(['apply', '--yes'], 0);
    const before = await scene.content();
    await refusePushes(scene.remote, false);
    await scene.name('local');
    await scene.run(move('local'), 0);
    expect(await scene.content()).toEqual(before);
  });
});

/** @param when a command that reads the ledger's text: only pushes for which it succeeds are refused */
async function refusePushes(remote: string, isOn: boolean, when = 'true'): Promise<void> {
  const { chmod, rm, writeFile } = await import('node:fs/promises');
  const hook = join(remote, 'hooks', 'update');
  await rm(hook, { force: true });
  if (!isOn) return;
  const script = `#!/bin/sh\ngit show "$3:ledger.json" 2>/dev/null | ${when} && { echo "not allowed here" >&2; exit 1; }\nexit 0\n`;
  await writeFile(hook, script);
  await chmod(hook, 0o755);
}

describe('Two stacks in one repository', () => {
  it('have ledgers that are moved independently', async () => {
    const scene = await movableStack({ ledger: 'git' });
    const other = await scene.bench.checkout({ name: 'billing', spec: { ledger: 'git' } });
    git(other.directory, 'init', '--quiet');
    git(other.directory, 'remote', 'add', 'origin', scene.remote);
    await other.declare(workspace('bills'));
    await other.run(['apply', '--yes'], 0);
    const ref = git(scene.remote, 'rev-parse', 'refs/trueup/billing');
    await scene.run(move('local', '--write'), 0);
    expect(git(scene.remote, 'rev-parse', 'refs/trueup/billing')).toBe(ref);
    await other.run(['plan', '--exit-code'], 0);
    await scene.run(['plan', '--exit-code'], 0);
  });
});

describe.skipIf(bin === undefined)('A database of two organizations', () => {
  it('keeps the ledger of the other stack with that name', async () => {
    const url = server?.newDatabase() ?? '';
    const theirs = await movableStack({ ledger: 'postgres', url });
    const ours = await movableStack({ ledger: 'local', url });
    expect((await ours.run(move('postgres'), 9)).err).toContain('rename one of the two');
    await theirs.run(['plan', '--exit-code'], 0);
    await ours.run(['plan', '--exit-code'], 0);
  });

  it('that fails during a move loses nothing, and the same command continues', async () => {
    const url = server?.newDatabase() ?? '';
    const database = (sql: string) => server?.run(url, sql);
    const other = await movableStack({ ledger: 'postgres', url });
    await other.run(move('local'), 0);
    database('delete from trueup.ledgers; delete from trueup.history');
    const scene = await movableStack({ ledger: 'local', url });
    const before = await scene.content();
    database(
      `create function cut() returns trigger language plpgsql as
       'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'`,
    );
    const isCut = (event: string) => database(`create trigger cut before ${event} execute function cut()`);
    isCut('insert on trueup.history for each row');
    expect((await scene.run(move('postgres'), 1)).err).toContain('was not closed: nothing is lost');
    await scene.run(['plan', '--exit-code'], 0);
    database('drop trigger cut on trueup.history');
    // The last write opens the copy, after the original was closed.
    isCut(`update on trueup.ledgers for each row when (new.content::text not like '%copiedFrom%')`);
    expect((await scene.run(move('postgres', '--write'), 1)).err).toContain(
      'is the ledger now: nothing is lost',
    );
    await scene.run(['plan'], 1);
    await scene.name('postgres');
    expect(await scene.content()).toEqual(before);
    database('drop trigger cut on trueup.ledgers');
    await scene.name('local');
    await scene.run(move('postgres', '--write'), 0);
    expect(await scene.content()).toEqual(before);
    expect(database('select count(*) from trueup.locks')).toBe('0');
  });
});

describe('A begun apply is moved with the ledger', () => {
  it('and the same approval completes it at the new place', async () => {
    const scene = await movableStack({ ledger: 'local' });
    const { bench, stack } = scene;
    await stack.declare(workspace('app', { description: 'three' }), workspace('fresh'));
    const plan = JSON.parse((await scene.run(['plan', '--out', 'plan.json', '--format', 'json'], 0)).out);
    expect(plan.changes).toHaveLength(2);
    let kill = () => {};
    const stuck = Promise.withResolvers<void>();
    bench.wire.setHandler(async (request, pass) => {
      if (request.method !== 'POST') return pass();
      await pass();
      kill();
      await stuck.promise;
      return undefined;
    });
    const { trueupProcess } = await import('../../support/cli/process.ts');
    const killed = await trueupProcess(
      ['apply', 'plan.json'],
      { cwd: stack.directory, env: scene.env },
      async ({ sendSignal }) => {
        kill = () => sendSignal('SIGKILL');
      },
    );
    stuck.resolve();
    bench.wire.setHandler(undefined);
    expect(killed.code).toBeNull();
    const locked = await scene.run(move('git'), 8);
    const [, id = ''] = /unlock --id (\S+)/.exec(locked.err) ?? [];
    await scene.run(['unlock', '--id', id], 0);
    expect((await scene.run(move('git'), 0)).out).toContain('1 approval whose apply has begun');
    await scene.name('git');
    expect((await scene.content()).ledger).toMatchObject({
      begunCreations: [expect.stringContaining('fresh')],
    });
    await scene.run(['apply', 'plan.json'], 0);
    await scene.run(['plan', '--exit-code'], 0);
    expect(await bench.idsOf('fresh')).toHaveLength(1);
  });
});

describe('A stack whose file names another place than that of its ledger', () => {
  it('is neither planned nor applied, and the error has the command that moves the ledger', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.name('git');
    for (const args of [['plan'], ['apply', '--yes'], ['drift']]) {
      const { err } = await scene.run(args, 9);
      expect(err).toContain('has no ledger in the ref "refs/trueup/payments" of the remote "origin"');
      expect(err).toContain('"trueup ledger move --to git"');
    }
    expect(git(scene.remote, 'for-each-ref', 'refs/trueup')).toBe('');
    await scene.run(move('git'), 0);
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('is told that the ledger is in the ref of the remote, or in a folder beside the stack file', async () => {
    const scene = await movableStack({ ledger: 'git' });
    await scene.name('local');
    expect((await scene.run(['plan'], 9)).err).toContain('but one in the ref "refs/trueup/payments"');
    await scene.run(move('{ local: { folder: ledger } }', '--from', 'git'), 0);
    expect((await scene.run(['plan'], 9)).err).toContain('but one in the file "ledger/payments.ledger.json"');
    await scene.run(move('local'), 0);
    await scene.run(['plan', '--exit-code'], 0);
  });

  it.skipIf(bin === undefined)(
    'is told that the ledger is in the database of TRUEUP_LEDGER_URL',
    async () => {
      const scene = await movableStack({ ledger: 'postgres', url: server?.newDatabase() ?? '' });
      await scene.name('local');
      expect((await scene.run(['plan'], 9)).err).toContain('but one in PostgreSQL');
      await scene.run(move('local'), 0);
      await scene.run(['plan', '--exit-code'], 0);
    },
  );

  it('is told where another checkout moved the ledger', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.run(move('git'), 0);
    await scene.name(elsewhere);
    expect((await scene.run(['plan'], 9)).err).toContain('but one in the ref "refs/trueup/payments"');
    git(scene.remote, 'update-ref', '-d', 'refs/trueup/payments');
    expect((await scene.run(['plan'], 9)).err).toContain('it was moved to the ref "refs/trueup/payments"');
    await scene.name('git');
    expect((await scene.run(['plan'], 9)).err).toContain('although it was moved there');
  });

  it('may begin a new ledger with recover, which mentions the other one', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.name('git');
    expect((await scene.run(['recover', '--yes'], 0)).out).toContain('"trueup ledger move --to git"');
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('is not stopped by a ledger with this name that has other targets', async () => {
    const other = await movableStack({ ledger: 'git' });
    const stack = await (await openBench()).checkout({ spec: { ledger: 'local' } });
    git(stack.directory, 'init', '--quiet');
    git(stack.directory, 'remote', 'add', 'origin', other.remote);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
  });

  it('is not stopped if the other places cannot be reached', async () => {
    const stack = await (await openBench()).checkout();
    git(stack.directory, 'init', '--quiet');
    git(stack.directory, 'remote', 'add', 'origin', join(stack.directory, 'nowhere'));
    await stack.declare(workspace('app'));
    const env = { ...secrets, TRUEUP_LEDGER_URL: 'postgres://u@127.0.0.1:1/x' };
    expect(await trueup(['apply', '--yes'], { cwd: stack.directory, env })).toMatchObject({ code: 0 });
  });
});
