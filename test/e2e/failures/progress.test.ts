/** Output of an apply: a progress line on a terminal, plain lines elsewhere, and a summary that fits on a screen. */
import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdLock, open } from '../../support/cli/locked-stack.ts';
import { onTerminal, trueupProcess } from '../../support/cli/process.ts';
import { openTlsFront } from '../../support/rig/tls-front.ts';

const hasScript = (() => {
  try {
    return execFileSync('script', ['--version']).length > 0;
  } catch {
    return false;
  }
})();

/** A stack with 30 workspaces to create, of which the service refuses the last `refused`. */
async function manyChanges({ refused }: { refused: number }): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench();
  const stack = await bench.checkout();
  const names = Array.from({ length: 30 }, (_, at) => `app-${String(at).padStart(2, '0')}`);
  await stack.declare(...names.map((name) => workspace(name)));
  const body = {
    errors: [
      { status: '422', title: 'invalid', detail: 'the name is reserved for a team of another organization' },
    ],
  };
  for (const name of names.slice(30 - refused))
    bench.wire.add({
      method: 'POST',
      path: /\/workspaces$/,
      body: new RegExp(name),
      fault: { answer: 422, body },
    });
  return { bench, stack };
}

/** What is on the screen after the progress line was drawn last. */
function endOf(screen: string): string {
  return stripVTControlCharacters(screen.split('\r\u001b[K').at(-1) ?? '').replaceAll('\r', '');
}

function expectPlain(text: string): void {
  for (const control of ['\r', '\u001b']) expect(text).not.toContain(control);
}

const rowsIn = (text: string, columns: number) =>
  text
    .trimEnd()
    .split('\n')
    .reduce((rows, line) => rows + Math.max(1, Math.ceil([...line].length / columns)), 0);

const onScreen = (stack: Checkout, columns: number, env: Record<string, string> = {}) =>
  onTerminal(['apply', '--yes', '--color', 'never'], {
    cwd: stack.directory,
    env: { ...secrets, ...env },
    columns,
  });

describe.runIf(hasScript)('on a terminal', () => {
  it.each([80, 40])(
    'of %i columns the progress is one line, and nothing of it is left at the end',
    async (columns) => {
      const { stack } = await manyChanges({ refused: 0 });
      const { code, screen } = await onScreen(stack, columns);
      expect(code, screen).toBe(0);
      const drawn = screen.split('\r\u001b[K').filter((text) => text.startsWith('Applying '));
      expect(drawn[0]).toBe('Applying 0/30 changes');
      for (const line of drawn) expect([...line].length).toBeLessThan(columns);
      const end = endOf(screen);
      expect(end).toMatch(
        /^\n?30 applied\n\nPlanned again: nothing is left to do\n\n30 created in \d+ s, with \d+ requests\nNext: /,
      );
      expect(end).not.toContain('Applying');
      expect(screen).not.toContain('\u001b[?25l');
    },
  );

  it('the end of a failed apply fits on a screen of 80 columns and 24 rows: counts, first failures, what to do', async () => {
    const { stack } = await manyChanges({ refused: 8 });
    const { code, screen } = await onScreen(stack, 80);
    expect(code, screen).toBe(6);
    // Lines of failures that were printed after the progress was drawn last are not part of the end.
    const end = endOf(screen).replace(/^(failed .*\(\d+\/30\)\n)+/, '');
    expect(rowsIn(end, 80), end).toBeLessThanOrEqual(24);
    expect(end).toMatch(/failed {4}\+ Workspace\/acme\/app-22/);
    expect(end).toContain('and 5 more: "trueup history show latest" lists each');
    expect(end).toContain('22 applied, 8 failed');
    expect(end).toMatch(/22 created in \d+ s, with \d+ requests\nNext: correct what is reported above/);
    // Each failure stays above the line as soon as it happens.
    expect(screen.match(/failed {4}\+ Workspace\/acme\/app-\d\d {2}\(\d+\/30\)/g)).toHaveLength(8);
  });

  it('the progress says how long it waits for a service that answered 429', async () => {
    const { bench, stack } = await manyChanges({ refused: 0 });
    const fault = { answer: 429, headers: { 'retry-after': '1' } };
    bench.wire.add({ method: 'POST', path: /\/workspaces$/, body: /app-15/, fault });
    const { code, screen } = await onScreen(stack, 80);
    expect(code, screen).toBe(0);
    expect(screen).toMatch(/Applying \d+\/30 changes {2}waits 1 s: "acme" answered 429/);
  });

  it('the progress names the holder of the lock that it waits for', async () => {
    const { stack } = await open();
    const lock = await holdLock(stack);
    const args = ['apply', '--yes', '--lock-timeout', '5m'];
    const { code } = await onTerminal(args, { cwd: stack.directory, env: secrets }, async (person) => {
      await person.waitForText(/waits for the lock that ann holds/);
      await stack.run(['unlock', '--id', lock.id], 0);
    });
    expect(code).toBe(0);
  });

  it.each([
    ['TERM=dumb', { TERM: 'dumb' }],
    ['CI=true', { CI: 'true' }],
  ])('with %s the progress consists of plain lines without control characters', async (_, env) => {
    const { stack } = await manyChanges({ refused: 0 });
    const { screen } = await onScreen(stack, 80, env);
    // A pseudo terminal writes each line end with a carriage return.
    expectPlain(screen.replaceAll('\r\n', '\n'));
    expect(screen.match(/^applied +\+ Workspace\/acme\/app-\d\d {2}\(\d+\/30\)/gm)).toHaveLength(30);
  });
});

/** A stack at a service that has web pages, with a workspace that somebody changed. */
async function atServiceWithPages(): Promise<{ stack: Checkout; page: string }> {
  const bench = await openBench({ dialects: ['hcp-terraform'] });
  const front = await openTlsFront(bench.wire.url);
  const stack = await bench.checkout({
    workspaces: { url: front.url, dialect: 'hcp-terraform', caCert: { file: 'ca.pem' } },
  });
  await stack.write('ca.pem', front.authority);
  await stack.setUp(workspace('app', { description: 'ours' }));
  await stack.declare(workspace('app', { description: 'other' }));
  return { stack, page: `${front.url}/app/acme/workspaces/app` };
}

describe.runIf(hasScript)('the name of a resource', () => {
  const shown = ({ stack, ...env }: { stack: Checkout; [name: string]: unknown }, ...args: string[]) =>
    onTerminal(args, { cwd: stack.directory, env: { ...secrets, ...(env as Record<string, string>) } });

  it('is a link to its page in a terminal that shows links, and nowhere else', async () => {
    const { stack, page } = await atServiceWithPages();
    const link = `\u001b]8;;${page}\u001b\\Workspace/acme/app\u001b]8;;\u001b\\`;
    const able = await shown({ stack, VTE_VERSION: '6003' }, 'plan');
    expect(able.screen).toContain(link);
    for (const env of [{}, { VTE_VERSION: '6003', CI: 'true' }, { VTE_VERSION: '6003', NO_COLOR: '1' }])
      expect((await shown({ stack, ...env }, 'plan')).screen).not.toContain('\u001b]8');
    const env = { ...secrets, FORCE_HYPERLINK: '1', VTE_VERSION: '6003' };
    const piped = await trueupProcess(['plan', '--color', 'always'], { cwd: stack.directory, env });
    expect(piped.out).toContain('Workspace/acme/app');
    expect(piped.out).not.toContain('\u001b]8');
  });
});

it('In a pipe each change has a line, without control characters, and every failure is shown', async () => {
  const { stack } = await manyChanges({ refused: 8 });
  const { out, err } = await trueupProcess(['apply', '--yes'], { cwd: stack.directory, env: secrets });
  expectPlain(out + err);
  expect(out.match(/^applied +\+ /gm)).toHaveLength(22);
  expect(out.match(/the name is reserved/g)).toHaveLength(8);
  expect(out).toMatch(/22 created in \d+ s, with \d+ requests/);
});
