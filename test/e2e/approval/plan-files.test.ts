/** Apply does what was approved: plans kept in files, shown, compared and applied. */
import { createHash } from 'node:crypto';
import { copyFile, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { first, planFileOf, planInto, second, setByHand, twoClones } from '../../support/cli/two-clones.ts';

/** Edits a plan file without a new checksum. */
async function edit(stack: Checkout, change: (plan: PlanJson) => object): Promise<void> {
  const plan: PlanJson = JSON.parse(await readFile(planFileOf(stack), 'utf8'));
  await writeFile(planFileOf(stack), JSON.stringify({ ...plan, ...change(plan) }));
}

/** Edits a plan file, with a correct checksum. */
async function forge(stack: Checkout, change: (plan: PlanJson) => object): Promise<void> {
  await edit(stack, (plan) => {
    const { checksum: _, ...rest } = { ...plan, ...change(plan) };
    const sorted = (_key: string, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value;
    const checksum = createHash('sha256').update(JSON.stringify(rest, sorted)).digest('hex');
    return { ...rest, checksum };
  });
}

describe('plan --out', () => {
  it('writes the plan as JSON, readable only by its owner, and writes to no service', async () => {
    const { bench, planning } = await twoClones();
    const { out, err } = await planning.run(['plan', '--out', 'plan.json'], 0);
    const text = await readFile(planFileOf(planning), 'utf8');
    const { digest } = JSON.parse(text);
    expect(out).toContain(`digest ${digest}`);
    expect(err).toContain('"trueup apply plan.json"');
    expect((await stat(planFileOf(planning))).mode & 0o777).toBe(0o600);
    const printed = await planning.run(['plan', '--format', 'json', '--out', 'deep/other.json'], 0);
    expect(await readFile(join(planning.directory, 'deep/other.json'), 'utf8')).toBe(printed.out);
    const { made: _, checksum: __, ...same } = JSON.parse(text);
    expect(JSON.parse(printed.out)).toMatchObject(same);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('writes through a symbolic link, and leaves no other file behind', async () => {
    const { planning } = await twoClones();
    await writeFile(join(planning.directory, 'real.json'), '');
    await symlink('real.json', planFileOf(planning));
    await planInto(planning);
    expect((await lstat(planFileOf(planning))).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(join(planning.directory, 'real.json'), 'utf8')).version).toBe(2);
  });

  it('with "-" is refused before anything is read, and writes no file of that name', async () => {
    const { bench, planning } = await twoClones();
    const requestsBefore = bench.wire.seen.length;
    const { out, err } = await planning.run(['plan', '--out', '-'], 1);
    expect(out).toBe('');
    expect(err).toContain('error: "--out -" names no file');
    expect(bench.wire.seen.length).toBe(requestsBefore);
    expect(await readdir(planning.directory)).not.toContain('-');
  });

  it('after an incomplete read names the missing target, and says when apply will use the file', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    bench.wire.add({ method: 'LIST', path: /./, times: 100, fault: { answer: 403 } });
    const { err } = await stack.run(['plan', '--out', 'plan.json'], 1);
    expect(err).toContain(
      'the plan was written to "plan.json" without target "prod", which was not read: "trueup apply plan.json" writes nothing until all targets can be read, and then only if the plan is still the same',
    );
    expect(err).not.toContain('applies this and nothing else');
    await stack.run(['apply', 'plan.json'], 1);
    bench.wire.reset();
    await stack.run(['apply', 'plan.json'], 4);
    expect(bench.written()).toEqual([]);
    await stack.declare(workspace('app'));
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
  });

  it('with problems says that they must be solved first', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await bench.byHand.created({ name: 'app' });
    await stack.declare(workspace('app'));
    const { err } = await stack.run(['plan', '--out', 'plan.json'], 9);
    expect(err).toContain(
      'the plan was written to "plan.json", with its problems: "trueup apply plan.json" writes nothing until they are solved, and then only if the plan is still the same',
    );
    await stack.run(['apply', 'plan.json'], 9);
    expect(bench.written()).toEqual([]);
  });

  it('writes no secret into the file', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }), first);
    await planInto(stack);
    const text = await readFile(planFileOf(stack), 'utf8');
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    await stack.run(['apply', 'plan.json'], 0);
  });
});

describe('apply plan.json', () => {
  it('applies in one clone what was planned in another, without asking', async () => {
    const { bench, planning, applying } = await twoClones();
    const { digest } = await planInto(planning);
    const { out } = await applying.run(['apply', planFileOf(planning)], 0);
    expect(out).toContain(digest);
    expect(out).toContain('Planned again: nothing is left to do');
    expect(bench.written()).toEqual([
      'POST /api/v2/organizations/acme/workspaces',
      'POST /api/v2/organizations/acme/workspaces',
    ]);
    expect(await applying.ledger()).not.toHaveProperty('approved');
  });

  it('a second time finds nothing left to do, and writes nothing', async () => {
    const { bench, planning, applying } = await twoClones();
    await planInto(planning);
    await applying.run(['apply', planFileOf(planning)], 0);
    bench.wire.reset();
    const { out } = await applying.run(['apply', planFileOf(planning)], 0);
    expect(out).toMatch(/The approval of the plan "\w+" ended at \S+; nothing is left to do/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('applies the rest when some of it is done already', async () => {
    const { bench, planning } = await twoClones();
    await planning.run(['apply', '--yes'], 0);
    await planning.declare(workspace('first', { autoApply: false, description: 'two' }), second);
    await planInto(planning);
    await setByHand(bench, 'first', { description: 'two' });
    bench.wire.reset();
    const { out } = await planning.run(['apply', 'plan.json'], 0);
    expect(out).toContain('Of 1 approved change, 0 are done already; 1 is left to apply');
    const [write, ...more] = bench.wire.writes();
    expect(more).toEqual([]);
    expect(JSON.parse(write?.text ?? '').data.attributes).toMatchObject({ 'auto-apply': false });
    expect(JSON.parse(write?.text ?? '').data.attributes).not.toHaveProperty('description');
  });

  it('stops when a live value differs from the approved one, and shows how the plans differ', async () => {
    const { bench, planning } = await twoClones();
    await planning.run(['apply', '--yes'], 0);
    await planning.declare(workspace('first', { autoApply: true, description: 'two' }), second);
    await planInto(planning);
    await setByHand(bench, 'first', { description: 'three' });
    bench.wire.reset();
    const { out, err } = await planning.run(['apply', 'plan.json'], 4);
    expect(out).toMatch(/In both, and different\n {2}~ update +Workspace\/acme\/first\n {6}description\n/);
    expect(out).toMatch(/approved +one -> two\n +now +three -> two/);
    expect(err).toContain('nothing was written: the plan is not the one that was approved');
    const json = await planning.run(['apply', 'plan.json', '--format', 'json'], 4);
    expect(JSON.parse(json.out)).toMatchObject({
      same: false,
      changes: [{ address: 'Workspace/acme/first', fields: [{ path: '/description' }] }],
    });
    expect(bench.wire.writes()).toEqual([]);
  });

  it('stops when the manifests declare more, or less, than was approved', async () => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await planning.declare(first, second, workspace('third'));
    const more = await planning.run(['apply', 'plan.json'], 4);
    expect(more.out).toMatch(/Only in now\n {2}\+ create +Workspace\/acme\/third/);
    await planning.declare(first);
    const less = await planning.run(['apply', 'plan.json'], 4);
    expect(less.out).toMatch(/Only in approved\n {2}\+ create +Workspace\/acme\/second/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('uses the stack in the current folder, or the one that is named beside the file, in either order', async () => {
    const { planning, applying } = await twoClones();
    await planInto(planning);
    const elsewhere = await (await openBench()).checkout({ name: 'elsewhere' });
    for (const paths of [
      [planFileOf(planning), applying.directory],
      [applying.directory, planFileOf(planning)],
    ]) {
      await elsewhere.run(['apply', ...paths], 0);
    }
    const two = await elsewhere.run(['apply', applying.directory, planning.directory], 1);
    expect(two.err).toContain('apply takes one stack');
    const twice = await elsewhere.run(['apply', planFileOf(planning), planFileOf(planning)], 1);
    expect(twice.err).toContain('trueup diff');
  });

  it('shows problems of the fresh plan before anything else', async () => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'first' } },
    });
    bench.wire.reset();
    expect((await planning.run(['apply', 'plan.json'], 9)).out).toContain('without an ownership tag');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('a plan file that is not for this stack, or not as it was written', () => {
  async function expectRefused(stack: Checkout, codes: readonly [number, number], message: string) {
    const [applied, shown] = codes;
    expect((await stack.run(['apply', 'plan.json'], applied)).err).toContain(message);
    for (const args of [
      ['show', 'plan.json'],
      ['diff', 'plan.json', 'plan.json'],
    ])
      expect((await stack.run(args, shown)).err).toContain(message);
  }

  it.each<[string, (plan: PlanJson) => object, number, string]>([
    ['a later version', () => ({ version: 3 }), 4, 'has version 3, and this trueup reads version 2'],
    ['an earlier version', () => ({ version: 1 }), 4, 'plan again, and approve again'],
    ['no digest at all', () => ({ digest: undefined }), 1, 'is not a plan: it is JSON, but no plan'],
    [
      'no checksum',
      () => ({ checksum: undefined }),
      4,
      'it has no checksum, so it was edited, or an earlier',
    ],
    ['an invalid change', () => ({ changes: [{}] }), 4, 'is not as trueup wrote it'],
  ])('because of %s is refused before anything is read', async (_, change, code, message) => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await edit(planning, change);
    bench.wire.reset();
    await expectRefused(planning, [code, 1], message);
    expect(bench.wire.seen).toEqual([]);
  });

  it.each<[string, (plan: PlanJson) => object]>([
    ['the reason of a change', ofChanges({ reason: 'because' })],
    ['the risks of a change', ofChanges({ risks: [] })],
    ['the calls of a change', ofChanges({ calls: [] })],
    ['the place of a change', ofChanges({ place: { file: 'other.yaml', line: 1, column: 1 } })],
    ['the notes of a change', ofChanges({ notes: ['nothing to see here'] })],
    ['a patch', ofChanges({ patch: [] })],
    ['the guards', () => ({ acknowledge: ['recreate'] })],
    ['the summary', ({ summary }) => ({ summary: { ...summary, create: 0 } })],
    ['the coverage', ({ coverage }) => ({ coverage: { ...coverage, complete: false } })],
    ['a member that no trueup writes', () => ({ approvedBy: 'ann' })],
    ['the checksum itself', () => ({ checksum: '0'.repeat(64) })],
  ])('because of an edit of %s is refused, even if its meaning is the same', async (_, change) => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await edit(planning, change);
    bench.wire.reset();
    await expectRefused(planning, [4, 1], 'the plan "plan.json" is not as trueup wrote it: ');
    expect(bench.wire.seen).toEqual([]);
  });

  it.each<[string, (plan: PlanJson) => object]>([
    ['a field that was changed', withAfter('three')],
    ['a change that was taken out', ({ changes }) => ({ changes: changes.slice(1) })],
    ['another stack', () => ({ stack: 'billing' })],
    ['another digest', () => ({ digest: '0'.repeat(32) })],
  ])('because of %s is refused even if its checksum is right', async (_, change) => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await forge(planning, change);
    bench.wire.reset();
    await expectRefused(planning, [4, 1], 'is not as trueup wrote it: its digest');
    expect(bench.wire.seen).toEqual([]);
  });

  it('is accepted if only its layout differs, or if it has additions of a newer trueup', async () => {
    const { bench, planning } = await twoClones();
    await planInto(planning);
    await edit(planning, ({ version, ...rest }) => ({ ...rest, version }));
    await planning.run(['show', 'plan.json'], 0);
    await forge(planning, ofChanges({ added: 'by a newer trueup' }));
    await planning.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toHaveLength(2);
  });

  it('can also be one that "plan --format json" printed', async () => {
    const { planning } = await twoClones();
    await writeFile(planFileOf(planning), (await planning.run(['plan', '--format', 'json'], 0)).out);
    await planning.run(['apply', 'plan.json'], 0);
  });

  it('because it is truncated, empty or missing is an error that says so', async () => {
    const { planning } = await twoClones();
    await planInto(planning);
    await writeFile(planFileOf(planning), (await readFile(planFileOf(planning), 'utf8')).slice(0, 500));
    expect((await planning.run(['apply', 'plan.json'], 1)).err).toContain(
      '"plan.json" is not a plan: it is not JSON',
    );
    await writeFile(planFileOf(planning), '');
    expect((await planning.run(['apply', 'plan.json'], 1)).err).toContain('is not a plan');
    expect((await planning.run(['apply', 'gone.json'], 1)).err).toContain('"gone.json"');
    expect((await planning.run(['show', 'gone.json'], 1)).err).toContain('there is no such file');
  });

  it('because it is another file is reported without a proposal to overwrite it', async () => {
    const { planning } = await twoClones();
    const { err: directory } = await planning.run(['show', 'manifests'], 1);
    expect(directory).toContain('the plan "manifests" cannot be read: it is a directory');
    const { err: device } = await planning.run(['show', '/dev/null'], 1);
    expect(device).toContain('the plan "/dev/null" cannot be read: it is not a regular file');
    const { err } = await planning.run(['show', 'trueup.yaml'], 1);
    expect(err).toContain('"trueup.yaml" is not a plan: it is');
    expect(err).toContain('; make one with "trueup plan --out plan.json"');
  });

  it('because of another stack, organization, mount or URL is refused, and both addresses are shown', async () => {
    const bench = await openBench({ mounts: ['cluster', 'other'] });
    const planning = await bench.checkout();
    await planning.declare(first, role('web'));
    await planInto(planning);
    for (const [about, shown] of [
      [{ name: 'billing' }, 'made for another stack'],
      [{ workspaces: { organization: 'other' } }, 'workspaces other at'],
      [{ workspaces: { url: 'http://127.0.0.1:9' } }, 'at http://127.0.0.1:9'],
      [{ clusterAuth: { mount: 'other' } }, 'cluster-auth auth/other at'],
    ] as const) {
      const other = await bench.checkout(about);
      await other.declare(first, role('web'));
      bench.wire.reset();
      const { out, err } = await other.run(['apply', planFileOf(planning)], 4);
      expect(out + err).toContain(shown);
      expect(err).toContain('nothing was written');
      expect(bench.wire.seen).toEqual([]);
    }
  });
});

describe('a change that the service will refuse', () => {
  it('is a note in a plan, and an apply with that token is refused', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(first, second);
    const reader = await stack.reconfigure({ workspaces: { token: { env: 'READ_API_TOKEN' } } });
    const wanted = [workspace('first', { autoApply: false, description: 'one' }), second, role('web')];
    await reader.declare(...wanted);
    const plan = await planInto(reader);
    expect(JSON.stringify(plan)).toContain("this plan's token cannot write; apply needs one that can");
    for (const args of [['--yes'], ['plan.json'], ['--approve', plan.digest]]) {
      const { out, err } = await reader.run(['apply', ...args], 1);
      expect(out).toContain('this token lacks "can-update", needed for: update');
      expect(err).toContain('nothing was written');
    }
    expect(bench.wire.writes()).toEqual([]);
    // A token that may write applies that very plan.
    const writer = await reader.reconfigure({ workspaces: {} });
    await writer.run(['apply', planFileOf(reader)], 0);
  });
});

describe('show', () => {
  it('prints a plan as it was printed before, as text and JSON, and with --calls', async () => {
    const { bench, planning } = await twoClones();
    const bare = (text: string) => text.replace(/\nThe plan was made \S+Z( from commit [0-9a-f]+)?\n$/, '');
    for (const flags of [[], ['--format', 'json']]) {
      const { out } = await planning.run(['plan', '--out', 'plan.json', ...flags], 0);
      bench.wire.reset();
      expect(bare((await planning.run(['show', 'plan.json', ...flags], 0)).out)).toBe(out);
      expect(bench.wire.seen).toEqual([]);
    }
    const { out } = await planning.run(['plan', '--calls'], 0);
    // In the file the members of a body are sorted by name.
    const lines = (text: string) => text.replaceAll(/,$/gm, '').split('\n').sort();
    expect(lines(bare((await planning.run(['show', 'plan.json', '--calls'], 0)).out))).toEqual(lines(out));
  });
});

describe('diff', () => {
  it('says that two plans have the same meaning, and exits with 0', async () => {
    const { planning, applying } = await twoClones();
    const { digest } = await planInto(planning);
    await planInto(applying);
    const { out } = await planning.run(['diff', 'plan.json', planFileOf(applying)], 0);
    expect(out).toBe(`The two plans mean the same: digest ${digest}\n`);
  });

  it('shows changes of only one of them, and changes that differ, and exits with 2', async () => {
    const { planning } = await twoClones();
    const one = await planInto(planning);
    await copyFile(planFileOf(planning), join(planning.directory, 'one.json'));
    await planning.declare(workspace('first', { autoApply: true, description: 'two' }), role('web'));
    const other = await planInto(planning);
    const { out } = await planning.run(['diff', 'one.json', 'plan.json'], 2);
    expect(out).toMatch(/Only in one.json\n {2}\+ create +Workspace\/acme\/second\n/);
    expect(out).toMatch(/Only in plan.json\n {2}\+ create +ClusterAuthRole\/prod\/web\n/);
    expect(out).toMatch(/In both, and different\n {2}\+ create +Workspace\/acme\/first\n {6}description\n/);
    expect(out).toMatch(/one.json +\+ one\n +plan.json +\+ two\n/);
    expect(out).toContain(`The two plans differ: digests ${one.digest} and ${other.digest}`);
    const json = await planning.run(['diff', 'one.json', 'plan.json', '--format', 'json'], 2);
    expect(JSON.parse(json.out)).toMatchObject({
      version: 1,
      same: false,
      one: { name: 'one.json', digest: one.digest },
      changes: expect.arrayContaining([
        expect.objectContaining({
          address: 'Workspace/acme/first',
          fields: [
            {
              path: '/description',
              one: expect.objectContaining({ after: 'one' }),
              other: expect.objectContaining({ after: 'two' }),
            },
          ],
        }),
      ]),
    });
  });
});

describe('apply without a terminal', () => {
  it('names the options and files that replace an answer', async () => {
    const { planning } = await twoClones();
    const { err } = await planning.run(['apply'], 1);
    for (const way of ['--yes', '--approve', 'plan file']) expect(err).toContain(way);
  });
});

function ofChanges(about: object) {
  return ({ changes }: PlanJson) => ({ changes: changes.map((change) => ({ ...change, ...about })) });
}

function withAfter(after: string) {
  return ({ changes }: PlanJson) => ({
    changes: changes.map((change) => ({
      ...change,
      fields: change.fields.map((field) => (field.path === '/description' ? { ...field, after } : field)),
      patch: change.patch.map((one) => (one.path === '/description' ? { ...one, value: after } : one)),
    })),
  });
}
