/** Output on a terminal: colours only if they are requested, and never a control character from a service. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { onTerminal } from '../../support/cli/process.ts';

const controlSequence = '\u001b';

describe('colours', () => {
  async function planned(stack: Checkout, flags: readonly string[], env: Record<string, string>) {
    const { code, out } = await trueup(['plan', ...flags], {
      cwd: stack.directory,
      env: { ...secrets, ...env },
    });
    expect(code).toBe(0);
    return out.includes(controlSequence);
  }

  it.each([
    ['no settings', [], {}, false],
    ['--color always', ['--color', 'always'], {}, true],
    ['--color always against NO_COLOR', ['--color', 'always'], { NO_COLOR: '1' }, true],
    ['--color never against FORCE_COLOR', ['--color', 'never'], { FORCE_COLOR: '1' }, false],
    ['--no-color against FORCE_COLOR', ['--no-color'], { FORCE_COLOR: '1' }, false],
    ['FORCE_COLOR', [], { FORCE_COLOR: '1' }, true],
    ['NO_COLOR against FORCE_COLOR', [], { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['an empty NO_COLOR, which means nothing', [], { NO_COLOR: '', FORCE_COLOR: '1' }, true],
    ['FORCE_COLOR of 0', [], { FORCE_COLOR: '0' }, false],
  ] as const)('without a terminal follow the settings: %s', async (_, flags, env, coloured) => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    expect(await planned(stack, flags, env)).toBe(coloured);
  });

  it('are never in JSON', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    expect(await planned(stack, ['--format', 'json', '--color', 'always'], { FORCE_COLOR: '1' })).toBe(false);
  });

  it('are in errors too, with --color always', async () => {
    const { err } = await trueup(['plan', '/nowhere', '--color', 'always'], { cwd: '/' });
    expect(err).toContain(controlSequence);
  });
});

describe('text from the service', () => {
  /** Clears the screen, sets its title, overwrites text after a carriage return, and reverses what follows. */
  const hostile = `nice${controlSequence}[2J${controlSequence}]0;owned\u0007\r\u202eevil`;

  /** Replaces a placeholder in answers, because the embedded service does not accept such a text in all fields. */
  const withHostileText = (body: unknown) =>
    JSON.parse(JSON.stringify(body).replaceAll('placeholder', JSON.stringify(hostile).slice(1, -1)));

  it('cannot move the cursor, or hide or reverse text: names, descriptions, tags, reasons', async () => {
    const bench = await openBench({
      // Its writes read the tags back, which are replaced here, so that this apply fails.
      dialects: ['neutral'],
      organization: {
        workspaces: [
          { name: 'clone-placeholder', 'tag-bindings': { 'trueup-stack': 'payments' } },
          { name: 'app', 'tag-bindings': { 'key-placeholder': 'placeholder' } },
        ],
      },
    });
    const stack = await bench.checkout({ workspaces: { dialect: 'neutral' } });
    await stack.setUp(workspace('old'), role('web'));
    await bench.byHand.update(await bench.idOf('app'), { description: 'placeholder' });
    await bench.byHand.post(`/workspaces/${await bench.idOf('old')}/actions/lock`, { reason: 'placeholder' });
    await bench.byHandMount('POST', 'role/web', { token_policies: ['placeholder'] });
    await stack.declare(
      workspace('app', { description: 'ours', tags: { env: 'prod' } }, { adopt: true }),
      role('web', { tokenPolicies: ['read'] }),
    );
    bench.wire.add({ method: 'GET', path: /./, times: 1000, fault: { rewrite: withHostileText } });
    for (const [args, code] of [
      [['plan'], 0],
      [['plan', '--calls'], 0],
      [['plan', '--format', 'json'], 0],
      // it has to send such a tag, which the service refuses with its own message
      [['apply', '--yes'], 6],
    ] as const) {
      const { out, err } = await stack.run(args, code);
      const hostileTexts = out.match(/evil/g) ?? [];
      expect(hostileTexts.length, out).toBeGreaterThanOrEqual(5);
      // every control and format character but the line end
      expect(`${out}${err}`).not.toMatch(/[^\n\P{C}]/u);
    }
  });
});

const hasScript = (() => {
  try {
    execFileSync('script', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

describe.runIf(hasScript)('on a terminal', () => {
  const [ctrlC, ctrlD] = ['\u0003', '\u0004'];

  async function twoChanges() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    const answer = (typed: string, columns = 120) =>
      onTerminal(['apply'], { cwd: stack.directory, env: secrets, columns }, async (person) => {
        await person.waitForText(/Apply these 2 changes\? \[y\/N\]/);
        person.typeText(typed);
      });
    return { bench, stack, answer };
  }

  it.each([
    ['n', 'n\r'],
    ['a lone Enter', '\r'],
    ['a line feed before Enter', '\n\r'],
    ['a word that begins like a yes', 'yet\r'],
    ['Ctrl-D', ctrlD],
  ])('apply asks, and %s counts as a no: nothing is written, and the lock is released', async (_, typed) => {
    const { bench, stack, answer } = await twoChanges();
    const { code, screen } = await answer(typed);
    expect(screen).toContain('nothing was written');
    expect(code).toBe(1);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
  });

  it('Ctrl-C at the question interrupts the run: nothing is written, and the lock is released', async () => {
    const { bench, stack, answer } = await twoChanges();
    const { code, screen } = await answer(ctrlC);
    expect(screen).toContain('nothing was written');
    expect(code).toBe(130);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
  });

  it.each(['y', 'yes', 'Y'])(
    'the answer %s applies, shows a progress line, and lists every outcome',
    async (yes) => {
      const { bench, answer } = await twoChanges();
      const { code, screen } = await answer(`${yes}\r`);
      expect(screen).toContain('Applying 0/2 changes\r\u001b[K');
      expect(screen.match(/applied +.*\+ \w+\/(?:acme\/app|prod\/web)/g)).toHaveLength(2);
      expect(screen).toContain('2 applied');
      expect(screen).toContain('nothing is left to do');
      expect(code).toBe(0);
      expect(bench.wire.writes()).toHaveLength(2);
    },
  );

  it('a terminal without a width is asked on one line, too', async () => {
    const { answer } = await twoChanges();
    expect((await answer('y\r', 0)).code).toBe(0);
  });

  /** An apply whose plan waits during a read until the typed text is on the terminal. */
  async function typeAhead(typed: string, question: RegExp, documents: readonly object[]) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(role('web'));
    await stack.declare(...documents);
    const reading = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const hold = () => {
      reading.resolve();
      return release.promise;
    };
    bench.wire.add({ method: 'GET', path: /\/workspaces/, fault: { first: hold } });
    const at = { cwd: stack.directory, env: secrets };
    const ran = await onTerminal(['apply'], at, async (person) => {
      await reading.promise;
      person.typeText(typed);
      await person.waitForText(/typed/); // the terminal's own echo
      release.resolve();
      await person.waitForText(question);
      person.typeText('\r');
    });
    return { ...ran, writes: bench.wire.writes() };
  }

  it.each(['y\rtyped', 'y\nyes\rtyped\r', 'typed\u0004y\r'])(
    'text that was typed during planning does not answer a later question (%j)',
    async (typed) => {
      const { code, writes } = await typeAhead(typed, /Apply these 2 changes\?/, [
        workspace('app'),
        workspace('other'),
        role('web'),
      ]);
      expect(code).toBe(1);
      expect(writes).toEqual([]);
    },
  );

  it.each(['wildcard\rtyped', 'wildcard typed'])(
    'a guard that was typed during planning is not acknowledged (%j)',
    async (typed) => {
      const { code, writes } = await typeAhead(typed, /type the guard that blocks: wildcard/, [
        role('web', { boundServiceAccountNames: ['*'] }),
      ]);
      expect(code).toBe(5);
      expect(writes).toEqual([]);
    },
  );

  it('all of several guards have to be typed, which the question and the error say', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...names.map((name) => workspace(name)), role('web'));
    await stack.declare(role('web', { boundServiceAccountNames: ['*'] }));
    const before = bench.wire.writes().length;
    const answering = (answer: string) =>
      onTerminal(['apply'], { cwd: stack.directory, env: secrets }, async ({ waitForText, typeText }) => {
        await waitForText(
          /type the names of the guards that block, all of them, separated by commas: deletes, zero/,
        );
        typeText(`${answer}\r`);
      });
    const { code, screen } = await answering('wildcard');
    expect({ code, screen: screen.replaceAll(/\s+/g, ' ') }).toEqual({
      code: 5,
      screen: expect.stringMatching(
        /3 guards block this plan: deletes, zero, wildcard; read the plan, and acknowledge all of them with "trueup apply/,
      ),
    });
    expect(bench.wire.writes()).toHaveLength(before);
    expect((await answering('deletes, wildcard, zero')).code).toBe(0);
  });

  it.each([
    ['Ctrl-D is a no', ctrlD, 5],
    ['Ctrl-C interrupts', ctrlC, 130],
  ])('at the question for guards, %s, and the lock is released', async (_, typed, expected) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(role('web'));
    await stack.declare(role('web', { boundServiceAccountNames: ['*'] }));
    const at = { cwd: stack.directory, env: secrets };
    const { code, screen } = await onTerminal(['apply'], at, async (person) => {
      await person.waitForText(/type the guard that blocks: wildcard/);
      person.typeText(typed);
    });
    expect(code).toBe(expected);
    expect(screen).toContain('nothing was written');
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
  });

  it.each([
    ['Ctrl-D', ctrlD, 1],
    ['Ctrl-C', ctrlC, 130],
    ['a yes', 'y\r', 0],
  ])('recover asks, and releases the lock after %s', async (_, typed, expected) => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    await stack.loseLedger();
    const at = { cwd: stack.directory, env: secrets };
    const { code, screen } = await onTerminal(['recover'], at, async (person) => {
      await person.waitForText(/Write this ledger\? \[y\/N\]/);
      person.typeText(typed);
    });
    expect(code, screen).toBe(expected);
    await stack.run(['recover', '--yes'], 0);
  });

  it.each([
    ['Ctrl-D', ctrlD, 1],
    ['Ctrl-C', ctrlC, 130],
  ])('recover --moved holds the lock while it asks, and releases it after %s', async (_, typed, expected) => {
    const bench = await openBench({ others: ['other'] });
    const before = await bench.checkout();
    await before.setUp(workspace('app'));
    const stack = await before.reconfigure({ workspaces: { organization: 'other' } });
    const at = { cwd: stack.directory, env: secrets };
    const { code, screen } = await onTerminal(['recover', '--moved', 'acme'], at, async (person) => {
      await person.waitForText(/Write this ledger\?/);
      await stack.run(['recover', '--moved', 'acme', '--yes'], 8);
      person.typeText(typed);
    });
    expect(code, screen).toBe(expected);
    expect(screen).toContain('nothing was written');
    await stack.run(['recover', '--moved', 'acme', '--yes'], 0);
  });

  it('Ctrl-C during an apply lets writes in flight finish, starts nothing new, and writes the ledger', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    // Once an ownership tag is seen, creates need not wait for the first one.
    await stack.setUp(workspace('old'));
    await stack.declare(
      workspace('app', { remoteStateConsumers: ['app-2'] }),
      workspace('app-2'),
      workspace('old'),
    );
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const hold = () => {
      started.resolve();
      return release.promise;
    };
    bench.wire.add({ method: 'POST', path: /\/workspaces$/, times: 2, fault: { first: hold } });
    const { code, screen } = await onTerminal(
      ['apply', '--yes'],
      { cwd: stack.directory, env: secrets },
      async (person) => {
        await started.promise;
        person.typeText('\u0003');
        await person.waitForText(/interrupted: any write that was sent is waited for/);
        release.resolve();
      },
    );
    expect(code, screen).toBe(130);
    expect(screen).toContain('2 applied, 1 skipped');
    expect(screen).toContain('not sent: the run was stopped');
    expect(Object.keys((await stack.ledger()).records)).toEqual([
      'Workspace/acme/app',
      'Workspace/acme/app-2',
      'Workspace/acme/old',
    ]);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('NO_COLOR disables colours', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const { directory: cwd } = stack;
    const plain = await onTerminal(['plan'], { cwd, env: { ...secrets, NO_COLOR: '1' } });
    expect(plain.screen).not.toContain(controlSequence);
    const coloured = await onTerminal(['plan'], { cwd, env: secrets });
    expect(coloured.screen).toContain(controlSequence);
  });
});
