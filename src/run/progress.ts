/**
 * The progress of a run: how much is done, how fast, how long the rest takes, and what the run waits for. On a terminal it is one
 * line below everything else that is printed; elsewhere a plain line now and then. It never reads the keyboard, because then a Ctrl-C
 * would not reach the run as a signal.
 */
import type { Observer } from '../api/transport/exchange.ts';
import { counted } from '../model/quoted.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';
import { columns } from '../report/text/layout.ts';
import { printable } from '../report/view/printable.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** columns of the terminal; undefined elsewhere */
  readonly columns: number | undefined;
}

export interface Progress extends Observer {
  /** whether it is a line of a terminal, which takes the place of a line for each change */
  readonly isLive: boolean;
  /** Begins a phase. @param total of its changes; without it, requests are counted */
  begin(phase: string, total?: number): void;
  /** @param done changes of the phase */
  advance(done: number): void;
  /** @param what `the lock of stack "payments"`. @returns a function that ends the wait */
  waitFor(what: string): () => void;
  /** Clears the line, so that something else can be printed; the next step draws it again. */
  clear(): void;
  /** Clears the line and stops drawing until the next phase begins. */
  end(): void;
}

/** Milliseconds between two drawings of the line: after steps, and while nothing happens. */
const drawnEvery = 100;
const refreshedEvery = 250;
/** Milliseconds between two plain lines. */
const printedEvery = { changes: 10_000, requests: 30_000 };
/** Milliseconds after which a rate is shown. */
const rateAfter = 2_000;

interface ProgressHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** milliseconds since 1970 */
  readonly now: () => number;
  readonly stdout: Pick<Output, 'isTTY'>;
  readonly stderr: Output;
  readonly secrets: Pick<KnownSecrets, 'redactPrinted'>;
}

/** Whether one line is redrawn, as a terminal can do. Logs of CI jobs keep each drawing, even if the job has a pseudo terminal. */
export function hasLiveLine({ env, stdout, stderr }: Omit<ProgressHost, 'now' | 'secrets'>): boolean {
  return stdout.isTTY && stderr.isTTY && env['TERM'] !== 'dumb' && !isCiJob(env);
}

export function isCiJob({ CI: value = '' }: ProgressHost['env']): boolean {
  return value !== '' && value !== 'false' && value !== '0';
}

/** @param isLive draws one line again and again; otherwise it prints a line now and then */
export function openProgress(host: ProgressHost, isLive: boolean): Progress {
  return new RunProgress(host, isLive);
}

interface Wait {
  readonly what: string;
  /** milliseconds since 1970; absent if its end is not known */
  readonly until?: number;
}

class RunProgress implements Progress {
  readonly #host: ProgressHost;
  readonly isLive: boolean;
  #phase = 'Reading';
  #total: number | undefined;
  #done = 0;
  #requests = 0;
  #since: number;
  #waits = new Set<Wait>();
  #printedAt: number;
  #drawnAt = 0;
  /** the line on the screen; empty when there is none */
  #drawn = '';
  #timer: NodeJS.Timeout | undefined;
  #isShown = true;

  constructor(host: ProgressHost, isLive: boolean) {
    this.#host = host;
    this.isLive = isLive;
    this.#since = host.now();
    this.#printedAt = this.#since;
  }

  begin(phase: string, total?: number): void {
    this.#phase = phase;
    this.#total = total;
    this.#done = 0;
    this.#requests = 0;
    this.#isShown = true;
    this.#restart();
    this.#drawnAt = 0;
    if (total !== undefined) this.#step();
    else this.clear();
  }

  #restart(): void {
    this.#since = this.#host.now();
    this.#printedAt = this.#since;
  }

  advance(done: number): void {
    this.#done = done;
    this.#step();
  }

  request(): () => void {
    // The time before the first request does not count for the rate of the targets.
    if (this.#requests === 0 && this.#total === undefined) this.#restart();
    this.#requests += 1;
    this.#keepFresh();
    if (!this.isLive) this.#step();
    return () => {};
  }

  wait(why: string, milliseconds: number): void {
    const until = this.#host.now() + milliseconds;
    for (const wait of this.#waits) if (wait.until !== undefined) this.#waits.delete(wait);
    this.#waits.add({ what: why, until });
    this.#keepFresh();
  }

  waitFor(what: string): () => void {
    const wait = { what };
    this.#waits.add(wait);
    this.#step();
    this.#keepFresh();
    return () => this.#waits.delete(wait);
  }

  clear(): void {
    if (this.#drawn === '') return;
    this.#host.stderr.write(this.#erasing());
    this.#drawn = '';
  }

  /** The characters that erase the line. A terminal that became narrower has wrapped it. */
  #erasing(): string {
    const { columns: width } = this.#host.stderr;
    const rows = width === undefined ? 1 : Math.max(1, Math.ceil(columns(this.#drawn) / width));
    return rows === 1 ? '\r\u001b[K' : `\r\u001b[${rows - 1}A\u001b[J`;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isShown = false;
    this.#waits.clear();
    this.clear();
  }

  /** Redraws the line while nothing else happens, because it shows times. */
  #keepFresh(): void {
    if (!this.isLive || !this.#isShown || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#draw(), refreshedEvery);
    this.#timer.unref();
  }

  #step(): void {
    if (!this.#isShown) return;
    const now = this.#host.now();
    if (this.isLive) {
      this.#keepFresh();
      if (now - this.#drawnAt >= drawnEvery) this.#draw();
    } else if (now - this.#printedAt >= printedEvery[this.#total === undefined ? 'requests' : 'changes']) {
      this.#printedAt = now;
      this.#host.stderr.write(`${this.#parts().join(', ')}\n`);
    }
  }

  #draw(): void {
    if (!this.#isShown) return;
    const { stderr, now } = this.#host;
    this.#drawnAt = now();
    const line = fitting(this.#parts(), stderr.columns ?? 80);
    if (line === this.#drawn) return;
    stderr.write(`${this.#erasing()}${line}`);
    this.#drawn = line;
  }

  /** The most important part first: those at the end are left out where there is no room. */
  #parts(): string[] {
    const now = this.#host.now();
    const seconds = (now - this.#since) / 1000;
    const total = this.#total;
    const done = total === undefined ? this.#requests : this.#done;
    const hasRate = now - this.#since >= rateAfter && done > 0;
    const rate = hasRate ? done / seconds : undefined;
    const left = total === undefined || rate === undefined ? undefined : (total - done) / rate;
    const wait = this.#waitAt(now);
    return [
      total === undefined
        ? `${this.#phase}: ${counted(done, 'request')}`
        : `${this.#phase} ${done}/${counted(total, 'change')}`,
      ...(wait === undefined ? [] : [wait]),
      ...(left === undefined || left < 1 ? [] : [`${timeText(left)} left`]),
      ...(rate === undefined ? [] : [`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`]),
      ...(total === undefined && seconds >= 5 ? [timeText(seconds)] : []),
    ];
  }

  #waitAt(now: number): string | undefined {
    for (const wait of this.#waits) if ((wait.until ?? now + 1) <= now) this.#waits.delete(wait);
    const [wait] = this.#waits;
    if (wait === undefined) return undefined;
    const { until } = wait;
    // Redacted before the line is cut: a part of a secret would not be found.
    const what = printable(this.#host.secrets.redactPrinted(wait.what));
    return until === undefined ? `waits for ${what}` : `waits ${timeText((until - now) / 1000)}: ${what}`;
  }
}

/** `45 s`, `3 min`, `2 h 5 min` */
export function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The fewest columns to which a part is cut: a shorter one would not be understood. */
const leastPart = 20;

/** As many parts as fit into one row, one column left free. A long one is cut. */
function fitting(parts: readonly string[], width: number): string {
  const room = Math.max(1, width - 1);
  let line = cut(parts[0] ?? '', room);
  for (const part of parts.slice(1)) {
    const left = room - columns(line) - 2;
    if (columns(part) <= left || left >= leastPart) line += `  ${cut(part, left)}`;
  }
  return line;
}

function cut(text: string, room: number): string {
  if (columns(text) <= room) return text;
  let shown = '';
  for (const character of text) {
    if (columns(shown + character) > room - 1) break;
    shown += character;
  }
  return `${shown}…`;
}
