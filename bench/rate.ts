/**
 * What the rate of requests costs on a service that announces no limit: `trueup serve` as a process of its own, the built command,
 * and targets without `requestsPerSecond`. Builds `dist` first. `node bench/rate.ts [resources] [rounds]`
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { smallSeed } from '../test/support/rig/embedded-service.ts';
import { clusterAuthTarget, stackIn, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../test/support/rig/temporary-folder.ts';
import { asDocuments, type Manifest, names, role, workspace } from '../test/support/scale/counted-stack.ts';
import { printTimes, sideBySide } from './side-by-side.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const [count = 1000, rounds = 3] = process.argv.slice(2).map(Number);
const env = { ...process.env, API_TOKEN: 'bench-token', SERVICE_TOKEN: 'bench-service-token' };
const seed = smallSeed({ owners: { ci: env.API_TOKEN }, serviceToken: env.SERVICE_TOKEN });

/** Starts the service and waits for the line with its address. */
async function serve(folder: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const file = join(folder, 'seed.json');
  await writeFile(file, JSON.stringify(seed));
  const args = ['dist/main.js', 'serve', '--port', '0', '--data', ':memory:', '--seed', file];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let shown = '';
  for await (const chunk of child.stdout) {
    shown += String(chunk);
    const url = /http:\S+/.exec(shown)?.[0];
    if (url === undefined) continue;
    return {
      url,
      async stop() {
        child.kill();
        await once(child, 'exit');
      },
    };
  }
  throw new Error(`the service did not start: ${shown}`);
}

/** A stack in a folder of its own; `more` are members of its targets. */
async function stackOf(name: string, url: string, manifests: readonly Manifest[], more: object) {
  const directory = makeFolder();
  const targets = [workspacesTarget(url, more), clusterAuthTarget(url, more)];
  const spec = { guards: { maxDeletes: 100_000, maxDeletePercent: 100 } };
  const stack = stackIn({ directory, stack: { name, targets, spec }, env });
  await stack.write('manifests.yaml', asDocuments(manifests));
  return {
    directory,
    command: async (...args: readonly string[]) => {
      await run(process.execPath, [join(root, 'dist/main.js'), ...args], { cwd: directory, env });
    },
  };
}

await run(process.execPath, ['scripts/build.ts'], { cwd: root });
const place = makeFolder();
const service = await serve(place);
const folders: string[] = [place];
/** The default rate, on which nothing is said in the stack. */
const byDefault = { requestsPerSecond: undefined };

async function plans(name: string, manifests: readonly Manifest[]): Promise<() => Promise<void>> {
  const fast = await stackOf(name, service.url, manifests, {});
  folders.push(fast.directory);
  await fast.command('apply', '--yes');
  const targets = [workspacesTarget(service.url, byDefault), clusterAuthTarget(service.url, byDefault)];
  stackIn({ directory: fast.directory, stack: { name, targets }, env });
  return () => fast.command('plan', '--exit-code');
}

try {
  const roles = await plans(
    'roles',
    names('role', count).map((name) => role(name)),
  );
  const workspaces = await plans(
    'workspaces',
    names('ws', count).map((name) => workspace(name)),
  );
  console.log(`at the default rate, ${rounds} rounds in turns:`);
  printTimes(
    await sideBySide(
      { [`plan of ${count} workspaces`]: workspaces, [`plan of ${count} roles`]: roles },
      rounds,
    ),
  );
  const created = names('new', 2 * count).map((name) => workspace(name));
  const creates = await stackOf('creates', service.url, created, byDefault);
  folders.push(creates.directory);
  const began = performance.now();
  await creates.command('apply', '--yes');
  console.log(`apply of ${2 * count} creates: ${((performance.now() - began) / 1000).toFixed(1)} s`);
} finally {
  await service.stop();
  for (const folder of folders) removeFolder(folder);
}
