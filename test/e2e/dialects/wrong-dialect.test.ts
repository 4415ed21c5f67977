/** A target of workspaces with another dialect than its service: every command that reads the service says so, and writes nothing. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');

describe.each([
  ['neutral', 'hcp-terraform', 'terraform-version'],
  ['hcp-terraform', 'neutral', 'engine-version'],
] as const)('A stack in the dialect %s whose service speaks %s', (dialect, spoken, name) => {
  async function openWrong() {
    const bench = await openBench({
      dialects: [spoken],
      organization: { workspaces: [{ name: 'app' }] },
    });
    const stack = await bench.checkout({ workspaces: { dialect } });
    await stack.declare(workspace('app', { engineVersion: '1.9.8' }), workspace('new'));
    return { bench, stack };
  }
  const sentence = `has the dialect "${dialect}", and the service speaks "${spoken}": a workspace has "${name}"`;

  it.each([
    ['plan', 7],
    ['drift', 7],
    ['apply --yes', 7],
    ['export', 7],
    ['recover --yes', 1],
    ['doctor', 1],
  ] as const)('is refused by %s, with the line to write', async (command, code) => {
    const { bench, stack } = await openWrong();
    const { out, err } = await stack.run(command.split(' '), code);
    expect(flat(out + err)).toContain(sentence);
    if (command !== 'recover --yes')
      expect(flat(out + err)).toContain(`write "dialect: ${spoken}" into the target`);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('sends no more requests than a stack with the right dialect', async () => {
    const { bench, stack } = await openWrong();
    await stack.run(['plan'], 7);
    const asked = bench.wire.seen.map(({ path }) => path);
    const right = await stack.reconfigure({ workspaces: { dialect: spoken } });
    await right.run(['plan'], 9);
    expect(bench.wire.seen.map(({ path }) => path)).toEqual([...asked, ...asked]);
  });
});

describe('In an organization without workspaces,', () => {
  it('a header of another dialect gives a warning before the first write', async () => {
    const bench = await openBench({ dialects: ['hcp-terraform'] });
    const stack = await bench.checkout({ workspaces: { dialect: 'neutral' } });
    await stack.declare(workspace('new'));
    const { out, err } = await stack.run(['plan'], 0);
    const sentence =
      'the service seems to speak "hcp-terraform": its answers have the header "tfp-api-version"';
    expect(flat(out + err)).toContain(sentence);
    expect(flat((await stack.run(['doctor'], 0)).out)).toContain(sentence);
  });

  it('a plan warns if nothing confirms the dialect, and an apply fails if the first workspace has another one', async () => {
    const bench = await openBench({ dialects: ['neutral'] });
    const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
    await stack.declare(workspace('new'));
    const planned = await stack.run(['plan'], 0);
    expect(flat(planned.out + planned.err)).toContain('nothing confirms it');
    const doctor = await stack.run(['doctor'], 0);
    expect(flat(doctor.out)).toContain('nothing confirms it');
    const { out, err } = await stack.run(['apply', '--yes'], 6);
    expect(flat(out + err)).toContain('the service speaks "neutral": a workspace has "engine-version"');
  });

  it.each(['neutral', 'hcp-terraform'])('the right dialect (%s) gives no warning', async (dialect) => {
    const bench = await openBench({ dialects: [dialect] });
    const stack = await bench.checkout({ workspaces: { dialect } });
    await stack.declare(workspace('new'));
    const { out, err } = await stack.run(['plan'], 0);
    expect(out + err).not.toMatch(/dialect-|speaks/);
    expect(bench.wire.seen.some(({ path }) => path.endsWith('/ping'))).toBe(false);
  });
});
