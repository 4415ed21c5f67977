/**
 * Runs the main workflow on the embedded service step by step, as a user would type it: validate, plan, apply, an empty plan, then
 * a change outside of trueup and the plan that finds it. Starts with an empty service each time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const stack = 'examples/quickstart';
const data = `${stack}/.trueup/embedded.db`;
/** Each command runs from the sources: later ones need not compile them again. */
const env = { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/quickstart' };

/** Next steps, while the drift is still there. Without a running service, each command serves the data file itself. */
const next = `
# Done. Three things to try:

# See the plan as an HTML page: open ${stack}/.trueup/plan.html in a browser
npm run --silent trueup -- plan ${stack} --format html > ${stack}/.trueup/plan.html

# Keep the change: see the patch that "accept" writes into the manifest if you leave out --dry-run
npm run --silent trueup -- accept Workspace/acme/payments-api-prod ${stack} --dry-run

# Or take it back
npm run --silent trueup -- apply ${stack} --yes

The tutorial explains each step: docs/tutorial.md`;

/** Runs one command and checks its exit code. */
async function step(why: string, args: readonly string[], expected = 0): Promise<void> {
  console.log(`\n# ${why}\n$ trueup ${args.join(' ')}`);
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
  const [code] = await once(child, 'exit');
  if (code !== expected)
    throw new Error(`trueup ${args.join(' ')} exited with ${code}, expected ${expected}`);
}

/** Starts the embedded service and resolves with its URL once it is ready. */
async function serve(): Promise<{ server: ChildProcess; url: string }> {
  const args = ['serve', '--data', data];
  console.log(`# The embedded service runs in the background\n$ trueup ${args.join(' ')} &`);
  const server = spawn(process.execPath, ['src/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const gone = once(server, 'exit').then(() => {
    throw new Error('the embedded service did not start');
  });
  const [line] = await Promise.race([once(createInterface({ input: server.stdout }), 'line'), gone]);
  console.log(line);
  gone.catch(() => {});
  return { server, url: /http:\S+/.exec(String(line))?.[0] ?? '' };
}

/** Changes one field by hand, outside of trueup. */
async function changeByHand(url: string): Promise<void> {
  const { ownerToken } = JSON.parse(await readFile(`${data}.tokens.json`, 'utf8'));
  const path = '/api/v2/organizations/acme/workspaces/payments-api-prod';
  console.log(
    `\n# Somebody changes one thing by hand\n$ curl -X PATCH ${url}${path} --data '… "working-directory": "api-hotfix" …'`,
  );
  const answer = await fetch(`${url}${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type: 'workspaces', attributes: { 'working-directory': 'api-hotfix' } } }),
  });
  if (!answer.ok) throw new Error(`the change by hand was answered ${answer.status}: ${await answer.text()}`);
}

await rm(`${stack}/.trueup`, { recursive: true, force: true });
const { server, url } = await serve();
try {
  await step('Every manifest is checked, offline', ['validate', stack]);
  await step('The plan shows what would be done; it writes nothing', ['plan', stack]);
  await step('Apply does it, and plans again to prove that nothing is left', ['apply', stack, '--yes']);
  await step('A second plan finds nothing to do', ['plan', stack, '--exit-code']);
  await changeByHand(url);
  await step(
    'The next plan finds the drift (exit code 2: there are changes)',
    ['plan', stack, '--exit-code'],
    2,
  );
  await step(
    'Drift shows it separately from changes of the files, with who modified it (exit code 3)',
    ['drift', stack],
    3,
  );
  console.log(next);
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
}
