/** Runs expressions in a worker that is ended at its deadline. What has no result by then is an error, never a pass. */
import { cpuUsage } from 'node:process';
import { Worker } from 'node:worker_threads';
import { counted } from '../model/quoted.ts';
import type { Answer, CaseResult, Job, RuleProblem } from './evaluate-rules.ts';
import { workerCode } from './worker-code.ts';

/** Allowed milliseconds of processor time, for all cases and for each. The start of the worker does not count. */
const timeForAll = 2000;
const timeForEach = 0.1;
/** Even on a busy machine, the worker is ended after this many times its allowed time. */
const maxSlowdown = 30;
/** Milliseconds between two reads of the processor time, at least. */
const shortestWait = 20;
/** Milliseconds for the start, which only loads code: a machine that takes longer has another problem. */
const timeToStart = 60_000;
/** Megabytes. */
const maxMemory = 512;

interface Evaluation {
  /** of the expressions themselves */
  readonly problems: readonly RuleProblem[];
  /** one for each case, in their order */
  readonly results: readonly CaseResult[];
}

/** In milliseconds. */
interface Clock {
  now(): number;
  /** processor time of this process with all of its threads */
  processorTime(): number;
}

const machine: Clock = {
  now: () => performance.now(),
  processorTime: () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1000;
  },
};

/** Parses, checks and evaluates expressions. Never rejects: if the worker fails, each case without a result is `not-evaluated`. */
export async function evaluate(job: Job, clock: Clock = machine): Promise<Evaluation> {
  const allowed = Math.round(timeForAll + job.cases.length * timeForEach);
  const problems: RuleProblem[] = [];
  const results: CaseResult[] = [];
  const failure = await runWorker(job, { allowed, clock }, (answer) => {
    if (answer.type === 'problems') problems.push(...answer.problems);
    if (answer.type === 'results') results.push(...answer.results);
  });
  if (failure !== undefined && job.cases.length === 0)
    problems.push(...job.rules.map((_, rule) => ({ rule, part: 'rule' as const, message: failure })));
  const rest = job.cases.slice(results.length);
  const missing = { is: 'not-evaluated', message: failure ?? 'the rule was not evaluated' } as const;
  return { problems, results: [...results.slice(0, job.cases.length), ...rest.map(() => missing)] };
}

/** What a worker does: an answer, or why it cannot answer any more. */
type Event = Answer | { readonly type: 'failed'; readonly why: string };

interface StartedWorker {
  readonly worker: Worker;
  /** of the evaluation that uses the worker; ignores everything between two evaluations */
  onEvent: (event: Event) => void;
}

/** The worker of the last evaluation: to start one takes a quarter of a second. One that failed or had to be ended is not used again. */
let idle: StartedWorker | undefined;

/** @returns why the worker did not finish, as a clause; undefined if it did */
async function runWorker(
  job: Job,
  { allowed, clock }: { readonly allowed: number; readonly clock: Clock },
  onAnswer: (answer: Answer) => void,
): Promise<string | undefined> {
  const kept = idle;
  idle = undefined;
  const started = kept ?? startWorker();
  const { worker } = started;
  let timer: NodeJS.Timeout | undefined;
  let failure: string | undefined = 'the rules were not evaluated';
  try {
    failure = await new Promise<string | undefined>((resolve) => {
      const begin = () => {
        clearTimeout(timer);
        worker.postMessage(job);
        const left = timeLeft(allowed, clock);
        const endOrWait = () => {
          const more = left();
          if (more > 0) timer = setTimeout(endOrWait, Math.max(more, shortestWait));
          else resolve(`the rules took more than ${seconds(allowed)} together`);
        };
        endOrWait();
      };
      started.onEvent = (event) => {
        if (event.type === 'failed') resolve(event.why);
        else if (event.type === 'end') resolve(undefined);
        else if (event.type === 'ready') begin();
        else onAnswer(event);
      };
      worker.ref();
      if (kept !== undefined) begin();
      else timer = setTimeout(() => resolve('the thread that evaluates rules did not start'), timeToStart);
    });
    return failure;
  } finally {
    clearTimeout(timer);
    started.onEvent = () => {};
    if (failure === undefined && idle === undefined) keepIdle(started);
    else await worker.terminate();
  }
}

/** Keeps the worker for the next evaluation. An idle worker does not keep the process alive. */
function keepIdle(started: StartedWorker): void {
  idle = started;
  started.worker.unref();
  started.onEvent = ({ type }) => {
    if (type === 'failed' && idle === started) idle = undefined;
  };
}

/**
 * What is left of the allowed time from now on. The time of other processes does not count: otherwise, harmless rules would count as
 * violations on a busy machine.
 */
function timeLeft(allowed: number, clock: Clock): () => number {
  const since = { now: clock.now(), processorTime: clock.processorTime() };
  return () => {
    const passed = clock.now() - since.now;
    const used = Math.min(passed, clock.processorTime() - since.processorTime);
    return passed >= allowed * maxSlowdown ? 0 : Math.ceil(allowed - used);
  };
}

/** The worker gets neither environment variables nor streams: a rule has nothing but its variables. */
function startWorker(): StartedWorker {
  const options = { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxMemory } };
  const worker =
    'text' in workerCode
      ? new Worker(workerCode.text, { ...options, eval: true })
      : new Worker(workerCode.file, options);
  const started: StartedWorker = { worker, onEvent: () => {} };
  const fail = (why: string) => started.onEvent({ type: 'failed', why });
  worker.on('message', (answer: Answer) => started.onEvent(answer));
  worker.on('error', ({ message }: Error) => fail(`the rules could not be evaluated: ${message}`));
  worker.on('exit', () => fail('the thread that evaluates rules ended'));
  return started;
}

function seconds(milliseconds: number): string {
  return counted(milliseconds / 1000, 'second');
}
