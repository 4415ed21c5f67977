// Stack files of people who want the secrets of the worker: each attempt fails, and checks of other stacks continue.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const bin = findPostgres();
let started: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) started = startPostgres(bin);
});
afterAll(() => started?.stop());

function server(): PostgresServer {
  if (started === undefined) throw new Error('PostgreSQL is not installed');
  return started;
}

/** A folder that git considers a bare repository, whose configuration runs a command. */
function bareRepository(folder: string, command: string): Record<string, string> {
  return {
    [`${folder}/HEAD`]: 'ref: refs/heads/main\n',
    [`${folder}/objects/pack/keep`]: '',
    [`${folder}/refs/heads/keep`]: '',
    [`${folder}/config`]: `[core]
  repositoryformatversion = 0
  bare = false
  worktree = .
  fsmonitor = "${command}"
  sshCommand = "${command}"
[protocol "ext"]
  allow = always
[remote "origin"]
  url = ext::${command}
`,
  };
}

describe.skipIf(bin === undefined)('A stack file of an attacker', () => {
  it('runs no command with a git repository in its folder', async () => {
    const mark = join(temporaryFolder(), 'ran');
    const { fleet, checks, push, stack } = await openFleet(server(), { stacks: [] });
    push({ ...stack('bare'), ...bareRepository('bare', `touch ${mark}`) });
    expect(checks(await fleet('run'))).toEqual({ bare: 'no drift' });
    expect(existsSync(mark)).toBe(false);
  });

  it('sends no variable to a target that fleet.yaml does not grant, such as the login of a proxy', async () => {
    const { bench, fleet, checks, push, stack } = await openFleet(server(), {
      stacks: [],
      env: { HTTPS_PROXY: 'http://user:password-of-the-proxy@127.0.0.1:9' },
    });
    push({
      ...stack('proxy', { target: { token: { env: 'HTTPS_PROXY' } } }),
      ...stack('ledger', { spec: { ledger: { postgres: { url: { env: 'HTTPS_PROXY' } } } } }),
    });
    bench.wire.reset();
    const run = await fleet('run');
    const refused = expect.stringContaining(
      'the environment variable "HTTPS_PROXY" is not set: fleet.yaml does not grant it to the stacks of this repository',
    );
    expect(checks(run)).toEqual({ proxy: refused, ledger: refused });
    expect(bench.wire.seen).toEqual([]);
    expect(run.out + run.err).not.toContain('password-of-the-proxy');
  });

  it('reads no file of the worker through a symbolic link', async () => {
    const secret = join(temporaryFolder(), 'secret.txt');
    writeFileSync(secret, 'the-secret-of-the-worker');
    const { bench, fleet, checks, push, stack } = await openFleet(server(), { stacks: [] });
    const up = '../'.repeat(12);
    push({
      ...stack('absolute', { target: { token: { file: 'link' } } }),
      'absolute/link': { link: secret },
      ...stack('relative', { target: { token: { file: 'link' } } }),
      'relative/link': { link: `${up}${relative('/', secret)}` },
      ...stack('folder', { target: { token: { file: `dir/secret.txt` } } }),
      'folder/dir': { link: `${up}${relative('/', join(secret, '..'))}` },
      ...stack('environ', { target: { token: { file: 'link' } } }),
      'environ/link': { link: '/proc/self/environ' },
      ...stack('manifest', { spec: { manifests: ['m.yaml'] } }),
      'manifest/m.yaml': { link: `${up}${relative('/', secret)}` },
      // A link to another file of the repository is harmless.
      ...stack('inside', { spec: { manifests: ['m.yaml'] } }),
      'inside/m.yaml': { link: '../shared/m.yaml' },
      'shared/m.yaml': stack('inside')['inside/manifests.yaml'] ?? '',
    });
    bench.wire.reset();
    const run = await fleet('run');
    const absent = (file: string) => expect.stringContaining(`the secret file "${file}" cannot be read`);
    expect(checks(run)).toEqual({
      absolute: absent('link'),
      relative: absent('link'),
      folder: absent('dir/secret.txt'),
      environ: absent('link'),
      manifest: expect.stringContaining('"m.yaml" does not exist'),
      inside: 'no drift',
    });
    const said = run.out + run.err + (await fleet('status')).out + JSON.stringify(bench.wire.seen);
    expect(said).not.toContain('the-secret-of-the-worker');
    expect(said).not.toContain('TRUEUP_FLEET_URL');
  });

  it('prints no control characters of a path', async () => {
    const { fleet, push, stack } = await openFleet(server(), { stacks: [] });
    push(stack('\u001b[31mred'));
    const said = (await fleet('run')).out + (await fleet('status')).out;
    expect(said).toContain('infra/\\u001b[31mred/trueup.yaml');
    expect(said).not.toContain('\u001b');
  });
});

describe.skipIf(bin === undefined)('A mistake in fleet.yaml', () => {
  it('is reported if no file matches the patterns', async () => {
    const { fleet } = await openFleet(server(), { stacks: [], repository: { stacks: ['stack/*.yaml'] } });
    expect((await fleet('run')).err).toBe(
      'warning: repository "infra" has no stack file: none of its files matches "stack/*.yaml"\n',
    );
  });

  it('keeps all stacks and drifts if no file matches the patterns any more', async () => {
    const repository = { apply: { stacks: ['**'] } };
    const scene = await openFleet(server(), { stacks: [], repository });
    const { bench, fleet, checks, folder, push, stack } = scene;
    push(stack('one', { spec: { approvals: { accept: ['none'] } } }));
    await scene.apply('one');
    await bench.byHand.update(await bench.idOf('one-app'), { description: 'by hand' });
    expect(await fleet('run')).toMatchObject({ code: 3 });
    const file = join(folder, 'fleet.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"variables"', '"stacks":["stack/*.yaml"],"variables"'));
    // A merged change is not applied either.
    push({ 'one/manifests.yaml': documentsText([workspace('one-app', { description: 'new' })]) });
    bench.wire.reset();
    const run = await fleet('run', '--all');
    expect(run.code).toBe(1);
    expect(run.out).toContain('one/trueup.yaml: 1 resource drifted\n');
    expect(checks(run)).toEqual({
      one: expect.stringMatching(/^not applied: repository "infra" has no stack file/),
    });
    expect(bench.wire.writes()).toEqual([]);
    expect(run.err).toContain(
      'warning: repository "infra" has no stack file: none of its files matches "stack/*.yaml". Its stacks stay as they are: ',
    );
    const { out } = await fleet('status');
    expect(out).toMatch(/^1 stack: 0 stale, 1 in need of attention/);
    expect(out).toMatch(
      /repository infra cannot be read \(last read \d+ s ago\): repository "infra" has no stack/,
    );
    expect(out).toMatch(/1 resource drifted \(for \d+ s\)/);
  });

  it('is reported if a pattern excludes, or an address has no host', async () => {
    const { fleet } = await openFleet(server(), {
      stacks: [],
      repository: { stacks: ['!drafts/*'], targets: ['mailto:ann@example.com'] },
    });
    const { code, err } = await fleet('run');
    expect(code).toBe(7);
    expect(err).toContain('a pattern without "!" in front');
    expect(err).toContain('an address such as https://app.example.com');
  });
});
