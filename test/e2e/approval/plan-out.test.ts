/** Where a plan is written: it replaces only an earlier plan, and is never written to a pipe or device. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { first, planFileOf, planInto, twoClones } from '../../support/cli/two-clones.ts';

describe('--out', () => {
  it.each(['plan', 'export'])(
    'of %s to a pipe is refused at once, before anything is read',
    async (command) => {
      const { bench, planning } = await twoClones();
      execFileSync('mkfifo', [planFileOf(planning)]);
      const { err, code } = await trueupProcess([command, '--out', 'plan.json', '--timeout', '3s'], {
        cwd: planning.directory,
        env: secrets,
      });
      expect(code, err).toBe(1);
      expect(err).toMatch(/"plan\.json"(: it is not a regular file| is not a directory)/);
      expect(bench.wire.seen).toEqual([]);
    },
  );

  it.each(['/dev/null', '/dev/full', '.'])('with %s is refused, in JSON, too', async (place) => {
    const { bench, planning } = await twoClones();
    const { out } = await planning.run(['plan', '--format', 'json', '--out', place], 1);
    expect(JSON.parse(out).diagnostics).toMatchObject([
      { message: expect.stringContaining(`the plan cannot be written to "${place}": it is`) },
    ]);
    expect(bench.wire.seen).toEqual([]);
  });

  it('overwrites only a plan file: stack, manifests, ledger and history stay as they are', async () => {
    const { bench, planning } = await twoClones();
    await planning.run(['apply', '--yes'], 0);
    bench.wire.reset();
    const history = '.trueup/payments.history';
    const [entry = ''] = await readdir(join(planning.directory, history));
    const ledger = '.trueup/payments.ledger.json';
    for (const file of ['trueup.yaml', 'manifests/all.yaml', ledger, join(history, entry)]) {
      const before = await readFile(join(planning.directory, file), 'utf8');
      const { err } = await planning.run(['plan', '--out', file], 1);
      expect(err).toContain(`error: the plan is not written over "${file}", which is not a plan file`);
      expect(await readFile(join(planning.directory, file), 'utf8')).toBe(before);
    }
    expect(bench.wire.seen).toEqual([]);
  });

  it('refuses new files in the folders of trueup and of the manifests', async () => {
    const { bench, planning } = await twoClones();
    const places = {
      '.trueup/payments.ledger.json': 'keeps its own files',
      '.trueup/payments.history/plan.json': 'keeps its own files',
      '.trueup/embedded.db': 'keeps its own files',
      'manifests/plan.yaml': 'read it as a manifest',
    };
    for (const [place, why] of Object.entries(places)) {
      const { err } = await planning.run(['plan', '--out', place], 1);
      expect(err).toMatch(new RegExp(`error: the plan cannot be written to "${place}": .*${why}`));
    }
    expect(await readdir(join(planning.directory, 'manifests'))).toEqual(['all.yaml']);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('overwrites an earlier plan, and an empty file', async () => {
    const { planning } = await twoClones();
    await writeFile(planFileOf(planning), '');
    const before = await planInto(planning);
    await planning.declare(first);
    expect((await planInto(planning)).digest).not.toBe(before.digest);
  });
});

describe('export --out', () => {
  it.each([
    ['the file', 'manifests/acme/workspace/app.yaml', 'manifests/acme/workspace', false],
    ['a file that is not there yet', 'manifests/acme/workspace/app.yaml', 'manifests/acme/workspace', true],
    ['a folder below it', 'manifests/acme', 'manifests', false],
    ['the folder itself', 'manifests', '.', false],
  ])('does not follow a link in the place of %s, even with --force', async (_, link, folder, isDangling) => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { manifests: ['none/*.yaml'] } });
    await bench.byHand.created({ name: 'app' });
    const outside = temporaryFolder();
    const isFile = link.endsWith('.yaml');
    const victim = join(outside, isFile ? 'victim' : 'there');
    if (!isDangling) await (isFile ? writeFile(victim, 'untouched') : mkdir(victim));
    await mkdir(join(stack.directory, folder), { recursive: true });
    await symlink(victim, join(stack.directory, link));
    const before = await readdir(outside, { recursive: true });
    for (const more of [[], ['--force']]) {
      const { err } = await stack.run(['export', '--out', 'manifests', ...more], 1);
      expect(err).toContain('leads over a symbolic link, which an export does not follow');
    }
    expect(await readdir(outside, { recursive: true })).toEqual(before);
    if (isFile && !isDangling) expect(await readFile(victim, 'utf8')).toBe('untouched');
  });

  it('does not follow a link in the place of a folder whose name begins with two dots', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { manifests: ['none/*.yaml'] } });
    await bench.byHand.created({ name: 'app' });
    const outside = temporaryFolder();
    await symlink(outside, join(stack.directory, '..z'));
    const { err } = await stack.run(['export', '--out', '..z/out'], 1);
    expect(err).toContain('leads over a symbolic link, which an export does not follow');
    expect(await readdir(outside)).toEqual([]);
  });
});
