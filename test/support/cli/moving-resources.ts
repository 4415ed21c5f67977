/** Two stacks, whose ledgers can be in different places: `payments` is about to take over a workspace and a role of `billing`. */
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { gitLedger } from '../../../src/ledger/git/git-ledger.ts';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { postgresLedger } from '../../../src/ledger/postgres-ledger.ts';
import type { StackStore } from '../../../src/model/ledger.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { git, makeRemote } from '../ledger/git-remote.ts';
import { type Bench, type Checkout, openBench, secrets } from './bench.ts';
import { role, workspace } from './documents.ts';
import { trueupProcess } from './process.ts';

type Place = 'local' | 'git' | 'postgres';

interface Places {
  /** of the ledger of `billing`, and of that of `payments` */
  readonly from: Place;
  readonly to: Place;
  /** the URL of a database */
  readonly url?: string | undefined;
}

export interface MovingResources {
  readonly bench: Bench;
  readonly billing: Checkout;
  readonly payments: Checkout;
  /** the arguments of the apply that takes the resources over */
  readonly job: readonly string[];
  storeOf(name: 'billing' | 'payments'): Pick<StackStore, 'read' | 'readLock'>;
}

export const jobEnv = { ...secrets, TRUEUP_RUN_ID: '771', NODE_NO_WARNINGS: '1' };

const away = (kind: string, name: string) => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata: { name, movedTo: { stack: 'payments' } },
});

/** The documents in `billing` after the move. */
export const movedDocuments = [away('Workspace', 'app'), away('ClusterAuthRole', 'web')];

const spec = { autoApply: true, tags: { env: 'prod' } };
/** The value of `spec.ledger` for each place. */
export const ledgers = {
  local: 'local',
  git: 'git',
  postgres: { postgres: { url: { file: 'ledger-url.txt' } } },
};

/** Declares the resources in `payments`. The role also changes. */
export async function aboutToMove(places: Places = { from: 'local', to: 'local' }): Promise<MovingResources> {
  const scene = await twoStacks(places);
  const { payments } = scene;
  const from = { movedFrom: scene.origin };
  await payments.declare(workspace('app', spec, from), role('web', { tokenTtl: '2h' }, from));
  const { digest, acknowledge } = await payments.plan();
  return { ...scene, job: ['apply', '--approve', digest, '--ack', acknowledge.join(',')] };
}

/** The same, before `payments` declares anything. */
export async function twoStacks({ from, to, url = '' }: Places) {
  const bench = await openBench();
  const remote = makeRemote().directory;
  const open = async (name: string, place: Place) => {
    const stack = await bench.checkout({ name, spec: { ledger: ledgers[place] } });
    // The local ledger of another stack must be in the same repository.
    if (from !== 'local') {
      git(stack.directory, 'init', '--quiet');
      git(stack.directory, 'remote', 'add', 'origin', remote);
    }
    await stack.write('ledger-url.txt', url);
    return stack;
  };
  const billing = await open('billing', from);
  await billing.setUp(workspace('app', spec), role('web'));
  const payments = await open('payments', to);
  const folder = relative(payments.directory, join(billing.directory, '.trueup'));
  const origin = { stack: 'billing', ...(from === 'local' ? { folder } : {}) };
  const storeOf = (name: 'billing' | 'payments') => {
    const [{ directory, ledgerFile }, place] = name === 'billing' ? [billing, from] : [payments, to];
    if (place === 'local') return localLedger(ledgerFile, name);
    if (place === 'postgres') return closing(() => postgresLedger(url, name));
    return gitLedger({ directory, env: {}, secrets: new KnownSecrets() }, { remote: 'origin', stack: name });
  };
  return { bench, billing, payments, origin, storeOf };
}

function closing(open: () => StackStore): Pick<StackStore, 'read' | 'readLock'> {
  const ask = async <T>(work: (store: StackStore) => Promise<T>) => {
    const store = open();
    return work(store).finally(() => store.close());
  };
  return { read: () => ask((store) => store.read()), readLock: () => ask((store) => store.readLock()) };
}

/** Removes the lock of `billing`, as a user does who knows that the other apply is dead. */
export async function unlock({ billing, storeOf }: MovingResources): Promise<void> {
  const lock = await storeOf('billing').readLock();
  if (lock !== undefined) await billing.run(['unlock', '--id', lock.id], 0);
}

/** The stacks that own the workspace and the role according to their ledgers; both resources have the same owner. */
export async function owners({ storeOf }: MovingResources): Promise<string[]> {
  const sources = (await storeOf('billing').read()).records.size > 0 ? ['billing'] : [];
  const { records, incoming = [] } = await storeOf('payments').read();
  const isGiven = incoming.length > 0 && sources.length === 0;
  return [...sources, ...(records.size > 0 || isGiven ? ['payments'] : [])];
}

/** Runs the same job again, and checks that the move is complete. */
export async function expectCompleted({ bench, payments, job, storeOf }: MovingResources): Promise<void> {
  const again = await trueupProcess(job, { cwd: payments.directory, env: jobEnv });
  expect(again, again.out + again.err).toMatchObject({ code: 0 });
  const [former, present] = [await storeOf('billing').read(), await storeOf('payments').read()];
  expect([former.records.size, former.movedAway?.size]).toEqual([0, 3]);
  expect([present.records.size, present.incoming]).toEqual([3, undefined]);
  for (const name of ['billing', 'payments'] as const) expect(await storeOf(name).readLock()).toBeUndefined();
  expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
  await payments.run(['plan', '--exit-code'], 0);
  const { entries } = JSON.parse((await payments.run(['history', '--format', 'json'], 0)).out);
  const copied = entries.filter(({ stack }: { stack: string }) => stack === 'billing');
  expect(copied).toHaveLength(1);
}
