/** A run ends even if its standard input never does. */
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const begun = { open: JSON.stringify(workspace('app')) };

async function checkout(): Promise<Checkout> {
  return (await openBench()).checkout();
}

const commands = [
  ['validate', '-'],
  ['plan', '-'],
  ['apply', '-', '--yes'],
  ['recover', '-', '--yes'],
  ['recover', '-', '--moved', 'acme', '--yes'],
  ['history', '-'],
  ['unlock', '-', '--id', 'x'],
  ['export', '-'],
];

describe('standard input that is held open', () => {
  it.each(commands)('is given up by "%s %s" when the time of the run is over', async (...args) => {
    const { directory } = await checkout();
    const { code, out, err } = await trueupProcess([...args, '--timeout', '1s'], {
      cwd: directory,
      env: secrets,
      stdin: begun,
    });
    expect(code, out + err).toBe(1);
    expect(err).toMatch(
      /^error: standard input did not end, and nothing was done: this run has reached its timeout of 1s; --timeout/m,
    );
    expect(out).toBe('');
  });

  it('is not read if a manifest is named in place of a stack whose manifests come from it', async () => {
    const stack = await (await openBench()).checkout({ spec: { manifests: ['-'] } });
    await stack.write('manifests/app.yaml', JSON.stringify(workspace('app')));
    const { code, err } = await trueupProcess(['plan', 'manifests/app.yaml', '--timeout', '9s'], {
      cwd: stack.directory,
      env: secrets,
      stdin: begun,
    });
    expect({ code, err }).toEqual({ code: 7, err: expect.stringContaining('no-stack') });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is reported after some seconds, and %s ends the run',
    async (signal) => {
      const { directory } = await checkout();
      const { code, err } = await trueupProcess(
        ['plan', '-'],
        { cwd: directory, env: secrets, stdin: begun },
        async ({ waitForText, sendSignal }) => {
          await waitForText(/waiting for standard input for 5 s: it has not ended/);
          sendSignal(signal);
        },
      );
      expect(code, err).toBe(130);
      expect(err).toContain('standard input did not end, and nothing was done: interrupted');
    },
  );

  it.each(['validate', 'apply'])(
    'does not keep %s from ending at a signal, which JSON reports',
    async (command) => {
      const { directory } = await checkout();
      const { code, out } = await trueupProcess(
        [command, '-', '--format', 'json'],
        { cwd: directory, env: secrets, stdin: begun },
        async ({ waitForText, sendSignal }) => {
          await waitForText(/waiting for standard input/);
          sendSignal('SIGINT');
        },
      );
      expect(code, out).toBe(130);
      expect(JSON.parse(out).diagnostics).toMatchObject([
        { message: 'standard input did not end, and nothing was done: interrupted' },
      ]);
    },
  );

  it('is reported in JSON when the time of the run is over', async () => {
    const { directory } = await checkout();
    const { code, out } = await trueupProcess(['plan', '-', '--format', 'json', '--timeout', '1s'], {
      cwd: directory,
      env: secrets,
      stdin: begun,
    });
    expect(code, out).toBe(1);
    expect(JSON.parse(out).diagnostics).toMatchObject([
      { message: expect.stringContaining('this run has reached its timeout of 1s') },
    ]);
  });
});
