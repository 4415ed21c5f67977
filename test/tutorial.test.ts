// docs/tutorial.md word for word: its commands run in an empty directory and an empty home, with the command that `npm pack` and a global
// installation give, and print what the page shows.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packInto, userEnvironment } from './support/packed-package.ts';
import { makeFolder, removeFolder } from './support/rig/temporary-folder.ts';
import { outputPattern, stepsOf, runAllSteps } from './support/typed-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const steps = stepsOf(readFileSync(join(root, 'docs', 'tutorial.md'), 'utf8'));

describe('the tutorial', () => {
  const [home, prefix, empty] = [makeFolder(), makeFolder(), makeFolder()];
  let outputs: readonly string[] = [];

  beforeAll(async () => {
    const { tarball } = await packInto(home);
    const env = { ...userEnvironment({ home, prefix, node: process.execPath }), TRUEUP_SOURCE: tarball };
    outputs = await runAllSteps(steps, { cwd: empty, env });
  }, 300_000);

  afterAll(() => [home, prefix, empty].forEach(removeFolder));

  it.each(steps.map((step, index) => ({ ...step, index })))('prints what it shows: $commands', (step) => {
    for (const shown of step.shown) expect(outputs[step.index]).toMatch(outputPattern(shown));
  });

  it('shows the version, the drift and the user who changed the resource', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(outputs[0]).toContain(`${version}\n`);
    expect(outputs.join('\n')).toMatch(/modified .* by user-\w+ \(trueup-owner\), workspace update/);
  });

  it('lists both applies at its end, and removes its folder', () => {
    expect(outputs.at(-2)?.match(/ applied/g)).toHaveLength(2);
    expect(existsSync(join(empty, 'trueup-tutorial'))).toBe(false);
  });
});
