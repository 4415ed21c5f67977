/** The scripts of `trueup completion`, each in its own shell. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  completedByBash,
  completedByFish,
  completedByZsh,
  hasShell,
  runInShell,
} from '../../support/cli/shells.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';

const addresses = ['Workspace/acme/app', 'TagBindings/acme/app', 'ClusterAuthRole/prod/web'];

describe('bash', () => {
  it('completes commands, flags, their values, and names of the stack', () => {
    const cwd = embeddedStack();
    expect(completedByBash('trueup pl', cwd)).toEqual(['plan']);
    expect(completedByBash('trueup plan --exit', cwd)).toEqual(['--exit-code']);
    expect(completedByBash('trueup plan --format m', cwd)).toEqual(['markdown']);
    expect(completedByBash('trueup accept ', cwd).sort()).toEqual([...addresses].sort());
    expect(completedByBash('trueup accept Workspace/acme/app Clu', cwd)).toEqual([
      'ClusterAuthRole/prod/web',
    ]);
    expect(completedByBash('trueup export --target p', cwd)).toEqual(['prod']);
  });

  it('replaces only the part after "=" or ":", where bash splits words', () => {
    const cwd = embeddedStack();
    expect(completedByBash('trueup plan --format=m', cwd)).toEqual(['markdown']);
    expect(completedByBash('trueup export --target=', cwd)).toEqual(['acme', 'prod']);
    expect(completedByBash('trueup history show la', cwd)).toEqual(['latest']);
  });

  it('completes files only for commands that take files', () => {
    const cwd = embeddedStack();
    mkdirSync(join(cwd, 'with space'));
    expect(completedByBash('trueup plan man', cwd)).toEqual(['manifests']);
    expect(completedByBash('trueup plan wi', cwd)).toEqual(['with space']);
    expect(completedByBash('trueup export --out tru', cwd)).toEqual([]);
    expect(completedByBash('trueup show tru', cwd)).toEqual(['trueup.yaml']);
    expect(completedByBash('trueup unlock --id ', cwd)).toEqual([]);
  });

  it('prints nothing if trueup is missing, and can read the script twice', () => {
    const out = runInShell(
      ['bash', '--norc', '-u', '-e'],
      `script=$(trueup completion bash); eval "$script"; eval "$script"
       COMP_LINE='./gone pl' COMP_POINT=9 COMP_WORDS=(./gone pl) COMP_CWORD=1
       _trueup; echo "\${#COMPREPLY[@]}"`,
      embeddedStack(),
    );
    expect(out).toEqual(['0']);
  });
});

describe.runIf(hasShell('zsh'))('zsh', () => {
  it('completes commands, values with "=", names of the stack with their descriptions, and files', () => {
    const cwd = embeddedStack();
    expect(completedByZsh('trueup fm', cwd)).toEqual(['fmt:Formats stack files and manifests']);
    expect(completedByZsh('trueup plan --format=m', cwd)).toEqual(['--format=markdown']);
    expect(completedByZsh('trueup accept ', cwd).sort()).toEqual([...addresses].sort());
    expect(completedByZsh('trueup plan ', cwd)).toEqual(['files']);
  });
});

describe.runIf(hasShell('fish'))('fish', () => {
  it('completes commands, values with "=", names of the stack with their descriptions, and files', () => {
    const cwd = embeddedStack();
    expect(completedByFish('trueup fm', cwd)).toEqual(['fmt\tFormats stack files and manifests']);
    expect(completedByFish('trueup plan --format=m', cwd)).toEqual(['--format=markdown']);
    expect(completedByFish('trueup accept ', cwd).sort()).toEqual([...addresses].sort());
    expect(completedByFish('trueup show tru', cwd)).toEqual(['trueup.yaml']);
  });
});
