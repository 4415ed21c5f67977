// The history: what was applied, by whom, and how to revert it.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../src/model/ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { startTrueup } from '../../support/cli/process.ts';

interface Listed {
  readonly entries: readonly (HistoryEntry & { readonly summary: Record<string, number> })[];
}

async function list(stack: Checkout): Promise<Listed['entries']> {
  const { out } = await stack.run(['history', '--format', 'json'], 0);
  return (JSON.parse(out) as Listed).entries;
}

async function newest(stack: Checkout): Promise<string> {
  return (await list(stack))[0]?.id ?? '';
}

async function show(stack: Checkout): Promise<HistoryEntry> {
  const { out } = await stack.run(['history', 'show', await newest(stack), '--format', 'json'], 0);
  return JSON.parse(out) as HistoryEntry;
}

async function revert(stack: Checkout): Promise<string> {
  return (await stack.run(['history', 'show', await newest(stack), '--revert'], 0)).out;
}

describe('trueup history', () => {
  it('is empty before the first apply, and a plan adds nothing', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    await stack.run(['plan'], 0);
    expect((await stack.run(['history'], 0)).out).toBe('Nothing was applied yet\n');
  });

  it('lists each apply, newest first, with who, when, and its outcome', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }), workspace('web'));
    bench.wire.add({ method: 'POST', path: /workspaces/, times: 9, fault: { answer: 422 } });
    const env = { ...secrets, GITHUB_ACTOR: 'ann', GITHUB_RUN_ID: '771', GITHUB_REPOSITORY: 'acme/infra' };
    expect(await trueup(['apply', '--yes'], { cwd: stack.directory, env })).toMatchObject({ code: 6 });
    const [last, first] = await list(stack);
    expect(last).toMatchObject({
      run: { who: 'ann', id: 'github/acme/infra/771' },
      summary: { changes: 2, applied: 1, failed: 1 },
    });
    expect(first).toMatchObject({ summary: { changes: 1, applied: 1 } });
    const lines = (await stack.run(['history'], 0)).out.split('\n');
    expect(lines[0]).toMatch(/^id +began +who +outcome +commit$/);
    expect(lines[1]).toMatch(new RegExp(`^${last?.id}  \\S+Z +ann +1 applied, 1 failed`));
    expect(lines[2]).toContain('1 applied');
    expect((await stack.run(['history', '--limit', '1'], 0)).out.trim().split('\n')).toHaveLength(2);
  });

  it('lists an apply first that came after one on a machine whose clock was a year ahead', async () => {
    const stack = await (await openBench()).checkout();
    const year = 366 * 24 * 3_600_000;
    const begins = [Date.now() + year, Date.now(), Date.now() + 1000, Date.now() + year + 60_000];
    for (const [index, began] of begins.entries()) {
      await stack.declare(workspace('app', { description: `${index}` }));
      const ended = await trueup(['apply', '--yes'], {
        ...{ cwd: stack.directory, env: secrets, now: () => began },
      });
      expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    }
    const entries = (await list(stack)).toReversed();
    expect(entries.map(({ began }) => Date.parse(began))).toEqual(begins);
    const inId = (time = 0) => new Date(time).toISOString().replace(/[-:.]/g, '');
    const [first, , , last] = begins.map(inId);
    expect(entries.map(({ id }) => id.replace(/-[0-9a-f]{4}$/, ''))).toEqual([
      ...[first, inId((begins[0] ?? 0) + 1), inId((begins[0] ?? 0) + 2), last],
    ]);
    expect((await stack.run(['history', 'show', 'latest'], 0)).out).toContain('"3"');
  });

  it('has no entry of an apply that had nothing to do, or that was refused', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply'], 1);
    expect(await list(stack)).toHaveLength(1);
  });

  it('reports the commit, and whether there were uncommitted changes', async () => {
    const stack = await (await openBench()).checkout();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: stack.directory,
        encoding: 'utf8',
      }).trim();
    git('init', '--quiet');
    await stack.declare(workspace('app'));
    git('add', '.');
    git('commit', '--quiet', '-m', 'x');
    await stack.run(['apply', '--yes'], 0);
    const head = git('rev-parse', 'HEAD');
    expect(await show(stack)).toMatchObject({ commit: head, dirty: false });
    await stack.declare(workspace('app', { autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(await show(stack)).toMatchObject({ commit: head, dirty: true });
    expect((await stack.run(['history'], 0)).out).toContain(`${head.slice(0, 12)} with uncommitted changes`);
  });
});

describe('trueup history show', () => {
  it('reports each change with its values before and after', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app', { description: 'old' }));
    await stack.declare(workspace('app', { description: 'new' }));
    const { digest } = await stack.plan();
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['history', 'show', await newest(stack)], 0);
    for (const part of [digest, 'Workspace/acme/app', 'description', 'old', 'new', 'applied'])
      expect(out).toContain(part);
    expect(await show(stack)).toMatchObject({
      digest,
      changes: [
        {
          address: 'Workspace/acme/app',
          action: 'update',
          outcome: 'applied',
          fields: [{ path: ['description'], before: 'old', after: 'new' }],
        },
      ],
    });
  });

  it('accepts its options in any position', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    const id = await newest(stack);
    for (const args of [
      ['--format', 'json', 'show', id],
      ['show', '--format', 'json', id, '.'],
    ])
      expect(JSON.parse((await stack.run(['history', ...args], 0)).out)).toMatchObject({ id });
  });

  it('says when there is no such apply', async () => {
    const stack = await (await openBench()).checkout();
    const { err } = await stack.run(['history', 'show', '../../etc/passwd'], 1);
    expect(err).toContain('has no apply "../../etc/passwd"');
  });

  it('accepts "latest", and a unique part of an id', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app', { description: 'old' }));
    const first = await newest(stack);
    await stack.declare(workspace('app', { description: 'new' }));
    await stack.run(['apply', '--yes'], 0);
    const last = await newest(stack);
    const shown = async (name: string) =>
      JSON.parse((await stack.run(['history', 'show', name, '--format', 'json'], 0)).out).id;
    expect(await shown('latest')).toBe(last);
    for (const id of [first, last]) {
      expect(await shown(id.slice(0, -1))).toBe(id);
      expect(await shown(id.slice(-4))).toBe(id);
    }
    const several = await stack.run(['history', 'show', first.slice(0, 4)], 1);
    expect(several.err).toContain(`has 2 applies "${first.slice(0, 4)}": "${last}", "${first}"`);
    expect((await stack.run(['history', 'show', ''], 1)).err).toContain('has no apply ""');
  });

  it('says what to type if a path is in the place of the id', async () => {
    const stack = await (await openBench()).checkout();
    for (const path of ['.', 'trueup.yaml', '../somewhere/stack.yaml'])
      expect((await stack.run(['history', 'show', path], 1)).err).toContain(
        `"${path}" is the path of a stack: name the apply before it, such as "trueup history show latest ${path}"`,
      );
  });

  it('says before the first apply that there is no "latest"', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    expect((await stack.run(['history', 'show', 'latest'], 1)).err).toContain('nothing was applied yet');
  });

  it('shows an apply that was killed, and that its outcome is unknown', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    let applying = startTrueup(['--version'], { cwd: stack.directory });
    const kill = async () => {
      applying.kill('SIGKILL');
      await applying.ended;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: kill } });
    applying = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
    await applying.ended;
    expect((await stack.run(['history'], 0)).out).toContain(
      'did not end (of 1 change, any may have been made)',
    );
    expect(await show(stack)).not.toHaveProperty('ended');
    expect(await revert(stack)).toContain('# Workspace/acme/app: was created, perhaps: check it before');
  });

  it('contains no secret', async () => {
    const stack = await (await openBench()).checkout();
    const reviewed = { tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 1 } };
    await stack.setUp(clusterAuthConfig(reviewed));
    await stack.declare(clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 2 } }));
    await stack.run(['apply', '--yes'], 0);
    const directory = join(stack.directory, '.trueup', 'payments.history');
    const files = await Promise.all(
      (await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8')),
    );
    const shown = await stack.run(['history', 'show', await newest(stack)], 0);
    const texts = [...files, shown.out, await revert(stack)].join('\n');
    for (const secret of Object.values(secrets)) expect(texts).not.toContain(secret);
    expect(await revert(stack)).toContain(
      '# tokenReviewerJwt cannot be taken back: it is a secret, and its former value is not kept',
    );
  });
});

describe('trueup history show --revert', () => {
  it('does not say that a config is deleted when its document is removed', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(clusterAuthConfig());
    await stack.run(['apply', '--yes'], 0);
    expect(await revert(stack)).toContain(
      '# ClusterAuthConfig/prod/config: was created\n# without its document it is released and stays as it is',
    );
  });

  it('prints the fragment of a manifest that reverts an update', async () => {
    const stack = await (await openBench()).checkout();
    const before = workspace('app', {
      description: 'old',
      autoApply: false,
      tags: { env: 'dev', team: 'a' },
    });
    await stack.setUp(before);
    await stack.declare(
      workspace('app', { description: 'new', autoApply: true, tags: { env: 'prod', tier: '1', team: 'a' } }),
    );
    await stack.run(['apply', '--yes'], 0);
    const text = await revert(stack);
    expect(text).toContain('kind: TagBindings');
    expect(text).toContain('    env: dev');
    expect(text).toContain('# remove tags.tier: it did not exist before');
    expect(text).toContain('  description: old\n  autoApply: false');
    expect(text).not.toContain('team');
  });

  it('says that the fragment of an update is merged into its document, and is not complete', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(role('web', { tokenPolicies: ['read'] }));
    await stack.declare(role('web', { tokenPolicies: ['write'] }));
    await stack.run(['apply', '--yes'], 0);
    expect(await revert(stack)).toMatch(
      /# ClusterAuthRole\/prod\/web: was updated\n# merge this into the document that declares it: the rest of that document stays as it is\napiVersion/,
    );
  });

  it('prints documents that restore deleted resources and their children, with an empty plan afterwards', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(
      workspace('app', { description: 'kept', tags: { env: 'dev' }, remoteStateConsumers: ['web'] }),
      workspace('web'),
      role('app'),
      role('other'),
    );
    await stack.declare(workspace('web'), role('other'));
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest, '--ack', 'deletes'], 0);
    const text = await revert(stack);
    expect(text).toContain('# what it held besides its settings is gone and cannot be taken back');
    await stack.write('manifests/reverted.yaml', text);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    const plan = await stack.plan();
    expect(plan.summary).toMatchObject({ unchanged: 6 });
  });

  it('says what to remove after a create, and does not mention failed changes', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('broken'));
    bench.wire.add({ method: 'POST', path: /workspaces/, body: /broken/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--yes'], 6);
    const text = await revert(stack);
    expect(text).toContain(
      '# Workspace/acme/app: was created\n# remove its document: the next apply takes away what was created',
    );
    expect(text).not.toContain('broken');
  });
});

describe('an apply whose history or lock cannot be written at its end', () => {
  /** Before the last answer, files with a matching name are replaced by folders, so that they cannot be written. */
  async function applyWithout(pattern: RegExp) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (request.method === 'POST' && /workspaces$/.test(request.path))
        await replaceByFolders(stack, pattern);
      return answer;
    });
    return stack.tryRun(['apply', '--yes']);
  }

  async function replaceByFolders({ directory }: Checkout, pattern: RegExp) {
    const folder = join(directory, '.trueup');
    const names = (await readdir(folder, { recursive: true })).filter((name) => pattern.test(name));
    for (const name of names) {
      await rm(join(folder, name), { recursive: true });
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'in-the-way'), '');
    }
  }

  it('exits with 1, and says how to complete the history', async () => {
    const { code, out, err } = await applyWithout(/history\/.*\.json$/);
    expect(out).toContain('1 applied');
    expect(err).toContain('error: the history lacks the end of this apply');
    expect(err).toContain('run "trueup apply" again: it finds out and records what this apply did');
    expect(code).toBe(1);
  });

  it('exits with 1, and says how to remove the lock', async () => {
    const { code, out, err } = await applyWithout(/ledger\.json\.lock$/);
    expect(out).toContain('1 applied');
    expect(err).toContain('error: the lock could not be given back');
    expect(err).toContain('trueup unlock --id');
    expect(code).toBe(1);
  });
});
