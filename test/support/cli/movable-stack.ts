/** A stack in a repository with a remote, and optionally a database, so that its ledger can be in any store. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type CommandResult, trueup } from '../captured-host.ts';
import { git, makeRemote } from '../ledger/git-remote.ts';
import { type Bench, type BenchOptions, type Checkout, openBench, secrets } from './bench.ts';
import { workspace } from './documents.ts';
import { type Exited, trueupProcess } from './process.ts';

export interface MovableStack {
  readonly bench: Bench;
  readonly stack: Checkout;
  readonly env: Readonly<Record<string, string>>;
  /** the bare repository */
  readonly remote: string;
  run(args: readonly string[], code: number): Promise<CommandResult>;
  process(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Exited>;
  /** writes this place of the ledger into the stack file */
  name(ledger: unknown): Promise<void>;
  /** ledger and history as commands print them, without the place of the ledger */
  content(): Promise<LedgerContent>;
}

export interface LedgerContent {
  readonly ledger: Readonly<Record<string, unknown>>;
  readonly history: readonly unknown[];
}

export const stackFile = 'trueup.yaml';

export interface MovableOptions {
  readonly ledger: unknown;
  /** the URL of a database */
  readonly url?: string;
  readonly bench?: BenchOptions;
}

/** A stack with two applies in its history. */
export async function movableStack({ ledger, url, bench: more }: MovableOptions): Promise<MovableStack> {
  const bench = await openBench(more);
  const stack = await bench.checkout();
  const { directory } = stack;
  const remote = makeRemote().directory;
  git(directory, 'init', '--quiet');
  git(directory, 'remote', 'add', 'origin', remote);
  const env = { ...secrets, ...(url === undefined ? {} : { TRUEUP_LEDGER_URL: url }) };
  const run = async (args: readonly string[], code: number) => {
    const ran = await trueup(args, { cwd: directory, env });
    expect(ran, `${args.join(' ')}\n${ran.out}${ran.err}`).toMatchObject({ code });
    return ran;
  };
  const json = async (...args: string[]) => JSON.parse((await run([...args, '--format', 'json'], 0)).out);
  const name = async (place: unknown) => {
    const file = JSON.parse(await readFile(join(directory, stackFile), 'utf8'));
    await stack.write(stackFile, JSON.stringify({ ...file, spec: { ...file.spec, ledger: place } }, null, 2));
  };
  await name(ledger);
  await stack.declare(workspace('app', { description: 'one' }));
  await run(['apply', '--yes'], 0);
  await stack.declare(workspace('app', { description: 'two' }));
  await run(['apply', '--yes'], 0);
  return {
    ...{ bench, stack, env, remote, run, name },
    process: (args, extra = {}) => trueupProcess(args, { cwd: directory, env: { ...env, ...extra } }),
    content: async () => {
      const { place, serial, ...ledger } = await json('ledger', 'show');
      const { entries } = await json('history');
      const history = await Promise.all(entries.map(({ id }: { id: string }) => json('history', 'show', id)));
      return { ledger, history };
    },
  };
}
