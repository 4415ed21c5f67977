// A ledger that several machines share: each of them knows what another one applied.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { workspace } from '../../support/cli/documents.ts';

const app = (description: string) => workspace('app', { description });

/** Applies on a machine whose clock is a day ahead, and then on another one, which has to be the newest apply. */
async function applyInOrder(
  stack: Checkout,
  machine: () => { readonly directory: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  for (const [description, ahead] of Object.entries({ ahead: 24 * 3_600_000, right: 0 })) {
    await stack.declare(app(description));
    const { directory: cwd, env } = machine();
    if (cwd !== stack.directory) await cp(stack.directory, cwd, { recursive: true });
    const run = (...args: string[]) => trueup(args, { cwd, env, now: () => Date.now() + ahead });
    expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
    expect((await run('history', 'show', 'latest')).out).toContain(description);
    expect((await run('history')).out.match(/1 applied/g)).toHaveLength(ahead === 0 ? 2 : 1);
  }
}

describe('a ledger in git', () => {
  it('is shared by all clones, also shallow ones, without files in their work trees', async () => {
    const remote = makeRemote();
    const stack = await (await openBench()).checkout({ spec: { ledger: 'git' } });
    await stack.declare(app('old'));
    const machine = async (...options: string[]) => {
      const clone = remote.clone(...options);
      await cp(stack.directory, clone, { recursive: true });
      return (...args: string[]) => trueup(args, { cwd: clone, env: secrets });
    };
    const [one, other] = [await machine(), await machine('--depth=1')];
    expect(await one('apply', '--yes')).toMatchObject({ code: 0 });
    const { out } = await other('plan', '--exit-code', '--format', 'json');
    expect(JSON.parse(out)).toMatchObject({ changes: [], coverage: { ledger: 'found' } });
    expect((await other('history')).out).toContain('1 applied');
    const files = git(remote.directory, 'ls-tree', '-r', '--name-only', 'refs/trueup/payments');
    expect(files).toMatch(/^history\/\S+\.json\nledger\.json$/);
  });

  it('has the applies in their order if the clock of a machine is ahead', async () => {
    const remote = makeRemote();
    const stack = await (await openBench()).checkout({ spec: { ledger: 'git' } });
    await applyInOrder(stack, () => ({ directory: remote.clone(), env: secrets }));
  });

  it('is locked for every clone', async () => {
    const remote = makeRemote();
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { ledger: 'git' } });
    await stack.declare(app('old'));
    const [one, other] = [remote.clone(), remote.clone()];
    for (const clone of [one, other]) await cp(stack.directory, clone, { recursive: true });
    const inTheMiddle: string[] = [];
    const second = async () => {
      const { code, err } = await trueup(['apply', '--yes'], { cwd: other, env: secrets });
      inTheMiddle.push(`${code}: ${err}`);
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: second } });
    expect(await trueup(['apply', '--yes'], { cwd: one, env: secrets })).toMatchObject({ code: 0 });
    expect(inTheMiddle).toMatchObject([expect.stringMatching(/^8: .*stack "payments" is locked/)]);
  });

  it('is reported in one line if there is no repository', async () => {
    const stack = await (await openBench()).checkout({ spec: { ledger: 'git' } });
    await stack.declare(app('old'));
    const { err } = await stack.run(['plan'], 1);
    expect(err).toMatch(/^error: "ledger: git" needs a git repository, but ".*" is not in one: [^\n]*\n$/);
  });
});

const bin = findPostgres();

describe.skipIf(bin === undefined)('a ledger in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(() => {
    server = startPostgres(bin ?? '');
  });
  afterAll(() => server.stop());

  it('is used by every run that has its address', async () => {
    const url = server.newDatabase();
    const stack = await (await openBench()).checkout({ spec: { ledger: 'postgres' } });
    await stack.declare(app('old'));
    const env = { ...secrets, TRUEUP_LEDGER_URL: url };
    const run = (...args: string[]) => trueup(args, { cwd: stack.directory, env });
    expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
    await stack.declare(app('new'));
    expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
    expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
    expect((await run('history')).out.match(/1 applied/g)).toHaveLength(2);
  });

  it('has the applies in their order if the clock of a machine is ahead', async () => {
    const env = { ...secrets, TRUEUP_LEDGER_URL: server.newDatabase() };
    const stack = await (await openBench()).checkout({ spec: { ledger: 'postgres' } });
    await applyInOrder(stack, () => ({ directory: stack.directory, env }));
  });

  it('may have its address in a file, relative to the stack', async () => {
    const ledger = { postgres: { url: { file: 'ledger-url.txt' } } };
    const stack = await (await openBench()).checkout({ spec: { ledger } });
    await stack.declare(app('old'));
    await stack.write('ledger-url.txt', `${server.newDatabase()}\n`);
    await stack.run(['apply', '--yes'], 0);
    await expect(stack.ledger()).rejects.toThrow('ENOENT');
  });

  it('is reported with the name of the variable when the environment has no address', async () => {
    const stack = await (await openBench()).checkout({ spec: { ledger: 'postgres' } });
    await stack.declare(app('old'));
    const { err } = await stack.run(['plan'], 1);
    expect(err).toContain(
      'the environment variable "TRUEUP_LEDGER_URL" is not set: it has to hold the address of the ledger\'s database',
    );
  });
});

it('each example of a ledger in the guide is valid', async () => {
  const { readFile } = await import('node:fs/promises');
  const page = await readFile(new URL('../../../docs/guides/ledger.md', import.meta.url), 'utf8');
  for (const [, text = ''] of page.matchAll(/^ {2}ledger: (.*?)\s*(?:#.*)?$/gm)) {
    const stack = await (await openBench()).checkout({ spec: { ledger: 'PLACE' } });
    const file = await readFile(join(stack.directory, 'trueup.yaml'), 'utf8');
    await stack.write('trueup.yaml', file.replace('"PLACE"', text));
    await stack.declare(app('old'));
    await stack.run(['validate'], 0);
  }
});

describe('a database connection with TLS', () => {
  it.each(['prefer', 'require', 'verify-ca'])(
    'with sslmode=%s causes no warnings of libraries on stderr',
    async (mode) => {
      const spec = { ledger: { postgres: { url: { env: 'LEDGER_URL' } } } };
      const stack = await (await openBench()).checkout({ spec });
      await stack.declare(app('old'));
      const LEDGER_URL = `postgres://u@127.0.0.1:1/x?sslmode=${mode}`;
      const { code, err } = await trueupProcess(['plan', '--format', 'json'], {
        cwd: stack.directory,
        env: { ...secrets, LEDGER_URL },
      });
      expect(code, err).toBe(1);
      expect(err).toBe('');
    },
  );
});
