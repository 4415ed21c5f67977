// The process of a stack uses compiled code, and cannot change the compiled code of other stacks.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runForStack } from '../../../src/commands/fleet/stack-process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** Replaces trueup: stores "compiled code", prints what is stored, and tries to write to the path in its second argument. */
const program = `
const { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } = await import('node:fs');
const folder = process.env.NODE_COMPILE_CACHE;
const [, , , place] = process.argv;
const write = (path, text) => { try { writeFileSync(path, text); return true; } catch { return false; } };
if (place === undefined) {
  mkdirSync(folder, { recursive: true });
  write(folder + '/kept', readFileSync('trueup.yaml', 'utf8'));
}
const compiled = folder === undefined ? [] : readdirSync(folder);
console.log(JSON.stringify({ folder, compiled, written: place !== undefined && write(place, 'x') }));
`;

interface Folders {
  readonly root: string;
  readonly place: string;
}

function start({ root, place }: Folders, signal = new AbortController().signal) {
  return runForStack({
    repository: { name: 'infra', variables: [], files: [] } as never,
    ...{ checkout: { directory: root }, path: 'trueup.yaml', program: join(root, 'program.mjs') },
    ...{ env: { PATH: globalThis.process.env['PATH'] }, folder: join(root, 'worker') },
    ...{ command: ['drift'], args: [place], killDelay: 1000 },
    ...{ signal, answer: async () => undefined },
  });
}

async function process(folders: Folders) {
  const ended = await start(folders);
  return JSON.parse(ended.output) as {
    readonly folder: string;
    readonly compiled: readonly string[];
    readonly written: boolean;
  };
}

/** The first few starts have no compiled code. */
async function startFew(folders: Folders): Promise<void> {
  for (let starts = 0; starts < 3; starts += 1) expect((await process(folders)).compiled).toEqual([]);
}

function makeProgram(): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'worker'));
  writeFileSync(join(root, 'program.mjs'), program);
  return root;
}

it('A process of a stack reads the compiled code of its command, and cannot write it', async () => {
  const root = makeProgram();
  const folder = join(root, 'worker', 'compiled-drift');
  await startFew({ root, place: join(folder, 'planted') });
  const expected = { folder, compiled: expect.arrayContaining(['kept']), written: false };
  expect(await process({ root, place: join(folder, 'planted') })).toEqual(expected);
  expect(await process({ root, place: join(folder, 'kept') })).toEqual(expected);
});

it('If a process ends before its code is compiled, the next process compiles it', async () => {
  const root = makeProgram();
  const place = join(root, 'worker', 'planted');
  await startFew({ root, place });
  await start({ root, place }, AbortSignal.abort());
  expect((await process({ root, place })).compiled).not.toEqual([]);
});
