/**
 * After a kill at any moment, the next apply converges (architecture: apply finishes or tells): it is killed before and after each
 * write request, and before and after each file that it replaces (ledger, lock, history); reads change nothing, so the
 * state between two of these boundaries is the same. By default some boundaries are tried, chosen by a fixed rule;
 * TRUEUP_BOUNDARIES chooses others.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Exited, trueupProcess } from '../support/cli/process.ts';
import { chooseBoundaries } from '../support/simulation/boundaries.ts';
import { type CrashCopy, CrashScene, type CrashState } from '../support/simulation/crash-scene.ts';
import { billing, bystander, jwts, neighbourId } from '../support/simulation/world.ts';
import { preload } from '../support/simulation/preload.ts';

const killer = preload('kill-at-rename');
const isWrite = ({ method }: { readonly method: string }) => method !== 'GET' && method !== 'LIST';

/** Ids that no apply may ever name in the path of a write. */
const foreignIds = [bystander, billing].map((name) => neighbourId(name, { name: 'acme' }));

const scene = await CrashScene.make();
const calm = await undisturbed();
afterAll(() => scene.close());

interface Boundary {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** Both sides of each write, and some of those. */
function boundaries(count: number, usual: number): Boundary[] {
  const all = Array.from({ length: count }, (_, index) =>
    (['before', 'after'] as const).map((when): Boundary => ({ at: index + 1, when })),
  ).flat();
  return chooseBoundaries(all, usual);
}

/** Starts the apply of what was approved, as a process. */
function start(copy: CrashCopy, more: Readonly<Record<string, string>> = {}): Promise<Exited> {
  const args = ['apply', 'approved.json', ...scene.approved];
  const options = { NODE_OPTIONS: `--import ${killer}`, NODE_NO_WARNINGS: '1', ...more };
  return trueupProcess(args, { cwd: copy.directory, env: { ...scene.env, ...options } });
}

async function undisturbed() {
  const copy = await scene.enter();
  try {
    const log = join(copy.directory, 'renames.txt');
    const before = await copy.state();
    const { code, out, err } = await start(copy, { LOG_RENAMES: log });
    if (code !== 0) throw new Error(`the undisturbed apply ended with ${code}:\n${out}${err}`);
    const renames = (await readFile(log, 'utf8')).trim().split('\n');
    return { before, state: await copy.state(), writes: scene.wire.writes().length, renames: renames.length };
  } finally {
    await copy.leave();
  }
}

/** Kills the process at the n-th write request: before the service gets it, or after the service carried it out. */
async function killAtRequest(copy: CrashCopy, { at, when }: Boundary): Promise<Exited> {
  let count = 0;
  let kill = () => {};
  const dead = Promise.withResolvers<void>();
  scene.wire.setHandler(async (request, pass) => {
    if (!isWrite(request)) return pass();
    count += 1;
    if (count !== at) return pass();
    if (when === 'after') await pass();
    kill();
    await dead.promise;
    return undefined;
  });
  const args = ['apply', 'approved.json', ...scene.approved];
  const ended = trueupProcess(args, { cwd: copy.directory, env: scene.env }, async ({ sendSignal }) => {
    kill = () => sendSignal('SIGKILL');
  });
  const exited = await ended;
  dead.resolve();
  scene.wire.setHandler(undefined);
  return exited;
}

/** Runs the same job again. If only a digest was approved, the approved plan is in the ledger. */
async function expectRecovery(copy: CrashCopy, by: 'file' | 'digest'): Promise<void> {
  const plan = by === 'file' ? ['approved.json'] : ['--approve', scene.digest];
  await copy.run(['apply', ...plan, ...scene.approved], 0);
  expect(await copy.state()).toEqual(calm.state);
  await copy.run(['plan', '--exit-code'], 0);
  const creates = copy.served.filter(({ method, url, status }) =>
    method === 'POST' && url.endsWith('/organizations/acme/workspaces') ? status === 201 : false,
  );
  expect(creates).toHaveLength(2);
  const foreign = copy.served.filter(isWrite).filter(({ url }) => foreignIds.some((id) => url.includes(id)));
  expect(foreign).toEqual([]);
}

describe('The same apply without a kill', () => {
  it('applies all changes, and leaves the reviewer JWT and the neighbours unchanged', () => {
    expect(calm.writes).toBeGreaterThan(12);
    expect(calm.renames).toBeGreaterThan(8);
    expect(JSON.stringify(calm.state)).toContain(jwts.REVIEWER_JWT);
    for (const name of [bystander, billing]) {
      expect(workspaceIn(calm.state, name)).toEqual(workspaceIn(calm.before, name));
    }
    for (const name of ['fresh', 'fresher', 'moved']) {
      expect(workspaceIn(calm.state, name)).toBeDefined();
      expect(workspaceIn(calm.before, name)).toBeUndefined();
    }
  });
});

function workspaceIn({ workspaces }: CrashState, name: string): unknown {
  return workspaces.find(({ attributes }) => attributes['name'] === name);
}

describe('An apply that is killed and run again has the same result as an undisturbed one', () => {
  it.each(boundaries(calm.writes, 5))('when it was killed $when write request $at', async (boundary) => {
    const copy = await scene.enter();
    try {
      expect(await killAtRequest(copy, boundary)).toMatchObject({ code: null });
      await expectRecovery(copy, boundary.at % 2 === 0 ? 'file' : 'digest');
    } finally {
      await copy.leave();
    }
  });

  it.each(boundaries(calm.renames, 7))('when it was killed $when replacing file $at', async (boundary) => {
    const copy = await scene.enter();
    try {
      const killed = await start(copy, { KILL_AT_RENAME: `${boundary.at}:${boundary.when}` });
      // The ledger writes several outcomes at once, so its last write may not happen.
      expect([null, 0], killed.out + killed.err).toContain(killed.code);
      await expectRecovery(copy, 'file');
    } finally {
      await copy.leave();
    }
  });
});
