/** Somebody else in a critical section: a process of its own. Killed with the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Another process that is inside, once it has said so. */
export async function holderOf(guard: string) {
  const script = fileURLToPath(new URL('guard-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [script, guard], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const end = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    pause: () => child.kill('SIGSTOP'),
    /** goes on, and out */
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
