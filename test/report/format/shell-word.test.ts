/** Proposed commands are pasted into a shell, so a real shell parses them here. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { printable, shellWord } from '../../../src/report/view/printable.ts';

const texts = [
  'plain',
  'stacks/pay.yaml',
  '7f9c24e8-3b12-4fef-91e0-111111111111',
  '',
  '-',
  'a b; rm -rf /',
  '$(id) `id` $HOME',
  "it's",
  '"quoted"',
  'back\\slash',
  '*',
  '~',
  '#x',
  '!x',
  'x=y',
  'é…',
  'two\nlines',
  "\u001b[2J'\\\t",
];

it('a shell parses a word of a proposed command to the original text', () => {
  const command = `printf '%s\\0' ${texts.map(shellWord).join(' ')}`;
  const read = execFileSync('bash', ['--norc', '-c', command], {
    encoding: 'utf8',
    env: { LC_ALL: 'C.UTF-8' },
  });
  expect(read.split('\0').slice(0, -1)).toEqual(texts);
});

it('a word of a proposed command is not changed by printing', () => {
  for (const text of texts) expect(printable(shellWord(text))).toBe(shellWord(text));
  expect(shellWord('stacks/pay.yaml')).toBe('stacks/pay.yaml');
});
