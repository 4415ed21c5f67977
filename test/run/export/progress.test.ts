/** The number of requests of an export, as a terminal shows it. */
import { expect, it } from 'vitest';
import { openReadProgress } from '../../../src/run/export/read.ts';
import type { Terminal } from '../../../src/run/terminal.ts';
import type { Answer } from '../../../src/model/http.ts';

const answer: Answer = { method: 'GET', url: 'https://toys.test', status: 200, body: null, words: '' };

it('the first request is reported as one', async () => {
  const lines: string[] = [];
  const stderr = { isTTY: true, columns: 80, write: (text: string) => lines.push(text) };
  const progress = openReadProgress({ host: { stderr, env: {} } } as unknown as Terminal);
  progress.begin('acme', 'reading Workspace');
  const reader = progress.countingReader('acme', { get: async () => answer, list: async () => answer });
  await reader.get('/one');
  await reader.get('/two');
  expect(lines.slice(1).map((line) => line.slice(line.indexOf('acme')))).toEqual([
    'acme: reading Workspace, 1 request',
    'acme: reading Workspace, 2 requests',
  ]);
});
