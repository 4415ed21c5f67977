/** The embedded service: by itself with `trueup serve`, or behind `url: embedded` (rule 35). */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { publishUrl } from '../../../src/cli/run/embedded-service.ts';
import { type ServedRequest, startServer } from '../../../src/server/start-server.ts';
import { trueup } from '../../support/captured-host.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { serveProcess, trueupProcess } from '../../support/cli/process.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function readTokens(file: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
}

/** One of each service; the one for mounts speaks this dialect. */
const targetsOf = (dialect: string) => [
  { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' },
  { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'kubernetes', dialect },
];

describe('trueup serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'says where it is when it is ready, and stops cleanly on %s',
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
        'embedded.db.tokens.json',
      ]);
      await expect(fetch(serving.url)).rejects.toThrow();
    },
  );

  it('on a new file, without a seed, shows how to get in, with a line that works and no token in it', async () => {
    const cwd = join(temporaryFolder(), "it's here");
    await mkdir(cwd);
    const serving = await serveProcess(['--data', 'new/service.db'], { cwd });
    const file = join(cwd, 'new', 'service.db.tokens.json');
    const shown = await serving.sees(/no organization yet: a seed makes some \(--seed\)/);
    expect(shown).toContain(`An owner's token lies in ${file}. To try it:\n`);
    for (const token of Object.values(await readTokens(file))) expect(shown).not.toContain(token);
    const line = /^ {2}(sed .*)$/m.exec(shown)?.[1] ?? '';
    const answer = JSON.parse(execFileSync('sh', ['-c', line], { cwd: '/', encoding: 'utf8' }));
    expect(answer).toMatchObject({ data: { type: 'users', attributes: { username: 'trueup-owner' } } });
  });

  it('gives its owner all organizations of its seed, and keeps the token', async () => {
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
      expect((await serving.stop()).out).not.toContain('no organization yet');
      kept.push(tokens);
    }
    expect(kept[0]).toEqual(kept[1]);
  });

  it('with data in memory and no seed says that nobody can get in', async () => {
    const serving = await serveProcess(['--data', ':memory:'], { cwd: temporaryFolder() });
    expect((await serving.stop()).out).toContain('Nobody can get in: data in memory knows no tokens');
  });

  it('is refused on a file that another one serves, by whatever path, and told who that is', async () => {
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

  it('is not refused on a file whose server has stopped or died', async () => {
    const cwd = temporaryFolder();
    for (const end of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
      const serving = await serveProcess([], { cwd });
      await serving.stop(end);
    }
    const serving = await serveProcess([], { cwd });
    expect(await readFile(join(cwd, '.trueup', 'embedded.db.url'), 'utf8')).toBe(`${serving.url}\n`);
  });

  it('with data in memory leaves no file behind, and knows what its seed says', async () => {
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

  it('serves one edition of the workspaces API when asked, and says which there are', async () => {
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

  it('with --admin keeps a token for its owner as long as it runs, with a line that works and no token in it', async () => {
    const cwd = temporaryFolder();
    const serving = await serveProcess(['--admin'], { cwd });
    const file = join(cwd, '.trueup', 'embedded.db.admin-token');
    const shown = await serving.sees(/-H @- \S+\/admin\/clock\n/);
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    expect(shown).not.toContain((await readFile(file, 'utf8')).trim());
    const line = /^ {2}(sed .*\/admin\/clock)$/m.exec(shown)?.[1] ?? '';
    const clock = JSON.parse(execFileSync('sh', ['-c', line], { cwd: '/', encoding: 'utf8' }));
    expect(clock).toEqual({ now: expect.any(String), 'offset-seconds': 0 });
    expect(await serving.stop()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(file)).toBe(false);
  });

  it('gives the admin API another token at each start, and none unless it is asked to', async () => {
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

  it('with --admin and data in memory needs to be told where the token may lie', async () => {
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

  it('serves nothing when a file for the admin token is named without --admin', async () => {
    const cwd = temporaryFolder();
    const { code, out, err } = await trueupProcess(['serve', '--admin-token-file', 'token'], { cwd });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'error: --admin-token-file needs --admin: add --admin, or leave the file out\n',
    });
    expect(await readdir(cwd)).toEqual([]);
  });

  it('does not write the admin token over a file of somebody else', async () => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'notes.txt'), 'mine');
    const { code, err } = await trueup(['serve', '--admin', '--admin-token-file', 'notes.txt'], { cwd });
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: "${join(cwd, 'notes.txt')}" does not contain an admin token, so it is not overwritten\n`,
    });
    expect(await readFile(join(cwd, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('takes itself to be in a pod, and speaks a dialect, where it is told to', async () => {
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
    ['a-file', 'a part of its path is no directory'],
  ])('takes itself to be in no pod whose folder is %s', async (folder, why) => {
    const cwd = temporaryFolder({ 'a-file': '' });
    const { code, out, err } = await trueup(['serve', '--data', ':memory:', '--in-pod', folder], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`error: "${join(cwd, folder)}" cannot be used: ${why}; check the path\n`);
  });

  it('on a port that is taken says so, and leaves nothing that looks like a running service', async () => {
    const cwd = temporaryFolder();
    const { port } = await listenForTest(createServer());
    const { code, out, err } = await trueupProcess(['serve', '--port', String(port)], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(
      `error: port ${port} is in use already: choose another with --port, or leave --port out to get any free one\n`,
    );
    expect(existsSync(join(cwd, '.trueup', 'embedded.db.url'))).toBe(false);
  });

  it('with a seed that is missing, no YAML, or wrong is told what is the matter', async () => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'broken.yaml'), 'organizations: [\n');
    await writeFile(join(cwd, 'wrong.yaml'), 'organisations: []\n');
    for (const [file, says] of [
      ['missing.yaml', /missing\.yaml/],
      ['broken.yaml', /broken\.yaml/],
      ['wrong.yaml', /organisations/],
    ] as const) {
      const { code, out, err } = await trueup(['serve', '--data', ':memory:', '--seed', file], { cwd });
      expect({ code, out }, err).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: /);
      expect(err).toMatch(says);
    }
  });
});

describe('a stack with "url: embedded"', () => {
  it('needs no service and no token: data and tokens stand in .trueup, the tokens for their owner only', async () => {
    const cwd = embeddedStack();
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
    const tokens = join(cwd, '.trueup', 'embedded.db.tokens.json');
    expect(((await stat(tokens)).mode & 0o777).toString(8)).toBe('600');
    expect(await readdir(join(cwd, '.trueup'))).toEqual(
      expect.arrayContaining(['embedded.db', 'embedded.db.tokens.json', 'payments.ledger.json']),
    );
    expect(existsSync(join(cwd, '.trueup', 'embedded.db.url'))).toBe(false);
    const again = await trueup(['plan', '--exit-code'], { cwd });
    expect(again.out).toContain('No changes, 3 unchanged');
    expect(again.code).toBe(0);
  });

  it('uses a serve that runs on its data, and does without it once that has stopped', async () => {
    const cwd = embeddedStack();
    const data = join(cwd, '.trueup', 'embedded.db');
    await mkdir(join(cwd, '.trueup'));
    const served: ServedRequest[] = [];
    const server = await startServer({ data, onRequest: (request) => served.push(request) });
    const withdraw = await publishUrl(data, server.url);
    expect((await trueup(['apply', '--yes'], { cwd })).code).toBe(0);
    const writes = served.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method, url }) => `${method} ${url}`)).toEqual(
      expect.arrayContaining([
        'POST /api/v2/organizations/acme/workspaces',
        'POST /v1/auth/cluster/role/web',
      ]),
    );
    await withdraw();
    await server.close();
    expect((await trueup(['plan', '--exit-code'], { cwd })).code).toBe(0);
  });

  it('speaks to it in the dialect of its targets', async () => {
    const cwd = embeddedStack({ targets: targetsOf('openbao') });
    const applied = await trueup(['apply', '--yes'], { cwd });
    expect(applied).toMatchObject({ code: 0, err: '' });
    const plan = await trueup(['plan', '--exit-code'], { cwd });
    expect(plan.out).toContain('No changes, 3 unchanged');
    const data = join(cwd, '.trueup', 'embedded.db');
    const server = await startServer({ data, dialects: ['openbao'] });
    onTestFinished(() => server.close());
    const { serviceToken = '' } = await readTokens(`${data}.tokens.json`);
    const role = await fetch(`${server.url}/v1/auth/kubernetes/role/web`, {
      headers: { 'x-vault-token': serviceToken },
    });
    expect(role.status).toBe(200);
  });

  it('speaks to it in the dialect of the workspaces` real service, too', async () => {
    const [workspaces, mount] = targetsOf('vault');
    const cwd = embeddedStack({ targets: [{ ...workspaces, dialect: 'hcp-terraform' }, mount] });
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
    expect((await trueup(['plan', '--exit-code'], { cwd })).out).toContain('No changes, 3 unchanged');
    const data = join(cwd, '.trueup', 'embedded.db');
    const { ownerToken = '' } = await readTokens(`${data}.tokens.json`);
    const serving = await serveProcess(['--dialect', 'hcp-terraform', '--dialect', 'vault'], { cwd });
    const api = new TestClient(serving.url, ownerToken);
    const [shown] = (await api.get('/organizations/acme/workspaces')).resources;
    expect(shown?.attributes).toHaveProperty('terraform-version');
    expect((await trueup(['plan', '--exit-code'], { cwd })).code).toBe(0);
  });

  it.each([
    ['vault', 'openbao'],
    ['neutral', 'openbao'],
  ])('whose targets speak %s does not use a serve that speaks %s', async (spoken, served) => {
    const cwd = embeddedStack({ targets: targetsOf(spoken) });
    const data = join(cwd, '.trueup', 'embedded.db');
    await mkdir(join(cwd, '.trueup'));
    const server = await startServer({ data, dialects: [served] });
    onTestFinished(() => server.close());
    await publishUrl(data, server.url);
    const { code, out, err } = await trueup(['plan'], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(
      `error: the embedded service at ${server.url} speaks "${served}" to targets of service "cluster-auth", and ` +
        `target "prod" speaks "${spoken}": end that service, or start it with "--dialect ${spoken}"\n`,
    );
  });

  it('whose data file is no database says so in one line', async () => {
    const cwd = embeddedStack();
    await mkdir(join(cwd, '.trueup'));
    await writeFile(join(cwd, '.trueup', 'embedded.db'), 'anything else');
    for (const command of ['plan', 'serve']) {
      const { code, err } = await trueup([command], { cwd });
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(/^error: the data file ".*embedded\.db" cannot be used: .*\n$/),
      });
    }
  });

  it('leaves a file that is no database as it is, its mode too', async () => {
    const cwd = embeddedStack();
    const file = join(cwd, 'notes.txt');
    await writeFile(file, 'anything else', { mode: 0o644 });
    await trueup(['serve', '--data', file], { cwd });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readFile(file, 'utf8')).toBe('anything else');
  });

  it('leaves a pipe or a device as it is, its mode too', async () => {
    const cwd = embeddedStack();
    const pipe = join(cwd, 'pipe');
    execFileSync('mkfifo', ['-m', '644', pipe]);
    const { code, err } = await trueup(['serve', '--data', pipe], { cwd });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^error: the data file ".*pipe" cannot be used: it is no regular file; .*\n$/,
      ),
    });
    expect((await stat(pipe)).mode & 0o777).toBe(0o644);
  });

  it('is not misled by what a serve that was killed has left behind', async () => {
    const cwd = embeddedStack();
    const serving = await serveProcess([], { cwd });
    await serving.stop('SIGKILL');
    expect(existsSync(join(cwd, '.trueup', 'embedded.db.url'))).toBe(true);
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
  });
});
