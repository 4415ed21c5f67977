/** A stack whose targets have `url: embedded`: it uses the service that it starts, or that `trueup serve` runs on its data. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { publishUrl } from '../../../src/run/embedded-service.ts';
import { type ServedRequest, startServer } from '../../../src/server/start-server.ts';
import { trueup } from '../../support/captured-host.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { TestClient } from '../../support/server/serve-for-test.ts';

async function readTokens(file: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
}

/** A target of each service; the mount has this dialect. */
const targetsOf = (dialect: string) => [
  { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' },
  { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'kubernetes', dialect },
];

describe('A stack with "url: embedded"', () => {
  it('needs no service and no token: both are in .trueup, and only their owner can read the tokens', async () => {
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

  it('uses a running serve on its data file, and its own service after that has stopped', async () => {
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

  it('speaks to the service in the dialect of its targets', async () => {
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

  it('speaks to the service in the dialect of the real workspaces service, too', async () => {
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

  it('whose data file is not a database reports that in one line', async () => {
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

  it('does not change a file that is not a database, or its mode', async () => {
    const cwd = embeddedStack();
    const file = join(cwd, 'notes.txt');
    await writeFile(file, 'anything else', { mode: 0o644 });
    await trueup(['serve', '--data', file], { cwd });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readFile(file, 'utf8')).toBe('anything else');
  });

  it('does not change a pipe or a device, or its mode', async () => {
    const cwd = embeddedStack();
    const pipe = join(cwd, 'pipe');
    execFileSync('mkfifo', ['-m', '644', pipe]);
    const { code, err } = await trueup(['serve', '--data', pipe], { cwd });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /^error: the data file ".*pipe" cannot be used: it is not a regular file; .*\n$/,
      ),
    });
    expect((await stat(pipe)).mode & 0o777).toBe(0o644);
  });

  it('ignores files that a killed serve has left behind', async () => {
    const cwd = embeddedStack();
    const serving = await serveProcess([], { cwd });
    await serving.stop('SIGKILL');
    expect(existsSync(join(cwd, '.trueup', 'embedded.db.url'))).toBe(true);
    expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
  });
});
