/**
 * Measures the cost of the default rate of requests on a service that announces no limit, for targets without `requestsPerSecond`.
 * Builds `dist` first.
 * `node bench/rate.ts [resources] [rounds]`
 */
import { smallSeed, startService } from '../test/support/rig/embedded-service.ts';
import { clusterAuthTarget, stackIn, workspacesTarget } from '../test/support/rig/stack-folder.ts';
import { makeFolder, removeFolder } from '../test/support/rig/temporary-folder.ts';
import { asDocuments, type Manifest, names, role, workspace } from '../test/support/scale/counted-stack.ts';
import { build, env, measure, spreadOf, trueup } from './processes.ts';

const [count = 1000, rounds = 3] = process.argv.slice(2).map(Number);

build();
const service = await startService({
  seed: smallSeed({ owners: { ci: env.API_TOKEN }, serviceToken: env.SERVICE_TOKEN }),
});
const folders: string[] = [];

/** A stack in its own folder. @param rate members of its targets; by default they have no limit */
function stackOf(name: string, directory: string, rate: object = {}) {
  const targets = [workspacesTarget(service.url, rate), clusterAuthTarget(service.url, rate)];
  const spec = { guards: { maxDeletes: 100_000, maxDeletePercent: 100 } };
  return stackIn({ directory, stack: { name, targets, spec }, env });
}

/** The default rate of trueup: the stack sets none. */
const byDefault = { requestsPerSecond: undefined };

async function printPlan(what: string, name: string, manifests: readonly Manifest[]): Promise<void> {
  const directory = makeFolder();
  folders.push(directory);
  await stackOf(name, directory).write('manifests.yaml', asDocuments(manifests));
  await measure([trueup, 'apply', '--yes'], { cwd: directory });
  stackOf(name, directory, byDefault);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    times.push((await measure([trueup, 'plan', '--exit-code'], { cwd: directory })).elapsed);
  const { median, least, most } = spreadOf(times);
  console.log(`${what}: ${median.toFixed(0)} ms (${least.toFixed(0)} to ${most.toFixed(0)})`);
}

try {
  console.log(`at the default rate, ${rounds} rounds:`);
  const roles = names('role', count).map((name) => role(name));
  await printPlan(`plan of ${count} roles`, 'roles', roles);
  const workspaces = names('ws', count).map((name) => workspace(name));
  await printPlan(`plan of ${count} workspaces`, 'workspaces', workspaces);
  const directory = makeFolder();
  folders.push(directory);
  const created = names('new', 2 * count).map((name) => workspace(name));
  await stackOf('creates', directory, byDefault).write('manifests.yaml', asDocuments(created));
  const { elapsed } = await measure([trueup, 'apply', '--yes'], { cwd: directory });
  console.log(`apply of ${2 * count} creates: ${(elapsed / 1000).toFixed(1)} s`);
} finally {
  await service.close();
  for (const folder of folders) removeFolder(folder);
}
