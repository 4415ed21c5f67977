// A full disk: each message names the file that could not be written, and no part of a file is left.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemErrorMessage } from '../../../src/model/error-message.ts';
import { servedEvent, serveTrail } from '../../support/audit/trail-service.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { stackIn, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const limit = 'the file would be larger than is allowed there';

async function applied(): Promise<Checkout> {
  const bench = await openBench({ organization: { workspaces: [{ name: 'live' }] } });
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'first' }));
  return stack;
}

async function onFullDisk(stack: { readonly directory: string }, ...args: readonly string[]) {
  const ran = await trueupProcess(args, { cwd: stack.directory, env: secrets, fullDisk: true });
  return { ...ran, err: ran.err.replaceAll(/\s+/g, ' ') };
}

describe('On a full disk', () => {
  it('the error names the plan file, and no part of it is left', async () => {
    const stack = await applied();
    const { code, err } = await onFullDisk(stack, 'plan', '--out', 'plan.json');
    expect(code).toBe(1);
    expect(err).toContain(`"${join(stack.directory, 'plan.json')}" cannot be written: ${limit}`);
    expect(await readdir(stack.directory)).not.toContainEqual(expect.stringMatching(/^plan/));
  });

  it('the error names the ledger, and nothing is sent', async () => {
    const stack = await applied();
    await stack.declare(workspace('app', { description: 'second' }));
    const { code, err } = await onFullDisk(stack, 'apply', '--yes');
    expect(code).toBe(1);
    expect(err).toMatch(
      /"[^"]+\.trueup\/[^"]+\.ledger\.json[^"]*" cannot be written: the file would be larger/,
    );
    expect((await stack.plan()).summary).toMatchObject({ update: 1 });
  });

  it('the error names the manifest that an export writes, and no part of it is left', async () => {
    const stack = await applied();
    const { code, err } = await onFullDisk(stack, 'export', '--name', 'live', '--out', 'exported');
    expect(code).toBe(1);
    expect(err).toMatch(/"[^"]+\/exported\/[^"]+live\.yaml" cannot be written: the file would be larger/);
    const left = await readdir(join(stack.directory, 'exported'), { recursive: true });
    expect(left).not.toContainEqual(expect.stringMatching(/yaml$/));
  });

  it('the error names the manifest that an export would overwrite, which stays as it is', async () => {
    const stack = await applied();
    const path = join('exported', 'acme', 'workspace', 'live.yaml');
    const mine = '# mine\n'.repeat(1000);
    await stack.write(path, mine);
    const exporting = ['export', '--name', 'live', '--out', 'exported', '--force'];
    const { code, err } = await onFullDisk(stack, ...exporting);
    expect(code).toBe(1);
    expect(err).toMatch(/"[^"]+\/exported\/[^"]+live\.yaml" cannot be written: the file would be larger/);
    expect(await readFile(join(stack.directory, path), 'utf8')).toBe(mine);
    expect(await readdir(join(stack.directory, 'exported', 'acme', 'workspace'))).toEqual(['live.yaml']);
    await stack.run(exporting, 0);
    expect(await readFile(join(stack.directory, path), 'utf8')).toContain('kind: Workspace');
  });

  it('the error names the manifest that accept changes, which stays as it is', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'first' }));
    await bench.byHand.update(await bench.idOf('app'), { description: 'by hand' });
    const { code, err } = await onFullDisk(stack, 'accept', 'Workspace/acme/app', '--yes');
    expect(code).toBe(1);
    const [, file = ''] = /"([^"]+\.yaml)" cannot be written: the file would be larger/.exec(err) ?? [];
    expect(file).toContain(stack.directory);
    expect(await readFile(file, 'utf8')).toContain('first');
  });

  it('the error names the archive, or the cursor file', async () => {
    const service = await serveTrail([servedEvent('a', { at: 1 })], { token: secrets.API_TOKEN });
    const targets = [workspacesTarget(service.url, { auditToken: { env: 'API_TOKEN' } })];
    const stack = stackIn({ directory: temporaryFolder(), stack: { targets, spec: {} }, env: secrets });
    const archive = await onFullDisk(stack, 'audit', 'archive', '--to', 'kept.db');
    expect(archive.code).toBe(1);
    expect(archive.err).toContain(`the archive "${join(stack.directory, 'kept.db')}" cannot be written`);
    const since = ['--for', '0s', '--since', '2026-11-20T12:00:00Z'];
    const follow = await onFullDisk(stack, 'audit', 'follow', ...since, '--cursor', 'cursor.json');
    expect(follow.code).toBe(1);
    expect(follow.err).toContain(`"${join(stack.directory, 'cursor.json')}" cannot be written: ${limit}`);
  });

  it.each([['plan'], ['serve']])(
    'the error names the data file of the embedded service (%s)',
    async (command) => {
      const directory = embeddedStack();
      const { code, err } = await onFullDisk({ directory }, command);
      expect(code).toBe(1);
      expect(err).toMatch(/"[^"]+\/\.trueup\/[^"]+" cannot be (written|used): /);
    },
  );
});

/** A full disk, or undefined if this user may not mount one. */
function mountFullDisk(): string | undefined {
  const folder = join(temporaryFolder(), 'full');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => {
    execFileSync('umount', [folder]);
  });
  execFileSync('sh', ['-c', 'cat /dev/zero > "$0" 2> /dev/null || true', join(folder, 'filler')]);
  return folder;
}

it('the error for ENOSPC from the system names the file, too', async () => {
  const disk = mountFullDisk();
  if (disk === undefined) {
    process.stderr.write('no disk can be mounted here: only the words for ENOSPC are tested\n');
    const refusal = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    expect(systemErrorMessage(refusal)).toContain('there is no room left on the disk');
    return;
  }
  const file = join(disk, 'plan.json');
  const { code, err } = await trueupProcess(['plan', '--out', file], {
    cwd: (await applied()).directory,
    env: secrets,
  });
  expect(code).toBe(1);
  expect(err).toContain(`"${file}" cannot be written: there is no room left on the disk`);
  expect(await readdir(disk)).toEqual(['filler']);
});
