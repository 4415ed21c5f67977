/**
 * Checks one stack for drift, in a process of its own. It gets no environment variable but those that `fleet.yaml` grants it, and Node's
 * permission model keeps it from all files but those of its checkout and those that are granted. The start times of its requests come from
 * this process, so it knows nothing of the database.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { RateAnswer, RateMessage } from '../../run/fleet-check.ts';
import { type CheckResult, type EndedCheck, resultOf } from './check-result.ts';
import { type Checkout, sshSettings } from './checkouts.ts';
import type { FleetRepository } from './fleet-file.ts';

/** What all stacks get: how to find programs and services, and nothing that lets in. */
const commonVariables = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** Of the answers of a check, in bytes. */
const maxOutput = 64 * 1024 * 1024;

/** Less than a job may take (`queueSettings`): a service that asks for a long wait fails the check, and keeps no slot of the worker. */
const longestCheck = '20m';

interface StackCheck {
  readonly repository: FleetRepository;
  readonly checkout: Checkout;
  /** of the stack file, from the root of the repository */
  readonly path: string;
  /** path of trueup */
  readonly program: string;
  /** of the worker: the stack gets what it may */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** where temporary files of the check may be */
  readonly folder: string;
  /** ends the process */
  readonly signal: AbortSignal;
  /** answers what the process asks about limits of requests */
  readonly rates: { answer(message: RateMessage): Promise<RateAnswer | undefined> };
}

export async function checkStack(check: StackCheck): Promise<CheckResult> {
  const temporary = await mkdtemp(join(realpathSync(check.folder), 'check-'));
  try {
    const { code, output, errors } = await runDrift(check, temporary);
    return resultOf({ code, output, errors });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function runDrift(check: StackCheck, temporary: string): Promise<EndedCheck> {
  const { checkout, path, signal } = check;
  const program = realpathSync(check.program);
  const stack = join(checkout.directory, posix.dirname(path), posix.basename(path));
  const child = fork(program, ['drift', stack, '--format', 'json', '--timeout', longestCheck], {
    cwd: checkout.directory,
    env: { ...grantedVariables(check), TMPDIR: temporary, TRUEUP_FLEET_CHECK: check.repository.name },
    execArgv: permissionFlags(check, program, temporary),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const dispose = endWith(child, signal);
  child.on('message', async (message: RateMessage) => {
    const answer = await check.rates.answer(message);
    if (answer !== undefined && child.connected) child.send(answer, () => {});
  });
  const read = { output: '', errors: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (read.output.length < maxOutput) read.output += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    if (read.errors.length < maxOutput) read.errors += chunk;
  });
  return new Promise<EndedCheck>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...read }));
  }).finally(dispose);
}

/** Milliseconds that a process has to end before it is killed. */
const killDelay = 3000;

/** Ends the process with the signal, and kills one that does not end. @returns stops listening */
function endWith(child: ChildProcess, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), killDelay);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return () => {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
  };
}

function grantedVariables({ repository, env }: StackCheck): Record<string, string> {
  const names = [...commonVariables, ...repository.variables];
  const set = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const targets =
    repository.targets === undefined ? {} : { TRUEUP_FLEET_TARGETS: repository.targets.join(' ') };
  return { ...Object.fromEntries(set), ...gitSettings, ...sshSettings(repository), ...targets };
}

/** Git takes no folder of the checkout for a repository, whatever is in it. */
const gitSettings = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
};

function permissionFlags({ checkout, repository }: StackCheck, program: string, temporary: string): string[] {
  const readable = [...programFolders(program), checkout.directory, temporary, ...repository.files];
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${temporary}`,
    // It runs git, and the rules of policies in a worker.
    '--allow-child-process',
    '--allow-worker',
    '--disable-warning=PERM0002',
    '--disable-warning=PERM0006',
  ];
}

/** The folder of the program, and all folders from which it loads packages. */
function programFolders(program: string): string[] {
  const folder = dirname(program);
  const found = [folder];
  for (let at = folder; ; at = dirname(at)) {
    for (const name of ['node_modules', 'package.json'])
      if (existsSync(join(at, name))) found.push(join(at, name));
    if (at === dirname(at)) return found;
  }
}
