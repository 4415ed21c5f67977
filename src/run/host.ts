/**
 * Everything that a command uses of its process and machine: streams, environment, clock, signals. Tests provide their own.
 * Under GitHub Actions, output that could be read as a workflow command is escaped here.
 */
import { readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { Observer } from '../api/transport/exchange.ts';
import type { RetryPolicy } from '../api/transport/retry.ts';
import type { SharedRate } from '../api/transport/shared-rate.ts';
import type { Registry } from '../model/kind.ts';
import { WebPages } from './links.ts';
import { hasLiveLine, openProgress, type Output, type Progress } from './progress.ts';
import { KnownSecrets } from '../redaction/known-secrets.ts';

/** The machine that this process runs on, as locks and the history record it. */
export interface Machine {
  readonly hostname: string;
  readonly pid: number;
  /** undefined for a user without a name, as in some containers */
  readonly userName: string | undefined;
  /** the effective id of the user; undefined on Windows */
  readonly userId: number | undefined;
  /** the namespace in which `pid` is valid; undefined when it cannot be found out */
  readonly pidNamespace: string | undefined;
  /** whether several systems may have this host name; then only the namespace proves that two runs were on the same one */
  readonly mayBeContainer: boolean;
  /** the version of Node: `v24.11.0` */
  readonly node: string;
  /** operating system and processor: `linux x64` */
  readonly platform: string;
  /** Whether there is no process with this number in this namespace. */
  isGone(pid: number): boolean;
}

/** What a worker of a fleet gives to the process that checks a stack, or applies it. */
export interface FleetProcess {
  /** origins that the stack may connect to; undefined: any */
  readonly targets: ReadonlySet<string> | undefined;
  /** The rate limit that it shares with all other processes. @param identity of a user of the API; contains no secret */
  sharedRate(address: string, identity: string): SharedRate;
  /** Whether the worker wants to know whose token has this identity: several tokens of one user share one limit. */
  wantsUser(address: string, identity: string): Promise<boolean>;
  /** @param user its id; undefined when the service does not say */
  setUser(address: string, identity: string, user: string | undefined): void;
  /** undefined in a process that checks */
  readonly apply: FleetApply | undefined;
}

/** The apply of a stack by a worker of a fleet. */
export interface FleetApply {
  /** the same id for all attempts of the stack, and the number of this one */
  readonly run: { readonly id: string; readonly attempt: number; readonly who: string };
  /** while it lasts, only approvals since its beginning by the people in `except` count; undefined when nothing is frozen */
  readonly freeze:
    | {
        readonly name: string;
        /** RFC 3339, like `end` */
        readonly begin: string;
        readonly end: string;
        readonly except: readonly string[];
      }
    | undefined;
  readonly codeHostToken: string | undefined;
  /** Whether it is certain that no later attempt has begun. Called before writes. */
  mayWrite(): Promise<boolean>;
  /** Reports to the worker who approved the plans that are applied. */
  approvedBy(people: readonly string[]): void;
}

export interface ProcessHost {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** computed on request */
  readonly machine: () => Machine;
  /** milliseconds since 1970 */
  readonly now: () => number;
  /** a UUID, new with each call */
  readonly newId: () => string;
  readonly kinds: Registry;
  readonly version: string;
  /** path of the script, to start it again with options of Node; undefined in the single executable */
  readonly program?: string | undefined;
  /** the secrets that the run learns; a new collection when absent */
  readonly secrets?: KnownSecrets;
  readonly stdout: Output;
  readonly stderr: Output;
  /** whether input and output are a terminal, so that questions can be asked */
  readonly interactive: boolean;
  /**
   * Reads standard input to its end, or at least one byte more than `max` when it is longer. Rejects when `stop` is aborted.
   */
  readStdin(max: number, stop: AbortSignal): Promise<Uint8Array>;
  /** Asks a yes-or-no question; false when there is no answer or `stop` is aborted. Only when `interactive`. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
  /** Asks for a line of text; undefined when there is no answer or `stop` is aborted. Only when `interactive`. */
  ask(question: string, stop: AbortSignal): Promise<string | undefined>;
  /** Calls the handler for each SIGINT, SIGTERM or SIGHUP until the returned function is called. */
  onStop(handler: () => void): () => void;
  /** present in a process that a worker of a fleet started */
  readonly fleet?: FleetProcess | undefined;
  /** how failed requests are repeated; the default of src/api when absent */
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/**
 * The host as commands use it: known secrets are removed from everything that they write, and under GitHub Actions their
 * output does not become a workflow command by accident.
 */
export interface CliHost extends ProcessHost {
  readonly secrets: KnownSecrets;
  /** the progress of the run, on stderr */
  readonly progress: Progress;
  /** the web pages of the targets that the run has connected to */
  readonly pages: WebPages;
  /** observes all connections: the progress and, with `--trace`, the trace */
  readonly observer: Observer;
  /** removes known secrets from each text of a value that is stored */
  readonly clean: <T extends object>(value: T) => T;
  /** writes a line that is a workflow command on purpose */
  writeCommand(line: string): void;
}

/**
 * The time in milliseconds since 1970. It never goes back, because it measures how old a read is: it follows a monotonic clock, and the
 * clock of the machine after a sleep, during which the monotonic clock stops.
 */
export function steadyClock(): () => number {
  let [last, wall, elapsed] = [Date.now(), Date.now(), performance.now()];
  return () => {
    const [wallNow, elapsedNow] = [Date.now(), performance.now()];
    const [byWall, byElapsed] = [wallNow - wall, elapsedNow - elapsed];
    last += byWall - byElapsed > 1000 ? byWall : byElapsed;
    [wall, elapsed] = [wallNow, elapsedNow];
    return Math.floor(last);
  };
}

/** A collection for the secrets that a run learns, for a process that also prints outside of its run. */
export function openSecrets(): KnownSecrets {
  return new KnownSecrets();
}

/** Whether the environment asks for a trace. */
export function isTraceAsked({ TRUEUP_TRACE: value = '' }: ProcessHost['env']): boolean {
  return value !== '' && value !== '0';
}

/** @param trace opens the trace, if it was asked for */
export function cliHostOf(
  processHost: ProcessHost,
  trace?: (host: Pick<CliHost, 'stderr' | 'secrets' | 'now'>) => Observer,
): CliHost {
  const { secrets = openSecrets(), now } = processHost;
  // With a trace there is no progress line, because the two would be mixed.
  const isLive = trace === undefined && hasLiveLine(processHost);
  const redacting = (output: Output, before = () => {}): Output => ({
    isTTY: output.isTTY,
    get columns() {
      return output.columns;
    },
    write: (text) => {
      before();
      output.write(secrets.redactPrinted(text));
    },
  });
  const escaping = isUnderActions(processHost.env) ? withoutCommands : (output: Output) => output;
  const progressOutput = redacting(escaping(processHost.stderr));
  const progress = openProgress({ ...processHost, secrets, stderr: progressOutput }, isLive);
  const clear = () => progress.clear();
  const stdout = redacting(processHost.stdout, clear);
  const stderr = redacting(escaping(processHost.stderr), clear);
  return {
    ...processHost,
    stdout: redacting(escaping(processHost.stdout), clear),
    stderr,
    progress,
    pages: new WebPages(),
    observer: trace === undefined ? progress : both(trace({ stderr, secrets, now }), progress),
    confirm: (question, stop) => {
      progress.end();
      return processHost.confirm(question, stop);
    },
    ask: (question, stop) => {
      progress.end();
      return processHost.ask(question, stop);
    },
    writeCommand: (line) => stdout.write(`${line}\n`),
    secrets,
    clean: (value) => secrets.redactKept(value),
  };
}

function both(one: Observer, other: Observer): Observer {
  return {
    request: (...about) => {
      const ends = [one.request(...about), other.request(...about)];
      return (result) => {
        for (const end of ends) end(result);
      };
    },
    wait: (...about) => {
      for (const observer of [one, other]) observer.wait(...about);
    },
  };
}

// Under GitHub Actions a line of output can be a command: when it begins with `::`, after any white space, and in an older form
// wherever it has `##[`. Printed text may come from a live name or a service, so it gets an escape there. In JSON, which has these
// characters only in texts, the escape means the same character.

interface Writing {
  write(text: string): void;
}

/** Both forms, up to the character that completes them. The runner trims all white space of Unicode. */
const command = /^\s*::|##\[/gm;

export function isUnderActions(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

/** The output with the escapes. A text may continue a line that an earlier one began. */
export function withoutCommands<O extends Writing>(output: O): O {
  let open = '';
  return {
    ...output,
    write: (text) => {
      const whole = open + text;
      output.write(escaped(whole, open.length).slice(open.length));
      // Of a long line, only its last characters are kept, after an "x" that shows that the line has begun.
      const line = whole.slice(lastLineEnd(whole) + 1);
      if (line.trim() === '') open = '';
      else open = line.length <= 100 ? line : `x${line.slice(-3)}`;
    },
  };
}

function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
}

/** Escapes the last character of each command that is completed after `from`: the text before it was written already. */
function escaped(text: string, from: number): string {
  return text.replace(command, (found, offset: number) => {
    const end = offset + found.length;
    if (end <= from) return found;
    return `${found.slice(0, -1)}${found.endsWith('[') ? '\\u005b' : '\\u003a'}`;
  });
}

// Describes the machine that this process runs on, with data from the operating system.

export function thisMachine(): Machine {
  return {
    hostname: hostname(),
    pid: process.pid,
    userName: userName(),
    userId: process.geteuid?.(),
    pidNamespace: pidNamespace(),
    mayBeContainer: process.platform === 'linux',
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    isGone,
  };
}

/** A container may run as a user without a name. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/**
 * Containers may have the same host name and the same process numbers. A boot id is unique among running systems, and an inode is
 * unique among the namespaces of one system at a time.
 */
function pidNamespace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${statSync('/proc/self/ns/pid').ino}`;
  } catch {
    return undefined;
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
