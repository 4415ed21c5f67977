/** The shells that complete command lines, each with the script that `trueup completion` prints for it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { mainFile } from './process.ts';

/** Whether a shell is installed. @throws if it is required and missing */
export function hasShell(name: string): boolean {
  const isInstalled = spawnSync(name, ['-c', 'exit 0']).status === 0;
  if (!isInstalled && process.env['TRUEUP_REQUIRE_SHELLS'] === '1')
    throw new Error(`TRUEUP_REQUIRE_SHELLS=1, but there is no ${name}`);
  return isInstalled;
}

/** Runs a text in a shell without a start-up file, in which `trueup` is a command. @returns the lines that it prints */
export function runInShell(shell: readonly string[], text: string, cwd: string): string[] {
  const bin = temporaryFolder();
  const program = join(bin, 'trueup');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(program, 0o755);
  const [name = '', ...args] = shell;
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: bin, TERM: 'dumb' };
  const out = execFileSync(name, [...args, '-c', text], { cwd, env, encoding: 'utf8', stdio: 'pipe' });
  return out.split('\n').filter((line) => line !== '');
}

/** The completions of bash for a line, which is split into words as bash does. */
export function completedByBash(line: string, cwd: string): string[] {
  const words = line.split(/\s+/).flatMap((word, index) => {
    if (index > 0 && word === '') return [''];
    return word.match(/[:=]+|[^:=]+/g) ?? [''];
  });
  const given = words.map((word) => `'${word}'`).join(' ');
  return runInShell(
    ['bash', '--norc'],
    `source <(trueup completion bash)
     COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${given}) COMP_CWORD=${words.length - 1}
     _trueup; printf '%s\\n' "\${COMPREPLY[@]}"`,
    cwd,
  );
}

export function completedByZsh(line: string, cwd: string): string[] {
  const words = line.split(' ');
  return runInShell(
    ['zsh', '-f'],
    `autoload -Uz compinit && compinit -u -D
     source <(trueup completion zsh)
     [[ $_comps[trueup] == _trueup ]] || print -r -- 'not registered'
     _describe() { print -rl -- "\${(@P)4}" }
     _files() { print -r -- files }
     words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length} PREFIX='${words.at(-1) ?? ''}'
     _trueup`,
    cwd,
  );
}

export function completedByFish(line: string, cwd: string): string[] {
  return runInShell(['fish', '--no-config'], `trueup completion fish | source; complete -C '${line}'`, cwd);
}
