// docs/tutorial.md word for word: its commands run in an empty directory and an empty home, with the command that `npm pack` and a global
// installation give, and print what the page shows.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder } from './support/rig/temporary-folder.ts';
import { asShown, stepsOf, typeAll } from './support/typed-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const steps = stepsOf(readFileSync(join(root, 'docs', 'tutorial.md'), 'utf8'));

describe('the tutorial', () => {
  const [home, prefix, empty] = [makeFolder(), makeFolder(), makeFolder()];
  let outputs: readonly string[] = [];

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['pack', '--json', '--silent', '--pack-destination', home],
      { cwd: root },
    );
    const [pack] = JSON.parse(stdout.slice(stdout.indexOf('[')));
    const env = environment({ home, prefix, source: join(home, pack.filename) });
    outputs = await typeAll(steps, { cwd: empty, env });
  }, 300_000);

  afterAll(() => [home, prefix, empty].forEach(removeFolder));

  it.each(steps.map((step, index) => ({ ...step, index })))('prints what it shows: $commands', (step) => {
    for (const shown of step.shown) expect(outputs[step.index]).toMatch(asShown(shown));
  });

  it('shows the version, the drift and who made it', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(outputs[0]).toContain(`${version}\n`);
    expect(outputs.join('\n')).toMatch(/modified .* by user-\w+ \(trueup-owner\), workspace update/);
  });

  it('lists both applies at its end, and leaves nothing behind', () => {
    expect(outputs.at(-2)?.match(/ applied/g)).toHaveLength(2);
    expect(existsSync(join(empty, 'trueup-tutorial'))).toBe(false);
  });
});

/** What npm has in its cache is not fetched again; all else is empty. */
function environment(of: { home: string; prefix: string; source: string }): Record<string, string> {
  const ask = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  return {
    PATH: [join(of.prefix, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: of.home,
    TRUEUP_SOURCE: of.source,
    npm_config_prefix: of.prefix,
    npm_config_cache: ask('cache'),
    npm_config_registry: ask('registry'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
