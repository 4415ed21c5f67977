// Each example with a README, word for word: its commands run in the order of the page, and print what the page shows.
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examples } from './support/cli/example-copy.ts';
import { startListening } from './support/rig/listen.ts';
import { makeFolder, removeFolder } from './support/rig/temporary-folder.ts';
import { outputPattern, homeWithProgram, stepsOf, runAllSteps } from './support/typed-page.ts';

/** The port that the pages show. */
const shownPort = '8230';

const repository = join(examples, '..');
const readmes = readdirSync(examples).filter((name) => {
  const page = join(examples, name, 'README.md');
  // The commands of examples/fleet are in a guide, whose test needs PostgreSQL.
  return existsSync(page) && stepsOf(readFileSync(page, 'utf8')).length > 0;
});

it('five examples have a README', () => {
  expect(readmes.length).toBeGreaterThanOrEqual(5);
});

describe.each(readmes)('examples/%s', (name) => {
  const page = readFileSync(join(examples, name, 'README.md'), 'utf8');
  const steps = stepsOf(page);
  const root = makeFolder();
  let outputs: readonly string[] = [];

  beforeAll(async () => {
    const port = await freePort();
    copyWithPort(name, join(root, 'examples', name), port);
    const typed = steps.map((step) => ({ ...step, commands: step.commands.replaceAll(shownPort, port) }));
    outputs = await runAllSteps(typed, { cwd: root, env: homeWithProgram(root) });
  }, 300_000);

  afterAll(() => removeFolder(root));

  it('shows what most of its commands print', () => {
    expect(steps.filter(({ shown }) => shown.length > 0).length).toBeGreaterThan(steps.length / 2);
  });

  it.each(steps.map((step, index) => ({ ...step, index })))('prints what it shows: $commands', (step) => {
    for (const shown of step.shown) expect(outputs[step.index]).toMatch(outputPattern(shown));
  });
});

describe('the quickstart', () => {
  const root = makeFolder();

  beforeAll(() => {
    for (const path of ['node_modules', 'package.json', 'scripts', 'src'])
      symlinkSync(join(repository, path), join(root, path));
    copyWithPort('quickstart', join(root, 'examples', 'quickstart'), shownPort);
  });

  afterAll(() => removeFolder(root));

  it('ends with three commands to try, which work as shown', async () => {
    const place = { cwd: root, env: homeWithProgram(root) };
    const [story = ''] = await runAllSteps([{ commands: 'npm run quickstart', shown: [] }], place);
    const toTry = story.match(/^npm run .*/gm) ?? [];
    expect(toTry).toHaveLength(3);
    const [, accepted, applied] = await runAllSteps(
      toTry.map((commands) => ({ commands, shown: [] })),
      place,
    );
    expect(readFileSync(join(root, 'examples/quickstart/.trueup/plan.html'), 'utf8')).toContain('</html>');
    expect(accepted).toContain('+  workingDirectory: api-hotfix');
    expect(applied).toContain('1 applied');
  }, 300_000);
});

/** A port that was free a moment ago: another run of these tests may use the one of the pages. */
async function freePort(): Promise<string> {
  const { port, close } = await startListening(createServer());
  await close();
  return String(port);
}

function copyWithPort(name: string, to: string, port: string): void {
  const from = join(examples, name);
  cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== '.trueup' });
  for (const path of readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('trueup.yaml'),
  )) {
    const text = readFileSync(join(to, path), 'utf8');
    writeFileSync(join(to, path), text.replaceAll(`127.0.0.1:${shownPort}`, `127.0.0.1:${port}`));
  }
}
