/** Jobs of `trueup ci apply` that are killed at a write, and the checks after an attempt that ran to its end. */
import { afterAll, beforeAll, expect } from 'vitest';
import { role, workspace } from '../cli/documents.ts';
import { isRead } from '../cli/faulty-proxy.ts';
import { type Exited, trueupProcess } from '../cli/process.ts';
import {
  findPostgres,
  postgresIsRequired,
  type PostgresServer,
  startPostgres,
} from '../ledger/postgres-server.ts';
import type { ApplyScene } from './apply-scene.ts';

export const declared = [
  workspace('app', { description: 'one', tags: { env: 'prod' } }),
  workspace('web', { remoteStateConsumers: ['app'] }),
  workspace('db'),
  role('api'),
];

/** More attempts than any scene needs. */
const maxAttempts = 40;

export type Attempt = (number: number) => Promise<Exited>;

/** Starts attempts until one is not killed. @returns the number of killed attempts, and the result of the last one */
export async function killAttempts(
  attempt: Attempt,
): Promise<{ readonly killed: number; readonly ended: Exited }> {
  for (let number = 1; number <= maxAttempts; number += 1) {
    const ended = await attempt(number);
    if (ended.code !== null) return { killed: number - 1, ended };
  }
  throw new Error('each attempt was killed');
}

export interface Boundary {
  /** the number of the write in its attempt, from 1 */
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** Makes the services of a scene take one write at a time, and kills the process at one of them. */
export function watchWrites({ bench }: Pick<ApplyScene, 'bench'>) {
  const carried: string[] = [];
  let count = 0;
  let before = Promise.resolve();
  /** Kills the current process at its boundary, and resolves when it is dead; undefined at other writes. */
  let killAt = (_: Boundary): Promise<undefined> | undefined => undefined;
  bench.wire.setHandler(async (request, pass) => {
    if (isRead(request)) return pass();
    const [mine, turn, over] = [killAt, before, Promise.withResolvers<void>()];
    before = over.promise;
    await turn;
    try {
      if (mine !== killAt) return undefined;
      count += 1;
      const write = count;
      const dead = killAt({ write, when: 'before' });
      if (dead !== undefined) return await dead;
      const answer = await pass();
      if (answer.status < 300) carried.push(`${request.method} ${request.path} ${request.text}`);
      const killed = killAt({ write, when: 'after' });
      return killed === undefined ? answer : await killed;
    } finally {
      over.resolve();
    }
  });
  return {
    /** the writes of all attempts that were carried out */
    carried,
    run: async (
      args: readonly string[],
      job: ReturnType<ApplyScene['job']>,
      at: Boundary,
    ): Promise<Exited> => {
      const dead = Promise.withResolvers<undefined>();
      let kill = () => {};
      count = 0;
      killAt = ({ write, when }) => {
        if (write !== at.write || when !== at.when) return undefined;
        kill();
        return dead.promise;
      };
      const ended = await trueupProcess(args, job, async ({ sendSignal }) => {
        kill = () => sendSignal('SIGKILL');
      });
      // Requests that it has sent by then are dropped.
      killAt = () => undefined;
      dead.resolve(undefined);
      return ended;
    },
  };
}

/** Checks that all is applied, nothing was written twice, and each entry of the history names the approval. */
export async function expectApplied(
  scene: Pick<ApplyScene, 'run' | 'bench' | 'ciApply'>,
  carried: readonly string[],
  approved: object,
): Promise<void> {
  expect(carried.filter((one, at) => carried.indexOf(one) !== at)).toEqual([]);
  for (const name of ['app', 'web']) expect(await scene.bench.idsOf(name)).toHaveLength(1);
  expect(await scene.bench.tagsOf('app')).toMatchObject({ env: 'prod' });
  await scene.run(['plan', '--exit-code'], 0);
  const { out } = await scene.run(['history', '--limit', '50', '--format', 'json'], 0);
  const entries: readonly { readonly approvals?: readonly object[] }[] = JSON.parse(out).entries;
  // The oldest one is the apply that the scene begins with.
  const ours = entries.slice(0, -1).filter(({ approvals }) => approvals !== undefined);
  expect(ours.length).toBeGreaterThan(0);
  for (const { approvals } of ours) expect(approvals).toMatchObject([approved]);
  const before = scene.bench.wire.writes().length;
  expect((await scene.ciApply(0)).out).toContain('no commits since the last apply');
  expect(scene.bench.wire.writes()).toHaveLength(before);
}

/** Checks that the approval is used up: a resource that it created and that was deleted since is not created again. */
export async function expectUsedUp(scene: ApplyScene, args: readonly string[] = [], job = {}): Promise<void> {
  await scene.bench.byHand.delete(`/workspaces/${await scene.bench.idOf('web')}`);
  // Without a path, a stack without new commits is not planned.
  await scene.expectRefused(/no valid approval was found|was applied already/, 4, ['.', ...args], job);
}

export const attemptEnv = (number: number) => ({ env: { GITHUB_RUN_ATTEMPT: String(number) } });

/** A PostgreSQL server for the tests of a file. @returns whether they are skipped, and a maker of new databases */
export function postgresOfFile() {
  const bin = findPostgres();
  const isSkipped = bin === undefined && !postgresIsRequired;
  let server: PostgresServer | undefined;
  beforeAll(() => {
    if (!isSkipped) server = startPostgres(bin ?? '');
  });
  afterAll(() => server?.stop());
  return { isSkipped, newDatabase: () => server?.newDatabase() ?? '' };
}
