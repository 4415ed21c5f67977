/** Another process inside a critical section. It is killed at the end of the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Starts the process, and waits until it is inside. */
export async function startGuardHolder(guard: string) {
  const script = fileURLToPath(new URL('guard-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [script, guard], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const end = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    pause: () => child.kill('SIGSTOP'),
    /** lets it continue and leave the critical section */
    leave: () => {
      child.kill('SIGCONT');
      if (!child.stdin.writableEnded) child.stdin.end('go on');
    },
    kill: () => {
      child.kill('SIGKILL');
      return end;
    },
  };
}
