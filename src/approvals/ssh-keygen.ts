/**
 * Signs and verifies with the `ssh-keygen` of this machine, and chooses the key that signs. Texts reach it through its input and
 * through files in a folder that only this user can read; no shell is started.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readRegularText } from '../files/read-file.ts';
import { type GitContext, runGit } from '../ledger/git/git-command.ts';
import { ApprovalsError, SigningError } from '../model/approval.ts';
import { quoted } from '../model/quoted.ts';
import { namesOfKey } from './allowed-signers.ts';
import { approvalNamespace } from './signed-approval.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface ProgramResult {
  readonly code: number;
  readonly out: string;
  /** on one line */
  readonly message: string;
}

interface RunOptions {
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** milliseconds */
  readonly timeout: number;
  readonly input?: string;
  /** called with lines that ask the user to do something, such as to touch a security key */
  readonly notify?: ((line: string) => void) | undefined;
}

/** @throws ApprovalsError when the program is missing, or does not end in time */
async function run(program: string, args: readonly string[], running: RunOptions): Promise<ProgramResult> {
  const { env, signal, timeout, input = '', notify } = running;
  const timeLimit = AbortSignal.timeout(timeout);
  const child = spawn(program, args, {
    env: { ...env, LC_ALL: 'C' },
    stdio: 'pipe',
    signal: signal === undefined ? timeLimit : AbortSignal.any([signal, timeLimit]),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    err.push(chunk);
    if (/presence|touch|PIN/i.test(chunk.toString())) notify?.(chunk.toString().trim());
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (ended) => resolve(ended ?? 1));
  }).catch((error: NodeJS.ErrnoException) => {
    if (signal?.aborted) throw signal.reason;
    throw notRun(program, error, timeLimit.aborted ? timeout : undefined);
  });
  const message = Buffer.concat(err)
    .toString()
    .trim()
    .split(/\s*[\r\n]+\s*/)
    .join('; ');
  return { code, out: Buffer.concat(out).toString(), message };
}

function notRun(program: string, error: NodeJS.ErrnoException, timeout: number | undefined): ApprovalsError {
  if (timeout !== undefined)
    return new ApprovalsError(`${quoted(program)} did not end within ${timeout / 1000} s`, { cause: error });
  const why =
    error.code === 'ENOENT'
      ? 'it is not installed, or not in PATH; install OpenSSH 8.9 or later (package "openssh-client")'
      : error.message;
  return new ApprovalsError(`signatures need ${quoted(program)}, which cannot be run: ${why}`, {
    cause: error,
  });
}

// Signing.

/** Milliseconds for the user to type a passphrase, or to touch a key. */
const signTime = 300_000;

/** A file with a private or public key, or a public key as text; for a public one, the agent signs. */
type SigningKey = { readonly file: string } | { readonly publicKey: string };

/**
 * Signs a text. ssh-keygen asks for a passphrase on the terminal, where there is one.
 * @throws SigningError, or ApprovalsError when ssh-keygen cannot be run
 */
export async function signText(
  text: string,
  key: SigningKey,
  about: Pick<RunOptions, 'env' | 'signal' | 'notify'>,
): Promise<string> {
  if ('file' in key) return signWith(text, key.file, about, quoted(key.file));
  return inFolder(async (folder) => {
    const file = await writePrivately(folder, 'key.pub', `${key.publicKey}\n`);
    return signWith(text, file, about, quoted(key.publicKey));
  });
}

async function signWith(
  text: string,
  file: string,
  about: Pick<RunOptions, 'env' | 'signal' | 'notify'>,
  name: string,
): Promise<string> {
  const args = ['-Y', 'sign', '-n', approvalNamespace, '-f', file];
  const { code, out, message } = await run('ssh-keygen', args, { ...about, timeout: signTime, input: text });
  if (code === 0) return out;
  const why = message.replace(/(Signing data on standard input|Enter passphrase[^:]*:)[; ]*/g, '');
  throw new SigningError(
    `the key ${name} did not sign: ${why}; name another one with --key, or add it to the agent with "ssh-add" if its passphrase cannot be typed here`,
  );
}

/** The public keys that the agent of this user holds, one line each; none without an agent. */
async function agentKeys(env: Environment): Promise<readonly string[]> {
  if (!env['SSH_AUTH_SOCK']) return [];
  const listed = await run('ssh-add', ['-L'], { env, timeout: 10_000 }).catch(() => undefined);
  return listed?.code === 0 ? listed.out.split('\n').filter((line) => /^(ssh|ecdsa|sk)-/.test(line)) : [];
}

// Verification.

/** Milliseconds that one verification may take. */
const verifyTime = 30_000;

/** Whether a file of allowed signers admits a signature. */
export type Admission =
  /** the names of the key there; the verified one comes first */
  | { readonly names: readonly [string, ...string[]] }
  /** a clause */
  | { readonly why: string };

export interface Verifier {
  /**
   * @param allowed text in the format of `allowed_signers`
   * @throws ApprovalsError when ssh-keygen cannot be run
   */
  verify(signed: { readonly text: string; readonly signature: string }, allowed: string): Promise<Admission>;
}

/**
 * Runs `work` with a verifier, whose files are removed afterwards.
 * @param about.now milliseconds since 1970: when keys must be valid
 */
export async function withVerifier<T>(
  about: { readonly env: Environment; readonly now: number; readonly signal?: AbortSignal | undefined },
  work: (verifier: Verifier) => Promise<T>,
): Promise<T> {
  return inFolder((folder) => work(new FileVerifier(folder, about)));
}

/** Runs `work` with a temporary folder that only this user can read. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'trueup-signatures-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function writePrivately(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

class FileVerifier implements Verifier {
  readonly #folder: string;
  readonly #running: RunOptions;
  readonly #time: string;
  /** the files of allowed signers, by their text */
  readonly #allowed = new Map<string, string>();
  #signatures = 0;

  constructor(folder: string, { env, now, signal }: Parameters<typeof withVerifier>[0]) {
    this.#folder = folder;
    // Times of keys without a zone are local times: the result must not depend on the machine.
    this.#running = { env: { ...env, TZ: 'UTC' }, signal, timeout: verifyTime };
    this.#time = `-Overify-time=${new Date(now).toISOString().replace(/\.\d+Z$|[-:T]/g, '')}`;
  }

  async verify(
    { text, signature }: { readonly text: string; readonly signature: string },
    allowed: string,
  ): Promise<Admission> {
    this.#signatures += 1;
    const file = await writePrivately(this.#folder, `${this.#signatures}.sig`, signature);
    const signers =
      this.#allowed.get(allowed) ??
      (await writePrivately(this.#folder, `${this.#allowed.size}.allowed`, allowed));
    this.#allowed.set(allowed, signers);
    const where = ['-f', signers, '-s', file, this.#time];
    const found = await this.#keygen(['-Y', 'find-principals', ...where]);
    const names = found.code === 0 ? found.out.split('\n').filter((name) => name !== '') : [];
    let why = found.message;
    for (const name of names) {
      const args = ['-Y', 'verify', '-n', approvalNamespace, '-I', name, ...where];
      const verified = await this.#keygen(args, text);
      if (verified.code === 0) return { names: [name, ...names.filter((other) => other !== name)] };
      why = verified.message;
    }
    return { why: this.#withoutFolder(why).replace(/\.$/, '') || 'no key matches' };
  }

  async #keygen(args: readonly string[], input = ''): Promise<ProgramResult> {
    const answer = await run('ssh-keygen', args, { ...this.#running, input });
    if (answer.code !== 0 && /(invalid|unknown|illegal) option/i.test(answer.message))
      throw new ApprovalsError(
        `the "ssh-keygen" of this machine is too old to verify signatures: install OpenSSH 8.9 or later (${this.#withoutFolder(answer.message)})`,
      );
    return answer;
  }

  /** Shortens messages that name our files: the temporary folder does not help the user. */
  #withoutFolder(message: string): string {
    return message
      .replaceAll(`${this.#folder}/`, '')
      .replace(/\d+\.allowed:(\d+):/g, 'line $1 of the signers:');
  }
}

/** The usual key files, in the order in which ssh tries them. */
const usualFiles = ['id_ed25519', 'id_ed25519_sk', 'id_ecdsa', 'id_ecdsa_sk', 'id_rsa'];

/** The maximal size of a key file in bytes; a key has some kilobytes. */
const maxKey = 65_536;

/**
 * The key that signs: the named one, that of git, or one of the agent or of the user's `.ssh` folder.
 * @param about.named the flag
 * @param about.allowed text of the allowed signers: a key that is in it comes first
 * @throws SigningError when there is none
 */
export async function chooseKey(
  git: GitContext,
  about: { readonly named: string | undefined; readonly cwd: string; readonly allowed: string },
): Promise<SigningKey> {
  const { named, cwd, allowed } = about;
  if (named !== undefined) {
    const file = resolve(cwd, named);
    if (!(await isKey(file))) throw new SigningError(`${quoted(named)} is not a file with an SSH key`);
    return { file };
  }
  const ofGit = await keyOfGit(git);
  if (ofGit !== undefined) return ofGit;
  const usual = [
    ...(await agentKeys(git.env)).map((publicKey) => ({ key: { publicKey }, publicKey })),
    ...(await filesIn(join(git.env['HOME'] ?? git.env['USERPROFILE'] ?? '/', '.ssh'))),
  ];
  const [first] = usual;
  const admitted = usual.find(({ publicKey }) => isIn(allowed, publicKey));
  const chosen = admitted ?? first;
  if (chosen === undefined)
    throw new SigningError(
      'there is no key to sign with: name one with --key, or make one with "ssh-keygen -t ed25519"',
    );
  return chosen.key;
}

function isIn(allowed: string, publicKey: string): boolean {
  const [, key = ''] = publicKey.split(' ');
  return key !== '' && namesOfKey(allowed, key).length > 0;
}

/** The key of git's own signatures; undefined for a key of GPG, which cannot sign approvals. */
async function keyOfGit(git: GitContext): Promise<SigningKey | undefined> {
  const read = async (...args: readonly string[]) => {
    const { code, out } = await runGit(['config', ...args, '--get', 'user.signingKey'], git);
    return code === 0 ? out.toString().trim() : '';
  };
  const value = await read();
  const publicKey = value.replace(/^key::/, '');
  if (/^(ssh|ecdsa|sk)-\S+ \S+/.test(publicKey)) return { publicKey };
  if (value === '') return undefined;
  const file = resolve(git.directory, await read('--type=path'));
  return (await isKey(file)) ? { file } : undefined;
}

async function filesIn(folder: string) {
  const found = await Promise.all(
    usualFiles.map(async (name) => {
      const file = join(folder, name);
      const publicKey = await readRegularText(`${file}.pub`, maxKey).catch(() => '');
      return (await isKey(file)) ? [{ key: { file }, publicKey }] : [];
    }),
  );
  return found.flat();
}

async function isKey(file: string): Promise<boolean> {
  const text = await readRegularText(file, maxKey).catch(() => '');
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) || /^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+/.test(text);
}
