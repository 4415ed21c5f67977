// The process of a stack uses compiled code, and cannot change what the process of another stack gets.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runForStack } from '../../../src/commands/fleet/stack-process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** Takes the place of trueup: prints its folder of compiled code, and tries to write where a second argument says. */
const program = `
const { getCompileCacheDir } = await import('node:module');
const { readdirSync, writeFileSync } = await import('node:fs');
const folder = getCompileCacheDir();
const compiled = folder === undefined ? [] : readdirSync(folder);
await import('./loaded.mjs');
const [, , , place] = process.argv;
let written = false;
try { writeFileSync(place, 'x'); written = true; } catch {}
console.log(JSON.stringify({ folder, compiled, written }));
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

/** Of the first few starts none has compiled code. */
async function startFew(folders: Folders): Promise<void> {
  for (let starts = 0; starts < 3; starts += 1) expect((await process(folders)).compiled).toEqual([]);
}

function makeProgram(): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'worker'));
  writeFileSync(join(root, 'program.mjs'), program);
  writeFileSync(join(root, 'loaded.mjs'), 'export const loaded = true;\n');
  return root;
}

it('A process of a stack gets a copy of the compiled code of its command, and cannot write the original', async () => {
  const root = makeProgram();
  const original = join(root, 'worker', 'compiled-drift');
  await startFew({ root, place: join(original, 'planted') });
  const first = await process({ root, place: join(original, 'planted') });
  expect(first.written).toBe(false);
  const [versioned = ''] = readdirSync(original);
  const compiled = readdirSync(join(original, versioned));
  expect(compiled).not.toEqual([]);
  expect(first.compiled).toEqual(compiled);
  expect(first.folder).toMatch(/\/worker\/run-[^/]+\/compiled\//);
  const second = await process({ root, place: join(root, 'worker', 'planted') });
  expect(second.folder).not.toBe(first.folder);
  expect(second.written).toBe(false);
});

it('A process that ends before the code of its command is compiled leaves that to the next one', async () => {
  const root = makeProgram();
  const place = join(root, 'worker', 'planted');
  await startFew({ root, place });
  await start({ root, place }, AbortSignal.abort());
  expect((await process({ root, place })).compiled).not.toEqual([]);
});
