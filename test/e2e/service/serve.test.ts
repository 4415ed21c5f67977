/** The embedded service: by itself with `trueup serve`, or behind `url: embedded`. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { trueup } from '../../support/captured-host.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { serveProcess, trueupProcess } from '../../support/cli/process.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';

async function readTokens(file: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
}

describe('trueup serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'prints its address when it is ready, and stops cleanly on %s',
    async (signal) => {
      const cwd = temporaryFolder();
      const serving = await serveProcess([], { cwd });
      const data = join(cwd, '.trueup', 'embedded.db');
      expect(serving.line).toBe(`trueup serves ${serving.url} from ${data}`);
      expect(await readFile(`${data}.url`, 'utf8')).toBe(`${serving.url}\n`);
      expect((await fetch(`${serving.url}/api/v2/organizations/acme/workspaces`)).status).toBe(401);
      expect(await serving.stop(signal)).toMatchObject({ code: 0, err: '' });
      expect(await readdir(join(cwd, '.trueup'))).toEqual([
        '.gitignore',
        'embedded.db',
        'embedded.db.lock',
        'embedded.db.owner-token',
        'embedded.db.service-token',
        'embedded.db.tokens.json',
      ]);
      await expect(fetch(serving.url)).rejects.toThrow();
    },
  );

  it('stops even if a client holds an idle connection open', async () => {
    const serving = await serveProcess([], { cwd: temporaryFolder() });
    const socket = connect(Number(new URL(serving.url).port), '127.0.0.1');
    // The service may close it with a reset.
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 });
  });

  it('with a new file and no seed prints a working command that contains no token', async () => {
    const cwd = join(temporaryFolder(), "it's here");
    await mkdir(cwd);
    const serving = await serveProcess(['--data', 'new/service.db'], { cwd });
    const file = join(cwd, 'new', 'service.db');
    const shown = await serving.waitForText(/service-token/);
    expect(shown).toContain(`A token of an owner is in ${file}.owner-token. To try it:\n`);
    const { ownerToken = '', serviceToken = '' } = await readTokens(`${file}.tokens.json`);
    for (const token of [ownerToken, serviceToken]) expect(shown).not.toContain(token);
    expect(((await stat(`${file}.owner-token`)).mode & 0o777).toString(8)).toBe('600');
    expect(((await stat(`${file}.service-token`)).mode & 0o777).toString(8)).toBe('600');
    const line = /^ {2}(sed .*)$/m.exec(shown)?.[1] ?? '';
    const answer = JSON.parse(execFileSync('sh', ['-c', line], { cwd: '/', encoding: 'utf8' }));
    expect(answer).toMatchObject({ data: { type: 'users', attributes: { username: 'trueup-owner' } } });
  });

  it.each([
    ['neutral', [], 'cluster'],
    ['hcp-terraform and openbao', ['--dialect', 'hcp-terraform', '--dialect', 'openbao'], 'kubernetes'],
    ['vault', ['--dialect', 'vault'], 'kubernetes'],
  ])(
    'with no data, in %s, prints commands for an organization and a mount, and working targets',
    async (_, dialects, mount) => {
      const cwd = join(temporaryFolder(), "it's: here");
      await mkdir(cwd);
      const serving = await serveProcess(dialects, { cwd });
      const shown = await serving.waitForText(/service-token'?"? }\n$/);
      const made = [
        ...shown.matchAll(/^There is no (organization|mount) yet\. To make one:\n {2}(sed .*)$/gm),
      ];
      expect(made.map(([, what]) => what)).toEqual(['organization', 'mount']);
      for (const [, , line = ''] of made)
        expect(execFileSync('sh', ['-c', line], { cwd: '/', encoding: 'utf8' })).not.toContain('errors');
      const block =
        /To use it, put these into "spec\.targets" of a stack file:\n([\s\S]*)$/.exec(shown)?.[1] ?? '';
      const targets = parse(block) as Record<string, unknown>[];
      expect(targets).toMatchObject([
        { service: 'workspaces', url: serving.url, organization: 'acme' },
        { service: 'cluster-auth', url: serving.url, mount },
      ]);
      const stack = `apiVersion: trueup.dev/v1\nkind: Stack\nmetadata: { name: payments }\nspec:\n  manifests: [m.yaml]\n  targets:\n${block}`;
      await writeFile(join(cwd, 'trueup.yaml'), stack);
      await writeFile(join(cwd, 'm.yaml'), documentsText([workspace('app'), role('web')]));
      expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
      expect((await trueup(['plan', '--exit-code'], { cwd })).code).toBe(0);
      await serving.stop();
      const again = await serveProcess(dialects, { cwd });
      expect((await again.stop()).out).not.toContain('There is no');
    },
  );

  it('gives its owner access to all organizations of its seed, and keeps the token', async () => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'seed.yaml'), 'organizations: [{ name: acme }, { name: beta }]\n');
    const kept: unknown[] = [];
    for (const _start of ['first', 'second']) {
      const serving = await serveProcess(['--seed', 'seed.yaml'], { cwd });
      const tokens = await readTokens(join(cwd, '.trueup', 'embedded.db.tokens.json'));
      const api = new TestClient(serving.url, tokens['ownerToken'] ?? '');
      for (const name of ['acme', 'beta']) {
        expect((await api.get(`/organizations/${name}/workspaces`)).status).toBe(200);
      }
      expect((await serving.stop()).out).not.toContain('no organization');
      kept.push(tokens);
    }
    expect(kept[0]).toEqual(kept[1]);
  });

  it('with data in memory and no seed says that no token works', async () => {
    const serving = await serveProcess(['--data', ':memory:'], { cwd: temporaryFolder() });
    expect((await serving.stop()).out).toContain(
      'No token works: data in memory has only the tokens of a seed',
    );
  });

  it('is refused for a file that another process serves, by any path, and names that process', async () => {
    const cwd = temporaryFolder();
    const serving = await serveProcess([], { cwd });
    await symlink('.trueup', join(cwd, 'linked'));
    const refusal = async (...args: string[]) => {
      const { code, out, err } = await trueupProcess(['serve', ...args], { cwd });
      expect({ code, out }, err).toEqual({ code: 1, out: '' });
      return err;
    };
    const data = join(await realpath(cwd), '.trueup', 'embedded.db');
    const err = await refusal();
    const pid = Number(/by process (\d+)$/m.exec(err)?.[1]);
    expect(err).toBe(
      `error: the data file "${data}" is served already: at ${serving.url} by process ${pid}\n`,
    );
    expect(await refusal('--data', 'linked/embedded.db')).toBe(err);
    process.kill(pid, 'SIGSTOP');
    expect(await refusal()).toBe(err);
    process.kill(pid, 'SIGCONT');
    expect((await fetch(`${serving.url}/api/v2/organizations`)).status).toBe(401);
    expect(await readFile(`${data}.url`, 'utf8')).toBe(`${serving.url}\n`);
    expect(await serving.stop()).toMatchObject({ code: 0 });
  });

  it('is not refused for a file whose server has stopped or died', async () => {
    const cwd = temporaryFolder();
    for (const end of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
      const serving = await serveProcess([], { cwd });
      await serving.stop(end);
    }
    const serving = await serveProcess([], { cwd });
    expect(await readFile(join(cwd, '.trueup', 'embedded.db.url'), 'utf8')).toBe(`${serving.url}\n`);
  });

  it('with data in memory leaves no file behind, and has the data of its seed', async () => {
    const cwd = temporaryFolder();
    await writeFile(
      join(cwd, 'seed.yaml'),
      'organizations: [{ name: acme, teams: [{ name: owners, token: owner }], workspaces: [{ name: seeded }] }]\n',
    );
    const serving = await serveProcess(['--data', ':memory:', '--seed', 'seed.yaml'], { cwd });
    const answer = await fetch(`${serving.url}/api/v2/organizations/acme/workspaces`, {
      headers: { authorization: 'Bearer owner' },
    });
    expect(await answer.json()).toMatchObject({ data: [{ attributes: { name: 'seeded' } }] });
    await serving.stop();
    expect(await readdir(cwd)).toEqual(['seed.yaml']);
  });

  it('serves one edition of the workspaces API with --edition, and lists the known editions', async () => {
    const cwd = temporaryFolder();
    await writeFile(
      join(cwd, 'seed.yaml'),
      'organizations: [{ name: acme, data-retention-policy: {}, teams: [{ name: owners, token: owner }], workspaces: [{ name: a, id: ws-a }] }]\n',
    );
    const args = ['--data', ':memory:', '--seed', 'seed.yaml', '--edition'];
    for (const [edition, status] of [
      ['hosted', 404],
      ['self-hosted', 200],
    ] as const) {
      const serving = await serveProcess([...args, edition], { cwd });
      const api = new TestClient(serving.url, 'owner');
      expect((await api.get('/workspaces/ws-a/relationships/data-retention-policy')).status).toBe(status);
      await serving.stop();
    }
    expect(await trueup(['serve', ...args, 'enterprise'], { cwd })).toEqual({
      code: 1,
      out: '',
      err: 'error: no edition "enterprise" of "neutral" is served: it has all, hosted, self-hosted\n',
    });
  });

  it('with --admin stores a token while it runs, and prints a working command that does not contain it', async () => {
    const cwd = temporaryFolder();
    const serving = await serveProcess(['--admin'], { cwd });
    const file = join(cwd, '.trueup', 'embedded.db.admin-token');
    const shown = await serving.waitForText(/-H @- \S+\/admin\/clock\n/);
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    expect(shown).not.toContain((await readFile(file, 'utf8')).trim());
    const line = /^ {2}(sed .*\/admin\/clock)$/m.exec(shown)?.[1] ?? '';
    const clock = JSON.parse(execFileSync('sh', ['-c', line], { cwd: '/', encoding: 'utf8' }));
    expect(clock).toEqual({ now: expect.any(String), 'offset-seconds': 0 });
    expect(await serving.stop()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(file)).toBe(false);
  });

  it('gives the admin API a new token at each start, and has no admin API without --admin', async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, '.trueup', 'embedded.db.admin-token');
    const first = await serveProcess(['--admin'], { cwd });
    const token = await readFile(file, 'utf8');
    await first.stop('SIGKILL');
    const second = await serveProcess(['--admin'], { cwd });
    expect(await readFile(file, 'utf8')).not.toBe(token);
    const headers = { authorization: `Bearer ${token.trim()}` };
    expect((await fetch(`${second.url}/admin/clock`, { headers })).status).toBe(401);
    await second.stop();
    const third = await serveProcess([], { cwd });
    expect(existsSync(file)).toBe(false);
    expect((await fetch(`${third.url}/admin/clock`, { headers })).status).toBe(404);
  });

  it('with --admin and data in memory needs a file for the token', async () => {
    const cwd = temporaryFolder();
    const { code, err } = await trueup(['serve', '--data', ':memory:', '--admin'], { cwd });
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: with data in memory there is no data file to put the admin token beside: name a file with --admin-token-file\n',
    });
    const serving = await serveProcess(['--data', ':memory:', '--admin', '--admin-token-file', 'token'], {
      cwd,
    });
    const authorization = `Bearer ${(await readFile(join(cwd, 'token'), 'utf8')).trim()}`;
    expect((await fetch(`${serving.url}/admin/clock`, { headers: { authorization } })).status).toBe(200);
  });

  it('refuses --admin-token-file without --admin', async () => {
    const cwd = temporaryFolder();
    const { code, out, err } = await trueupProcess(['serve', '--admin-token-file', 'token'], { cwd });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'error: --admin-token-file needs --admin: add --admin, or leave the file out\n',
    });
    expect(await readdir(cwd)).toEqual([]);
  });

  it('does not overwrite another file with the admin token', async () => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'notes.txt'), 'mine');
    const { code, err } = await trueup(['serve', '--admin', '--admin-token-file', 'notes.txt'], { cwd });
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: "${join(cwd, 'notes.txt')}" does not contain an admin token, so it is not overwritten\n`,
    });
    expect(await readFile(join(cwd, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('acts as if in a pod with --in-pod, and speaks the dialect of --dialect', async () => {
    const cwd = temporaryFolder();
    await mkdir(join(cwd, 'pod'));
    await writeFile(join(cwd, 'pod', 'ca.crt'), 'an authority');
    await writeFile(
      join(cwd, 'seed.yaml'),
      'mounts: [kubernetes]\nservice-tokens: [{ token: root, policies: [root] }]\n',
    );
    const flags = ['--data', ':memory:', '--seed', 'seed.yaml', '--dialect', 'openbao', '--in-pod', 'pod'];
    const serving = await serveProcess(flags, { cwd });
    const answer = await fetch(`${serving.url}/v1/auth/kubernetes/config`, {
      method: 'POST',
      headers: { 'x-vault-token': 'root' },
      body: JSON.stringify({ kubernetes_host: 'https://cluster.example' }),
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    await serving.stop();
  });

  it.each([
    ['missing', 'there is no such file or folder'],
    ['a-file', 'a part of its path is not a directory'],
  ])('refuses the folder "%s" for --in-pod', async (folder, why) => {
    const cwd = temporaryFolder({ 'a-file': '' });
    const { code, out, err } = await trueup(['serve', '--data', ':memory:', '--in-pod', folder], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`error: "${join(cwd, folder)}" cannot be used: ${why}; check the path\n`);
  });

  it('reports a port that is taken, and leaves no file of a running service', async () => {
    const cwd = temporaryFolder();
    const { port } = await listenForTest(createServer());
    const { code, out, err } = await trueupProcess(['serve', '--port', String(port)], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(
      `error: port ${port} is in use already: choose another with --port, or leave --port out to get any free one\n`,
    );
    expect(existsSync(join(cwd, '.trueup', 'embedded.db.url'))).toBe(false);
  });

  it('reports a seed that is missing, not YAML, or invalid', async () => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'broken.yaml'), 'organizations: [\n');
    await writeFile(join(cwd, 'wrong.yaml'), 'organisations: []\n');
    for (const [file, message] of [
      ['missing.yaml', /missing\.yaml/],
      ['broken.yaml', /broken\.yaml/],
      ['wrong.yaml', /organisations/],
    ] as const) {
      const { code, out, err } = await trueup(['serve', '--data', ':memory:', '--seed', file], { cwd });
      expect({ code, out }, err).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: /);
      expect(err).toMatch(message);
    }
  });
});
