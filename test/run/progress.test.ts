/** The progress of a run: one updated line on a terminal, occasional plain lines elsewhere. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { KnownSecrets } from '../../src/redaction/known-secrets.ts';
import { hasLiveLine, openProgress, type Progress, timeText } from '../../src/run/progress.ts';

const request = {} as Parameters<Progress['request']>[0];

interface Scene {
  readonly progress: Progress;
  /** what was written since the last call */
  written(): string;
  /** seconds pass */
  pass(seconds: number): void;
  resize(columns: number): void;
}

function open({ isLive = true, columns = 80, secret = '' } = {}): Scene {
  let [now, text, width] = [1_000_000, '', columns];
  const stderr = {
    isTTY: isLive,
    get columns() {
      return width;
    },
    write: (more: string) => {
      text += more;
    },
  };
  const secrets = new KnownSecrets();
  if (secret !== '') secrets.keep(secret);
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return {
    progress: openProgress({ env: {}, now: () => now, stdout: { isTTY: isLive }, stderr, secrets }, isLive),
    written: () => {
      const all = text;
      text = '';
      return all;
    },
    pass: (seconds) => {
      now += seconds * 1000;
      vi.advanceTimersByTime(seconds * 1000);
    },
    resize: (to) => {
      width = to;
    },
  };
}

it('On a terminal the line shows progress, total, time left and rate', () => {
  const { progress, written, pass } = open();
  progress.begin('Applying', 300);
  expect(written()).toBe('\r\u001b[KApplying 0/300 changes');
  pass(10);
  progress.advance(31);
  pass(0.25);
  expect(written()).toContain('\r\u001b[KApplying 31/300 changes  89 s left  3.0/s');
});

it('During reads the line counts requests, and appears only after a moment', () => {
  const { progress, written, pass } = open();
  for (let at = 0; at < 40; at++) progress.request(request, '');
  expect(written()).toBe('');
  pass(6);
  expect(written()).toContain('Reading: 40 requests  6.7/s  6 s');
});

it('The line shows the reason of a wait only during the wait', () => {
  const { progress, written, pass } = open();
  progress.begin('Applying', 3);
  progress.wait('it answered 429', 30_000);
  pass(1);
  expect(written()).toContain('Applying 0/3 changes  waits 29 s: it answered 429');
  pass(30);
  progress.advance(1);
  expect(written().split('\r').at(-1)).not.toContain('429');
  const over = progress.waitFor('the lock that ann holds');
  pass(1);
  expect(written()).toContain('waits for the lock that ann holds');
  over();
  pass(1);
  expect(written().split('\r').at(-1)).not.toContain('lock');
});

it('The line fits into 40 columns: the least important part is left out, and a wide one is cut', () => {
  const { progress, written, pass } = open({ columns: 40 });
  progress.begin('Applying', 3000);
  pass(10);
  progress.advance(10);
  pass(0.25);
  expect(written().split('\u001b[K').at(-1)).toBe('Applying 10/3000 changes  51 min left');
  progress.begin('x'.repeat(100), 3);
  expect(written().split('\u001b[K').at(-1)).toHaveLength(39);
});

it.each([24, 30, 40, 50])('A secret is redacted before the line is cut to %i columns', (columns) => {
  const secret = 'Q7rT2xW9mK4pL8sV3nB6';
  const { progress, written } = open({ columns, secret });
  progress.begin('Applying', 3);
  written();
  progress.waitFor(`lock ${secret} of ann`);
  progress.begin('Applying', 4);
  const line = written();
  for (let at = 0; at + 4 <= secret.length; at++) expect(line).not.toContain(secret.slice(at, at + 4));
});

it('After the window became narrower, all rows of the wrapped line are cleared', () => {
  const { progress, written, resize } = open({ columns: 80 });
  progress.begin('Applying a plan with a rather long name', 3000);
  written();
  resize(20);
  progress.clear();
  expect(written()).toBe('\r\u001b[2A\u001b[J');
});

it('At the end the line is cleared, and not drawn again', () => {
  const { progress, written, pass } = open();
  progress.begin('Applying', 3);
  written();
  progress.end();
  expect(written()).toBe('\r\u001b[K');
  progress.request(request, '');
  pass(60);
  expect(written()).toBe('');
});

it('Foreign text in the line cannot move the cursor', () => {
  const { progress, written } = open();
  progress.waitFor('the lock that \u001b[2Jann\r holds');
  expect(written()).toContain(String.raw`the lock that \u001b[2Jann\r holds`);
});

it('Elsewhere there is a plain line at most every ten seconds, without control characters', () => {
  const { progress, written, pass } = open({ isLive: false });
  progress.begin('Applying', 300);
  for (let at = 1; at <= 30; at++) {
    pass(1);
    progress.advance(at * 3);
  }
  expect(written()).toBe(
    [30, 60, 90]
      .map((done) => `Applying ${done}/300 changes, ${timeText((300 - done) / 3)} left, 3.0/s\n`)
      .join(''),
  );
});

it('Elsewhere a line about reading comes every thirty seconds, counted from the first request', () => {
  const { progress, written, pass } = open({ isLive: false });
  pass(100);
  progress.request(request, '');
  expect(written()).toBe('');
  pass(30);
  progress.request(request, '');
  expect(written()).toBe('Reading: 2 requests, 0.1/s, 30 s\n');
});

it.each([
  ['a terminal', {}, true],
  ['a terminal of a CI job', { CI: 'true' }, false],
  ['a dumb terminal', { TERM: 'dumb' }, false],
])('The line is drawn again on %s: %o is %s', (_, env, isLive) => {
  const output = { isTTY: true, columns: 80, write: () => {} };
  expect(hasLiveLine({ env, stdout: output, stderr: output })).toBe(isLive);
  expect(hasLiveLine({ env, stdout: { isTTY: false }, stderr: output })).toBe(false);
});
