/** A page whose commands are run: each block of `sh`, with the outputs (`text`) that the page shows below it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mainFile } from './cli/process.ts';

export interface Step {
  readonly commands: string;
  readonly shown: readonly string[];
}

export function stepsOf(page: string): readonly Step[] {
  const steps: { commands: string; shown: string[] }[] = [];
  for (const [, language = '', content = ''] of page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (language === 'sh') steps.push({ commands: content, shown: [] });
    if (language === 'text') steps.at(-1)?.shown.push(content);
  }
  return steps;
}

/** Printed after the commands of each step. */
const border = '=== end of step ===';

/** An environment in which `trueup` is the program under test, and home and temporary files are in this folder. */
export function homeWithProgram(home: string): Record<string, string> {
  const program = join(home, 'trueup');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(program, 0o755);
  return { PATH: [home, process.env['PATH']].join(delimiter), HOME: home, TMPDIR: home };
}

export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs all steps in one shell. @returns what each prints on both streams. Servers in the background are ended with the shell.
 * @throws with all output when a command fails
 */
export async function runAllSteps(steps: readonly Step[], { cwd, env }: Place): Promise<readonly string[]> {
  const lines = steps.flatMap(({ commands }) => [commands.trimEnd(), `echo '${border}'`]);
  const shell = spawn('bash', ['-c', ['set -e', 'exec 2>&1', ...lines].join('\n')], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const output = text(shell.stdout);
  const [code] = await once(shell, 'exit');
  endGroup(shell.pid);
  const printed = await output;
  if (code !== 0) throw new Error(`exit code ${code}\n${printed}`);
  return printed.split(`${border}\n`).slice(0, -1);
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Matches outputs with these consecutive lines. A line `…` matches any lines, and `…` within a line any text. */
export function outputPattern(shown: string): RegExp {
  const lines = shown
    .trimEnd()
    .split('\n')
    .map((line) =>
      line === '…' ? String.raw`(?:.*\n)*?` : `${line.split('…').map(escapeWords).join('.*')} *\n`,
    );
  return new RegExp(`^${lines.join('')}`, 'm');
}

/** `RegExp.escape`, which Node 22 does not have. */
function escapeWords(words: string): string {
  return words.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
