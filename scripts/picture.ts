/**
 * Writes the pictures of the README from a real run on the embedded service: `docs/images/plan.svg` is a plan in a terminal, and
 * `docs/images/report.png` the same plan as an HTML report in Chromium. `--check` writes nothing, and exits with 1 when the plan in the
 * picture is not what trueup prints today; digests and ids differ in each run and are not compared.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { terminalSvg, textOfSvg } from './terminal-svg.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs', 'images');
const program = join(root, 'src', 'main.ts');
const command = 'trueup plan';

/** Makes a stack whose workspace was changed by hand, and in which a pull request changes three things. */
async function withScene<T>(use: (stack: string) => Promise<T>): Promise<T> {
  const stack = await mkdtemp(join(tmpdir(), 'trueup-picture-'));
  try {
    const filter = (path: string) => basename(path) !== '.trueup';
    await cp(join(root, 'examples', 'quickstart'), stack, { recursive: true, filter });
    await edit(join(stack, 'seed.yaml'), 'organizations:\n  - name: acme\n', seed);
    run(stack, 'apply', '--yes');
    await changeByHand(stack);
    await changeFiles(stack);
    return await use(stack);
  } finally {
    await rm(stack, { recursive: true, force: true });
  }
}

const seed = `users: [{ username: ann, token: ann-s-token }]
organizations:
  - name: acme
    teams: [{ name: owners, members: [ann] }]
`;

/** Replaces the only occurrence of a text. */
async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not have exactly one ${from}`);
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}

async function changeFiles(stack: string): Promise<void> {
  const file = (name: string) => join(stack, 'manifests', `${name}.yaml`);
  const staging = 'remoteStateConsumers: [network-prod, payments-api-staging, payments-db-staging]';
  await edit(file('network'), staging, staging.replace('payments-db-staging', 'payments-migrations'));
  await edit(file('payments'), /---\n[^-]*payments-db-staging \}[\s\S]*?(?=---\n)/, '');
  await edit(file('cluster-auth'), 'tokenTtl: 1h\n', 'tokenTtl: 4h\n');
}

async function changeByHand(stack: string): Promise<void> {
  const args = [program, 'serve', '--data', join(stack, '.trueup', 'embedded.db')];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const url = /http:\S+/.exec(String(line))?.[0];
    const attributes = { 'working-directory': 'api-hotfix' };
    const answer = await fetch(`${url}/api/v2/organizations/acme/workspaces/payments-api-prod`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer ann-s-token', 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data: { type: 'workspaces', attributes } }),
    });
    if (!answer.ok) throw new Error(`the change by hand was answered ${answer.status}`);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

function run(stack: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [program, ...args], {
    cwd: stack,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Replaces what differs in each run, so that two texts can be compared. */
function comparable(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{32}\b/g, 'DIGEST')
    .replaceAll(/\buser-\w{16}\b/g, 'USER')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b(?:just now|\d+ (?:s|min) ago)/g, 'WHEN')
    .replaceAll(/:id=[0-9a-f]{8}/g, ':ID');
}

async function check(): Promise<void> {
  const output = stripVTControlCharacters(await withScene(async (stack) => run(stack, 'plan')));
  const shown = textOfSvg(await readFile(join(images, 'plan.svg'), 'utf8'));
  if (comparable(shown) === comparable(`$ ${command}\n\n${output.trimEnd()}`)) return;
  console.error('docs/images/plan.svg is not what trueup prints: run "npm run picture"');
  process.exitCode = 1;
}

async function write(): Promise<void> {
  await withScene(async (stack) => {
    await writeFile(
      join(images, 'plan.svg'),
      terminalSvg(command, run(stack, 'plan', '--color', 'always', '--out', 'plan.json')),
    );
    const report = join(stack, 'report.html');
    await writeFile(report, run(stack, 'show', 'plan.json', '--format', 'html'));
    photograph(stack, report);
  });
  console.log('wrote docs/images/plan.svg and docs/images/report.png');
}

function photograph(stack: string, report: string): void {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  const size = ['--window-size=1200,900', '--force-device-scale-factor=1.5', '--hide-scrollbars'];
  const profile = `--user-data-dir=${join(stack, 'profile')}`;
  const image = `--screenshot=${join(images, 'report.png')}`;
  execFileSync('/usr/bin/chromium', [...flags, ...size, profile, image, pathToFileURL(report).href], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

await (process.argv.includes('--check') ? check() : write());
