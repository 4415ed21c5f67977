// What trueup doctor reports about a ledger and its lock, in each store, without taking the lock or writing anything.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type DoctorReport, runDoctor } from '../../support/cli/doctor-report.ts';
import { holdLock, open } from '../../support/cli/locked-stack.ts';
import { movableStack } from '../../support/cli/movable-stack.ts';
import { trueup } from '../../support/captured-host.ts';
import { serveGit } from '../../support/ledger/git-http.ts';
import { git, makeRemote, stateOf } from '../../support/ledger/git-remote.ts';
import {
  findPostgres,
  postgresIsRequired,
  type PostgresServer,
  startPostgres,
} from '../../support/ledger/postgres-server.ts';
import { stackText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** A target that needs no address. */
const embedded = [
  { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme', dialect: 'neutral' },
];

const check = ({ directory, env }: Checkout, more: Record<string, string> = {}): Promise<DoctorReport> =>
  runDoctor({ cwd: directory, env: { ...env, ...more } });

describe('trueup doctor reports about a ledger in files', () => {
  it('that it is damaged, and how to rebuild it', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    writeFileSync(stack.ledgerFile, '{"damaged');
    const found = await check(stack);
    expect(found.one('ledger-unreadable').fix).toContain('trueup recover');
    expect(found.of('lock')).toEqual(['info unchecked']);
    expect(found.of('rights', 'acme')).toEqual(['ok rights']);
    expect(found.code).toBe(1);
  });

  it.skipIf(process.getuid?.() === 0)('that its folder cannot be written', async () => {
    const { stack } = await open();
    chmodSync(stack.directory, 0o555);
    const found = await check(stack);
    chmodSync(stack.directory, 0o755);
    expect(found.one('ledger-unwritable').message).toContain('cannot be written: this user may not do that');
  });

  it('that its folder is a file', async () => {
    const { stack } = await open();
    writeFileSync(join(stack.directory, '.trueup'), '');
    expect((await check(stack)).of('ledger')).toEqual(['error ledger-unreadable']);
  });

  it('that a target has moved since the last apply', async () => {
    const bench = await openBench({ others: ['acme-labs'] });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    const moved = await stack.reconfigure({ workspaces: { organization: 'acme-labs' } });
    const found = await check(moved);
    expect(found.one('ledger-target-moved', 'acme').fix).toContain('trueup recover --moved acme');
  });

  it('that it is not at the place that the stack names', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const moved = await stack.reconfigure({ spec: { ledger: { local: { folder: 'ledger' } } } });
    const found = await check(moved);
    expect(found.one('ledger-elsewhere').message).toContain('payments.ledger.json');
    expect(found.code).toBe(1);
  });

  it('that it was lost, if live resources have its id in their ownership tag', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    expect((await check(stack)).of('ledger')).toEqual(['ok ledger']);
    rmSync(join(stack.directory, '.trueup'), { recursive: true });
    await stack.run(['plan'], 9);
    const found = await check(stack);
    expect(found.of('ledger')).toEqual(['error ledger-lost']);
    expect(found.one('ledger-lost', 'acme').fix).toContain('trueup recover');
    expect(found.code).toBe(1);
    await stack.run(['recover', '--yes'], 0);
    expect((await check(stack)).of('ledger')).toEqual(['ok ledger']);
  });

  it('that another stack of the same name owns what is declared', async () => {
    const bench = await openBench();
    const first = await bench.checkout();
    await first.setUp(workspace('app'));
    const second = await bench.checkout();
    await second.setUp(workspace('other'));
    await second.declare(workspace('app'));
    await second.run(['plan'], 9);
    const { message, fix } = (await check(second)).one('ledger-other-id', 'acme');
    expect(message).toContain('another stack has the same name');
    expect(fix).toContain('trueup recover --adopt-repository');
  });

  it('that it was moved, with the line to write into the stack file', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.run(['ledger', 'move', '--to', 'git', '--yes'], 0);
    const found = await check(scene.stack);
    expect(found.of('ledger')).toEqual(['error ledger-unreadable']);
    expect(found.one('ledger-unreadable').fix).toContain('write "ledger: git" into the "spec"');
  });

  it('that it was lost after a move, with the message of a plan and of "ledger show"', async () => {
    const scene = await movableStack({ ledger: 'local' });
    await scene.run(['ledger', 'move', '--to', 'git', '--yes'], 0);
    await scene.name('git');
    const ref = git(scene.remote, 'rev-parse', 'refs/trueup/payments').trim();
    git(scene.remote, 'update-ref', '-d', 'refs/trueup/payments');
    const { message, fix = '' } = (await check(scene.stack)).one('ledger-elsewhere');
    expect(message).toContain('although it was moved there');
    expect(message).toContain('restore it');
    expect(fix).toContain('"trueup recover" makes a new one');
    expect(fix).not.toContain('delete');
    for (const [args, code] of [
      [['plan'], 9],
      [['ledger', 'show'], 1],
    ] as const)
      expect((await scene.run(args, code)).err).toContain(`${message}; `);
    git(scene.remote, 'update-ref', 'refs/trueup/payments', ref);
    await scene.run(['ledger', 'show'], 0);
    expect((await check(scene.stack)).of('ledger')).toEqual(['ok ledger']);
  });

  it('that it is in a CI job, and will be lost with it', async () => {
    const { stack } = await open();
    const found = await check(stack, { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '771' });
    expect(found.one('ledger-temporary')).toMatchObject({ level: 'warning' });
    expect(found.code).toBe(0);
  });
});

describe('trueup doctor reports about the lock', () => {
  it('who holds it, where, since when, and how to remove it', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const before = await readFile(`${stack.ledgerFile}.lock`, 'utf8');
    const found = await runDoctor({
      cwd: stack.directory,
      env: stack.env,
      now: () => Date.parse('2026-11-20T13:42:00.000Z'),
    });
    expect(found.one('lock-held')).toMatchObject({
      level: 'error',
      message:
        'ann holds the lock since 2026-11-20T11:42:00.000Z, for 2h, on ci-runner-7 in the run "github/acme/infra/771/apply"',
      fix: 'wait for that apply, or if it has certainly ended: trueup unlock --id lock-of-ann',
    });
    expect(found.code).toBe(1);
    expect(await readFile(`${stack.ledgerFile}.lock`, 'utf8')).toBe(before);
  });

  it('that the next apply of this job takes it over', async () => {
    const { stack } = await open();
    await holdLock(stack, { attempt: 1 });
    const found = await check(stack, {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/infra',
      GITHUB_RUN_ID: '771',
      GITHUB_JOB: 'apply',
      GITHUB_RUN_ATTEMPT: '2',
    });
    expect(found.of('lock')).toEqual(['info lock-of-earlier-attempt']);
  });
});

describe('trueup doctor reports about a ledger in git', () => {
  const stack = stackText({ name: 'payments', targets: embedded, manifests: [], spec: { ledger: 'git' } });

  it('nothing if it can be read and pushed, and pushes nothing', async () => {
    const remote = makeRemote();
    const cwd = remote.clone();
    writeFileSync(join(cwd, 'trueup.yaml'), stack);
    git(cwd, 'add', '.');
    git(cwd, 'commit', '--quiet', '-m', 'stack');
    const [before, refs] = [stateOf(cwd), git(remote.directory, 'for-each-ref')];
    const found = await runDoctor({ cwd, env: { PATH: process.env['PATH'] ?? '' } });
    expect(found.of('ledger')).toEqual(['ok ledger']);
    expect(found.of('git')).toEqual(['ok git']);
    expect(found.of('lock')).toEqual(['ok lock']);
    expect(stateOf(cwd)).toEqual(before);
    expect(git(remote.directory, 'for-each-ref')).toBe(refs);
  });

  it('that the remote refuses pushes of this login, without showing its password', async () => {
    const remote = makeRemote();
    const password = 'planted-git-password-31d0';
    const header = `Basic ${Buffer.from(`ci:${password}`).toString('base64')}`;
    const host = await serveGit(remote.directory, header);
    git(remote.directory, 'config', 'http.receivepack', 'false');
    const cwd = remote.clone();
    git(cwd, 'remote', 'set-url', 'origin', host.url.replace('//', `//ci:${password}@`));
    writeFileSync(join(cwd, 'trueup.yaml'), stack);
    const found = await runDoctor({ cwd, env: { PATH: process.env['PATH'] ?? '', HOME: cwd } });
    const { message, fix } = found.one('ledger-unwritable');
    expect(message).toContain('"refs/trueup/payments" cannot be pushed to the remote "origin"');
    expect(fix).toContain('contents: write');
    expect(found.written).not.toContain(password);
  });

  it('that the remote cannot be reached, or there is no repository', async () => {
    const remote = makeRemote();
    const cwd = remote.clone();
    git(cwd, 'remote', 'set-url', 'origin', join(cwd, 'gone.git'));
    writeFileSync(join(cwd, 'trueup.yaml'), stack);
    const env = { PATH: process.env['PATH'] ?? '' };
    expect((await runDoctor({ cwd, env })).one('ledger-unreadable').fix).toContain('git ls-remote');
    const outside = temporaryFolder({ 'trueup.yaml': stack });
    const found = await runDoctor({ cwd: outside, env });
    expect(found.of('git')).toEqual(['error git-no-repository']);
    expect(found.of('ledger')).toEqual(['error ledger-unreadable']);
  });

  it('that another repository has applied it', async () => {
    const bench = await openBench();
    const folder = await bench.checkout({ spec: { ledger: { local: { folder: 'ledger' } } } });
    await folder.declare(workspace('app'));
    git(folder.directory, 'init', '--quiet');
    git(folder.directory, 'remote', 'add', 'origin', 'https://git.example.com/acme/infra.git');
    const env = { ...secrets, PATH: process.env['PATH'] ?? '' };
    const apply = await trueup(['apply', '--yes'], { cwd: folder.directory, env });
    expect(apply, apply.err).toMatchObject({ code: 0 });
    git(folder.directory, 'remote', 'set-url', 'origin', 'https://git.example.com/acme/copy.git');
    const found = await runDoctor({ cwd: folder.directory, env });
    expect(found.one('ledger-other-repository').message).toContain('git.example.com/acme/copy');
  });
});

const bin = findPostgres();

describe.skipIf(bin === undefined && !postgresIsRequired)(
  'trueup doctor reports about a ledger in PostgreSQL',
  () => {
    let server: PostgresServer;
    beforeAll(() => {
      server = startPostgres(bin ?? '');
    });
    afterAll(() => server?.stop());

    const cwd = () =>
      temporaryFolder({
        'trueup.yaml': stackText({ targets: embedded, manifests: [], spec: { ledger: 'postgres' } }),
      });
    const at = (url: string) => runDoctor({ cwd: cwd(), env: { TRUEUP_LEDGER_URL: url } });

    it('nothing if its tables can be created, and creates none', async () => {
      const url = server.newDatabase();
      expect((await at(url)).of('ledger')).toEqual(['ok ledger']);
      expect(server.run(url, "select count(*) from pg_namespace where nspname = 'trueup'")).toBe('0');
    });

    it('that the user may not create its tables, or write them', async () => {
      const url = server.newDatabase();
      server.run(url, 'create role reader login');
      const reader = server.urlFor(url, 'reader');
      expect((await at(reader)).one('ledger-unwritable').message).toContain(
        'the user "reader" may not create the tables of the schema "trueup"',
      );
      const applied = await trueup(['apply', '--yes'], { cwd: cwd(), env: { TRUEUP_LEDGER_URL: url } });
      expect(applied, applied.err).toMatchObject({ code: 0 });
      server.run(
        url,
        'grant usage on schema trueup to reader; grant select on all tables in schema trueup to reader',
      );
      expect((await at(reader)).one('ledger-unwritable').message).toContain(
        'the user "reader" may not write the tables of the schema "trueup"',
      );
    });

    it('that nothing listens at its address, without showing its password', async () => {
      const password = 'planted-ledger-password-91c2';
      const found = await at(`postgres://trueup:${password}@127.0.0.1:1/ledger`);
      expect(found.of('ledger')).toEqual(['error ledger-unreadable']);
      expect(found.written).not.toContain(password);
      const unset = await runDoctor({ cwd: cwd(), env: {} });
      expect(unset.one('ledger-unreadable').message).toContain('"TRUEUP_LEDGER_URL" is not set');
    });
  },
);
