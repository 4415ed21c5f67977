/** `trueup init` finds the dialect of a workspaces service from its answers, and says which one it wrote and why. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { textsIn } from '../../support/cli/first-stack.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function openFor(dialect: string, workspaces: readonly { name: string }[]) {
  const bench = await openBench({ dialects: [dialect], organization: { workspaces } });
  const directory = join(temporaryFolder({ 'payments/.keep': '' }), 'payments');
  const env = { HOME: temporaryFolder(), API_TOKEN: secrets.API_TOKEN };
  const init = (...args: string[]) =>
    trueup(['init', '--url', bench.wire.url, '--organization', 'acme', '--token-env', 'API_TOKEN', ...args], {
      cwd: directory,
      env,
    });
  const plan = () => trueup(['plan'], { cwd: directory, env });
  return { bench, directory, init, plan, stackText: () => textsIn(directory)['trueup.yaml'] };
}

describe('init against a service', () => {
  it.each([
    ['neutral', [{ name: 'app' }], 'a workspace has "engine-version"'],
    ['neutral', [], 'no answer has the header "tfp-api-version"'],
    ['hcp-terraform', [{ name: 'app' }], 'a workspace has "terraform-version"'],
    ['hcp-terraform', [], 'its answers have the header "tfp-api-version"'],
  ] as const)(
    'in the dialect %s writes that dialect into the stack, with the workspaces %j',
    async (dialect, workspaces, sign) => {
      const { bench, init, stackText, plan } = await openFor(dialect, workspaces);
      const { code, out } = await init('--yes');
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringContaining(`The target has "dialect: ${dialect}": ${sign}.`),
      });
      expect(stackText()).toContain(`dialect: ${dialect}\n`);
      expect(bench.wire.writes()).toEqual([]);
      expect(await plan()).toMatchObject({ code: 0, err: '' });
    },
  );

  it.each([
    ['neutral', 'hcp-terraform'],
    ['hcp-terraform', 'neutral'],
  ] as const)('in the dialect %s refuses "--dialect %s", and writes nothing', async (spoken, given) => {
    const { directory, init } = await openFor(spoken, [{ name: 'app' }]);
    const { code, err } = await init('--yes', '--dialect', given);
    expect(code).toBe(1);
    expect(err).toContain(`"--dialect" is "${given}", and the service speaks "${spoken}"`);
    expect(err).toContain(`pass "--dialect ${spoken}"`);
    expect(textsIn(directory)).toEqual({});
  });

  it.each([
    [[], 'hcp-terraform', 'the usual dialect of workspaces'],
    [['--dialect', 'neutral'], 'neutral', 'as "--dialect" says'],
  ] as const)(
    'with --no-connect keeps the dialect of the flag or the default, and says so: %j',
    async (args, dialect, why) => {
      const { bench, init, stackText } = await openFor('neutral', [{ name: 'app' }]);
      const { out } = await init('--no-connect', ...args);
      expect(out).toContain(
        `The target has "dialect: ${dialect}": ${why}; it is not confirmed, because nothing was sent to the service.`,
      );
      expect(stackText()).toContain(`dialect: ${dialect}\n`);
      expect(bench.wire.seen).toEqual([]);
    },
  );

  it('that refuses the token keeps the default dialect, and writes the files', async () => {
    const { bench, init, stackText } = await openFor('neutral', [{ name: 'app' }]);
    bench.wire.add({ method: 'GET', path: /\//, times: 99, fault: { answer: 401, body: {} } });
    const { out } = await init();
    expect(out).toContain('it is not confirmed, because no answer shows it');
    expect(stackText()).toContain('dialect: hcp-terraform');
  });
});
