/** The CLI as a process that is watched while it runs: what it says so far, signals, its end. Killed with the test. */
import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { type Exited, mainFile } from './process.ts';

export interface Running {
  readonly pid: number;
  /** resolves once stdout and stderr together match; rejects when the process ends before */
  says(what: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Exited & { readonly signal: NodeJS.Signals | null }>;
}

export function startTrueup(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Running {
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const said = { out: '', err: '' };
  let heard = () => {};
  for (const [stream, name] of [
    [child.stdout, 'out'],
    [child.stderr, 'err'],
  ] as const) {
    stream.on('data', (chunk) => {
      said[name] += String(chunk);
      heard();
    });
  }
  const ended = new Promise<Awaited<Running['ended']>>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...said }));
  });
  return {
    pid: child.pid ?? 0,
    kill: (signal) => {
      child.kill(signal);
    },
    ended,
    says: (what) =>
      new Promise((resolve, reject) => {
        const listen = () => what.test(said.out + said.err) && resolve();
        const before = heard;
        heard = () => {
          before();
          listen();
        };
        listen();
        void ended.then(() => reject(new Error(`it ended without saying ${what}: ${said.out}${said.err}`)));
      }),
  };
}
