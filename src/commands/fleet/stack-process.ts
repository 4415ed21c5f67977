/**
 * A process that checks or applies one stack. It gets only common environment variables and those that `fleet.yaml` grants it, and Node's
 * permission model lets it read only its checkout and granted files. The worker sends it the start times of its requests, so it needs no
 * access to the database.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type ApplyAnswer,
  type FleetMessage,
  fleetVariables,
  grantedVariables,
  type RateAnswer,
} from '../../run/fleet-process.ts';
import { type Checkout, sshSettings } from './checkouts.ts';
import type { FleetRepository } from './fleet-file.ts';

/** Variables of all processes, to find programs and services. Stack files cannot use them: the address of a proxy may have a password. */
const commonVariables = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** Output that is kept of a process, in characters. */
const maxOutput = 64 * 1024 * 1024;

/** What a worker passes to each process of a stack. */
export interface StackWork {
  readonly repository: FleetRepository;
  readonly checkout: Pick<Checkout, 'directory'>;
  /** of the stack file, from the root of the repository */
  readonly path: string;
  /** path of trueup */
  readonly program: string;
  /** of the worker; the stack gets only what is granted */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** where temporary files of the process may be */
  readonly folder: string;
  /** ends the process */
  readonly signal: AbortSignal;
}

interface StackProcess extends StackWork {
  /** of trueup, such as "drift" */
  readonly command: readonly string[];
  /** after the command */
  readonly args: readonly string[];
  /** in addition to those of every process of the repository; undefined removes one */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** files that it may read in addition to those of the repository */
  readonly files?: readonly string[];
  /** milliseconds that it has to end after the signal, until it is killed */
  readonly killDelay: number;
  /** answers what the process asks */
  answer(message: FleetMessage): Promise<RateAnswer | ApplyAnswer | undefined>;
}

/** How a process ended. */
export interface EndedProcess {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export async function runForStack(work: StackProcess): Promise<EndedProcess> {
  const temporary = await mkdtemp(join(realpathSync(work.folder), 'run-'));
  try {
    return await runProcess(work, temporary, await compiledCodeOf(work));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** How often each command was started, and its compiled code, by the folder of that code. */
const starts = new Map<string, number>();
const compiled = new Map<string, Promise<void>>();

/** A command is compiled after this many starts: compiling takes as long as the compiled code saves in a few starts. */
const fewStarts = 3;

/**
 * The compiled code of the command saves a third of the time of a check. Processes of stacks may only read it: a stack must not change the
 * code that the next one runs.
 * @returns its folder; undefined while there is no compiled code, so that the process takes longer
 */
async function compiledCodeOf(work: StackProcess): Promise<string | undefined> {
  const folder = join(realpathSync(work.folder), `compiled-${work.command.join('-')}`);
  const before = starts.get(folder) ?? 0;
  starts.set(folder, before + 1);
  if (before < fewStarts) return undefined;
  const known = compiled.get(folder) ?? compileCommand(work, folder);
  compiled.set(folder, known);
  // If the work that began it was stopped, the next one compiles it.
  known.catch(() => compiled.delete(folder));
  return await known.then(
    () => folder,
    () => undefined,
  );
}

const exampleFiles = {
  'trueup.yaml': {
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'example' },
    spec: {
      manifests: ['workspace.yaml'],
      targets: [{ name: 'example', service: 'workspaces', url: 'embedded', organization: 'example' }],
    },
  },
  'workspace.yaml': {
    apiVersion: 'trueup.dev/v1',
    kind: 'Workspace',
    metadata: { name: 'example' },
    spec: {},
  },
};

/**
 * Runs the command once, so that Node stores its compiled code. The command gets a stack of the embedded service, so that the functions
 * that it calls are compiled as well.
 */
async function compileCommand(
  { program, command, env, signal, folder: worker }: StackProcess,
  folder: string,
): Promise<void> {
  const { PATH, HOME } = env;
  const example = await mkdtemp(join(worker, 'example-'));
  // Node would create it with the default mode of the worker, which may let others write.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    for (const [name, content] of Object.entries(exampleFiles))
      await writeFile(join(example, name), JSON.stringify(content));
    const child = fork(realpathSync(program), command, {
      cwd: example,
      env: { PATH, HOME, NODE_COMPILE_CACHE: folder },
      // Without the Node options of the worker: with other options, Node may refuse the compiled code.
      execArgv: [],
      stdio: 'ignore',
      timeout: 60_000,
      killSignal: 'SIGKILL',
      signal,
    });
    await once(child, 'exit');
  } finally {
    await rm(example, { recursive: true, force: true });
  }
}

function runProcess(
  work: StackProcess,
  temporary: string,
  compiledCode: string | undefined,
): Promise<EndedProcess> {
  const { checkout, command, args, signal, killDelay } = work;
  const program = realpathSync(work.program);
  const child = fork(program, [...command, ...args], {
    cwd: checkout.directory,
    env: {
      ...variablesOf(work),
      TMPDIR: temporary,
      ...(compiledCode === undefined ? {} : { NODE_COMPILE_CACHE: compiledCode }),
      [fleetVariables.repository]: work.repository.name,
    },
    execArgv: permissionFlags(work, program, temporary, compiledCode),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const dispose = endWith(child, signal, killDelay);
  child.on('message', async (message: FleetMessage) => {
    const answer = await work.answer(message);
    if (answer !== undefined && child.connected) child.send(answer, () => {});
  });
  const read = { output: '', errors: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (read.output.length < maxOutput) read.output += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    if (read.errors.length < maxOutput) read.errors += chunk;
  });
  return new Promise<EndedProcess>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...read }));
  }).finally(dispose);
}

/** Ends the process when the signal is aborted, and kills it if it does not end. @returns a function that stops listening */
function endWith(child: ChildProcess, signal: AbortSignal, killDelay: number): () => void {
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

function variablesOf({ repository, env, variables = {} }: StackProcess): Record<string, string> {
  const targets = { [fleetVariables.targets]: repository.targets?.join(' ') };
  const granted = [...commonVariables, ...repository.variables].map((name) => [name, env[name]] as const);
  const names = [...repository.variables, ...Object.keys(variables)].join(' ');
  const all = { ...Object.fromEntries(granted), ...variables, ...targets, [grantedVariables]: names };
  return Object.fromEntries(
    [
      ...Object.entries(all),
      ...Object.entries(gitSettings),
      ...Object.entries(sshSettings(repository)),
    ].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Git must not take a folder of the checkout for a repository, even if it looks like one. */
const gitSettings = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
};

function permissionFlags(
  { checkout, repository, files = [] }: StackProcess,
  program: string,
  temporary: string,
  compiledCode: string | undefined,
): string[] {
  const readable = [
    ...programFolders(program),
    ...(compiledCode === undefined ? [] : [compiledCode]),
    ...[checkout.directory, temporary, ...repository.files, ...files],
  ];
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${temporary}`,
    // It runs git, and it runs the rules of policies in a worker thread.
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
