/** Large stacks work. How fast they are is measured in `bench/`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constructFromEvents, parseEvents } from 'js-yaml';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type CountedStack,
  names,
  openCountedStack,
  owned,
  role,
  workspace,
} from '../support/scale/counted-stack.ts';

vi.mock('js-yaml', async (original) => {
  const yaml = await original<typeof import('js-yaml')>();
  return {
    ...yaml,
    parseEvents: vi.fn(yaml.parseEvents),
    constructFromEvents: vi.fn(yaml.constructFromEvents),
  };
});

let stack: CountedStack;
afterEach(async () => {
  await stack.close();
  vi.clearAllMocks();
});

/** Lengths of the texts that were parsed as YAML, without the small stack file. */
function parsedLengths(): number[] {
  return vi.mocked(parseEvents).mock.calls.flatMap(([{ length }]) => (length > 10_000 ? [length] : []));
}

describe('Ten thousand documents in one file', () => {
  it('are valid, and the file is parsed once, and once more for the places of warnings', async () => {
    stack = await openCountedStack();
    await stack.declare([
      ...names('ws', 4000).map((name, index) => workspace(name, { tags: { number: `${index}` } })),
      ...names('ring', 3000).map((name, index, ring) =>
        workspace(name, { remoteStateConsumers: [ring[(index + 1) % ring.length]] }),
      ),
      ...names('role', 3000).map((name) => role(name)),
    ]);

    const { code, out } = await stack.run('validate');

    expect(code).toBe(0);
    expect(out).toContain('1 file, 10000 documents, 17000 resources');
    const { length } = await readFile(join(stack.directory, 'manifests.yaml'), 'utf8');
    expect(parsedLengths()).toEqual([length, length]);
    expect(constructFromEvents).toHaveBeenCalledTimes(2);
  });

  it('are all read if one of them is wrong, and only that one is reported', async () => {
    stack = await openCountedStack();
    const wrong = { ...workspace('wrong'), spec: { autoAply: true } };
    await stack.declare([...names('ws', 9999).map((name) => workspace(name)), wrong]);

    const { code, err } = await stack.run('validate');

    expect(code).toBe(7);
    expect(err).toMatch(/manifests\.yaml:20000:\d+/);
    expect(err).toContain('did you mean "autoApply"?');
    expect(err).toContain('1 error');
    expect(parsedLengths()).toHaveLength(2);
  });
});

describe('A hundred and thirty thousand mistakes', () => {
  it('are all reported', { timeout: 240_000 }, async () => {
    stack = await openCountedStack();
    await stack.declare([]);
    await writeFile(join(stack.directory, 'manifests.yaml'), '---\nkind: Toy\n'.repeat(65_000));

    const { code, err } = await stack.run('validate');

    expect(code).toBe(7);
    expect(err.trimEnd().split('\n').at(-1)).toBe('130000 errors in 1 file');
  });
});

describe('Two thousand workspaces', () => {
  it('are planned and created, and then a plan is empty', { timeout: 240_000 }, async () => {
    stack = await openCountedStack();
    const all = names('ws', 2000);
    await stack.declare(all.map((name) => workspace(name, { tags: { env: 'prod' } })));

    expect((await stack.run('plan', '--exit-code')).code).toBe(2);
    const applied = await stack.run('apply', '--yes');

    expect(applied.code, applied.err).toBe(0);
    expect(applied.requests['POST /organizations/:organization_name/workspaces']).toBe(2000);
    expect((await stack.run('plan', '--exit-code')).code).toBe(0);
  });

  it('are deleted after they are no longer declared', { timeout: 240_000 }, async () => {
    const all = names('ws', 2000);
    stack = await openCountedStack({ organization: { workspaces: all.map(owned) } });
    await stack.declare(all.map((name) => workspace(name)));
    expect((await stack.run('apply', '--yes')).code).toBe(0);
    await stack.declare(all.slice(0, 1000).map((name) => workspace(name)));

    const applied = await stack.run('apply', '--yes');

    expect(applied.code, applied.err).toBe(0);
    expect(applied.requests['POST /workspaces/:workspace_id/actions/safe-delete']).toBe(1000);
    expect((await stack.run('plan', '--exit-code')).code).toBe(0);
  });
});
