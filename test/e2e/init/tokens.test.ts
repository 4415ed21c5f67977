/** Tokens that `trueup init` finds: used only for their own address, with consent, and never shown or written. */
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { initSchema } from '../../../src/commands/init/schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { secrets } from '../../support/cli/bench.ts';
import { openFirstStack, textsIn } from '../../support/cli/first-stack.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** A foreign server that records its requests, and answers with this status and headers. */
async function openForeignServer(status: number, headers: Record<string, string> = {}) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify([request.url, request.headers]));
    response.writeHead(status, headers).end('{}');
  });
  return { seen, url: (await listenForTest(server)).url };
}

const stored = (credentials: object) =>
  temporaryFolder({ '.terraform.d/credentials.tfrc.json': JSON.stringify({ credentials }) });

describe('A token that init finds', () => {
  it('is used with --yes to show the workspaces, their owners and the rights of the token', async () => {
    const first = await openFirstStack();
    const { code, out, err } = await first.init(['--organization', 'acme', '--yes'], first.workspacesEnv);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('error') });
    expect(out).toContain('organizations  2: "acme", "beta"');
    expect(out).toContain('workspaces     2: 1 without an owner, 1 claimed by stack "other"');
    expect(out).toContain('may create workspaces; may update 2 of 2');
    expect(first.written()).toEqual([]);
    expect(out + err + JSON.stringify(textsIn(first.directory))).not.toContain(secrets.API_TOKEN);
  });

  it('makes init refuse an organization that it does not see, before a file is written', async () => {
    const first = await openFirstStack();
    for (const [name, hint] of [
      ['bata', 'did you mean "beta"?'],
      ['nothing-like-it', 'it sees "acme", "beta"'],
    ] as const) {
      const { code, out, err } = await first.init(['--organization', name, '--yes'], first.workspacesEnv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(`--organization: the token sees no organization of this name; ${hint}`);
      expect(textsIn(first.directory)).toEqual({});
    }
  });

  it('lets init keep the given organization if organizations cannot be listed', async () => {
    const first = await openFirstStack();
    const refused = { answer: 403, body: {} };
    first.wire.add({ method: 'GET', path: /\/organizations(\?|$)/, times: 99, fault: refused });
    const { code, err } = await first.init(['--organization', 'acme', '--yes'], first.workspacesEnv);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('cannot be listed') });
    expect(Object.keys(textsIn(first.directory))).toContain('trueup.yaml');
  });

  it('that may only read is reported as such', async () => {
    const first = await openFirstStack();
    const env = { ...first.workspacesEnv, TFE_TOKEN: secrets.READ_API_TOKEN };
    const { code, out } = await first.init(['--organization', 'acme', '--yes'], env);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('may not create workspaces; may update 0 of 2'),
    });
  });

  it('of a secrets service shows its mounts and roles, and the rights to the names of the stack', async () => {
    const first = await openFirstStack();
    const { code, out, err } = await first.init(['--owns', 'pay-*', '--yes'], first.mountEnv);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('error') });
    expect(out).toContain('1 of type "kubernetes": "kubernetes"');
    expect(out).toContain('0 ClusterAuthRole; the stack owns pay-*');
    expect(out).toContain('config: root; role pay-*: root');
    const reading = { ...first.mountEnv, VAULT_TOKEN: secrets.READ_SERVICE_TOKEN };
    const other = await first.init(['reader', '--yes'], reading);
    expect(other).toMatchObject({
      code: 0,
      out: expect.stringContaining('config: read, list; role *: read, list'),
    });
    expect(other.out).toContain('this token may not list the others');
    expect(first.written()).toEqual([]);
  });

  it.each([
    ['without --yes', ['--organization', 'acme'], 1],
    ['with --no-connect', ['--organization', 'acme', '--no-connect'], 0],
    [
      'with --no-connect and a named variable',
      ['--organization', 'acme', '--no-connect', '--token-env', 'TFE_TOKEN'],
      0,
    ],
    ['with --dry-run', ['--organization', 'acme', '--dry-run', '--yes'], 0],
  ])('is not sent %s', async (_, args, expected) => {
    const first = await openFirstStack();
    const { code, err } = await first.init(args, first.workspacesEnv);
    expect(code).toBe(expected);
    if (expected === 1) expect(err).toMatch(/"--yes" .* "--no-connect"/);
    expect(first.wire.seen).toEqual([]);
    expect(Object.keys(textsIn(first.directory))).toHaveLength(args.includes('--no-connect') ? 3 : 0);
  });

  it('is not sent to another address, for which the stack names another variable', async () => {
    const foreign = await openForeignServer(200);
    const first = await openFirstStack();
    for (const url of [foreign.url, foreign.url.replace('127.0.0.1', 'LOCALHOST')]) {
      const { code, out } = await first.init(
        [url.slice(7, 11), '--url', url, '--organization', 'acme', '--yes'],
        first.workspacesEnv,
      );
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringContaining('the token in "TFE_TOKEN" is not used: it belongs to'),
      });
    }
    expect(foreign.seen).toEqual([]);
    const texts = Object.values(textsIn(first.directory)).join('');
    expect(texts).not.toContain('TFE_TOKEN');
    expect(texts).toMatch(/token: \{ env: TOKEN_127_0_0_1_\d+ \}/);
    expect(texts).toMatch(/url: http:\/\/localhost:\d+\n/);
  });

  it('is not sent after a redirect', async () => {
    const foreign = await openForeignServer(200);
    const redirecting = await openForeignServer(302, { location: `${foreign.url}/api/v2/organizations` });
    const env = { TFE_ADDRESS: redirecting.url, TFE_TOKEN: secrets.API_TOKEN };
    const first = await openFirstStack();
    const { code, err } = await first.init(['--organization', 'acme', '--yes'], env);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('it redirects to') });
    expect(redirecting.seen.length).toBeGreaterThan(0);
    expect(foreign.seen).toEqual([]);
  });

  it.each([
    ['https://app.terraform.io@evil.example', 'holds a user name or password'],
    ['https://app.terraform.io:secret@evil.example', 'holds a user name or password'],
    ['https://app.terraform.io\\@evil.example', undefined],
    ['https://evil.example/app.terraform.io', undefined],
    ['https://app.terraform.io.evil.example', undefined],
    ['https://app.terraform.io:8443', undefined],
    ['http://app.terraform.io', undefined],
    ['https://аpp.terraform.io', undefined],
    ['https://evil.example?app.terraform.io', 'query or fragment'],
    ['https://evil.example#app.terraform.io', 'query or fragment'],
    ['file:///etc/passwd', 'http(s) address'],
    ['https://app.terraform.io/app/acme/workspaces', 'address of a web page'],
    ['https://app.terraform.io/api/v2', 'ends with the path of the API'],
  ])('does not belong to %s', async (url, problem) => {
    const first = await openFirstStack();
    const env = { TFE_TOKEN: secrets.API_TOKEN };
    const args = ['--url', url, '--organization', 'acme', '--format', 'json'];
    const { code, out } = await first.init(
      [...args, ...(problem === undefined ? ['--no-connect'] : ['--yes'])],
      env,
    );
    if (problem !== undefined) {
      expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(problem) });
      expect(textsIn(first.directory)).toEqual({});
      return;
    }
    const { token, notes } = JSON.parse(out);
    const isOwn = new URL(url).origin === 'https://app.terraform.io';
    expect({ code, variable: token.env === 'TFE_TOKEN', notes: notes.length }).toEqual({
      code: 0,
      variable: isOwn,
      notes: isOwn ? 0 : 1,
    });
  });

  it.each(['https://app.terraform.io', 'HTTPS://APP.Terraform.IO:443/', 'app.terraform.io'])(
    'belongs to %s, however it is written',
    async (url) => {
      const first = await openFirstStack();
      const args = ['--url', url, '--organization', 'acme', '--format', 'json', '--no-connect'];
      const { out } = await first.init(args, { TFE_TOKEN: secrets.API_TOKEN });
      expect(JSON.parse(out)).toMatchObject({ token: { env: 'TFE_TOKEN' }, notes: [] });
      expect(textsIn(first.directory)['trueup.yaml']).toContain('url: https://app.terraform.io\n');
    },
  );
});

describe('A token of another program', () => {
  it.each([
    [
      'the file of credentials',
      (host: string) => ({ HOME: stored({ [host]: { token: secrets.API_TOKEN } }) }),
    ],
    ['a variable of one host', () => ({ TF_TOKEN_tfe_example_com: secrets.API_TOKEN })],
    ['a variable of one host with odd characters', () => ({ 'TF_TOKEN_tfe.example.com': secrets.API_TOKEN })],
  ])('is not shown, and the printed line exports it: %s', async (_, place) => {
    const first = await openFirstStack();
    const env = place('tfe.example.com');
    const args = ['--url', 'https://tfe.example.com', '--organization', 'acme', '--no-connect'];
    const { code, out, err } = await first.init(args, env);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out + JSON.stringify(textsIn(first.directory))).not.toContain(secrets.API_TOKEN);
    const [line = ''] = /^ {2}export TFE_TOKEN=.*$/m.exec(out) ?? [];
    const path = `${process.execPath.replace(/\/[^/]*$/, '')}:${process.env['PATH']}`;
    const shown = execFileSync('bash', ['-c', `${line}\nprintenv TFE_TOKEN`], {
      env: { PATH: path, ...env },
      encoding: 'utf8',
    });
    expect(shown.trim()).toBe(secrets.API_TOKEN);
  });

  it('is not used for a service without TLS', async () => {
    const first = await openFirstStack();
    const host = new URL(first.wire.url).host;
    // The credentials file is for hosts with TLS, and this service has none.
    const env = { HOME: stored({ [host]: { token: secrets.API_TOKEN } }) };
    const args = ['--url', first.wire.url, '--organization', 'acme', '--yes'];
    const { code, out } = await first.init(args, env);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('is not used') });
    expect(first.wire.seen).toEqual([]);
  });

  it('in ~/.vault-token is found for a secrets service', async () => {
    const first = await openFirstStack();
    const HOME = temporaryFolder({ '.vault-token': secrets.SERVICE_TOKEN });
    const { code, out } = await first.init(['--yes'], { HOME, VAULT_ADDR: first.wire.url });
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('export VAULT_TOKEN="$(cat ~/.vault-token)"'),
    });
    expect(out).toContain('config: root');
  });

  it('that is missing is asked for by a line that neither shows nor stores it', async () => {
    const first = await openFirstStack();
    const { code, out } = await first.init(['--url', first.wire.url, '--organization', 'acme']);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('read -rs TFE_TOKEN && export TFE_TOKEN'),
    });
    expect(out).toContain(`Nothing was sent to the service: no token for ${first.wire.url} was found.`);
    expect(out).toMatch(/Next\n {2}read -rs TFE_TOKEN && export TFE_TOKEN\n {2}trueup doctor /);
    expect(first.wire.seen).toEqual([]);
  });

  it.each([
    ['with a variable that is not set', ['--token-env', 'READER'], {}, 'the variable READER is not set'],
    [
      'with --no-connect',
      ['--no-connect'],
      { TFE_TOKEN: secrets.API_TOKEN },
      'with "--no-connect", only files',
    ],
  ])('that is not used is reported with the reason: %s', async (_, args, env, why) => {
    const first = await openFirstStack();
    const { code, out } = await first.init([...acme, ...args], env);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`service: ${why}`) });
    expect(out).toMatch(/Next\n(?: {2}read .*\n)? {2}trueup doctor .*\n {2}trueup export /);
  });

  it('does not decide the scheme of an address: init adds https, and says so', async () => {
    const first = await openFirstStack();
    const address = new URL(first.wire.url).host;
    const { code, err } = await first.init(['--url', address, '--organization', 'acme', '--no-connect']);
    expect({ code, err }).toEqual({
      code: 0,
      err: `the address has no scheme, so it is read as "https://${address}"\n`,
    });
    expect(textsIn(first.directory)['trueup.yaml']).toContain(`url: https://${address}\n`);
  });
});

const acme = ['--url', 'https://tfe.example.com', '--organization', 'acme'];

describe('Without a terminal, a missing answer is an error that names its flag', () => {
  it('and names "--embedded" as the other choice', async () => {
    const { err } = await trueup(['init'], { cwd: temporaryFolder() });
    expect(err).toContain('pass "--service" (workspaces, cluster-auth, or pass "--embedded")');
  });

  it.each([
    [[], '--service'],
    [['--service', 'workspaces', '--url', 'https://tfe.example.com'], '--organization'],
    [['--service', 'cluster-auth'], '--dialect'],
    [['--service', 'cluster-auth', '--dialect', 'openbao'], '--url'],
  ])('%j', async (args, flag) => {
    const first = await openFirstStack();
    const { code, out, err } = await first.init(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`nothing was written: pass "${flag}"`);
    expect(textsIn(first.directory)).toEqual({});
  });

  it.each([
    [['--embedded', '--url', 'https://tfe.example.com'], 'give "--url" or "--embedded"'],
    [['--embedded', '--organization', 'a/b'], '--organization: '],
    [['--embedded', '--name', 'A B'], '--name: '],
    [['--embedded', '--target', 'A B'], '--target: '],
    [['--embedded', '--mount', 'a/../b'], '--mount: '],
    [['--embedded', '--mount', 'pay-*'], 'patterns of role names belong to "--owns"'],
    [['--embedded', '--mount', 'a', '--owns', ' , '], '--owns: write a name'],
    [['--embedded', '--dialect', 'none'], '--dialect: '],
    [[...acme, '--token-env', secrets.API_TOKEN], '--token-env: '],
    [[...acme, '--token-env', 'AbC1def2GHI3jkl4MNO5pqr6'], '--token-env: '],
    [[...acme, '--token-file', 'hvs.CAESIJ0123456789abcdefABCDEF'], '--token-file: '],
    [[...acme, '--token-file', 'a', '--token-env', 'A'], 'and not both'],
  ])('and an invalid answer is an error, too: %j', async (args, why) => {
    const first = await openFirstStack();
    const { code, out, err } = await first.init(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(why);
    expect(err).not.toMatch(/planted|AbC1|hvs/);
    expect(textsIn(first.directory)).toEqual({});
  });
});

describe('After init has written the files', () => {
  it.each([
    [
      'a token that is refused',
      { TFE_TOKEN: 'a-wrong-token-8c1d' },
      /not everything was read: .* answered 401/,
    ],
    ['a service that is down', { TFE_ADDRESS: 'http://127.0.0.1:1' }, /nothing listens at "127.0.0.1:1"/],
  ])('%s is an error, and the files stay', async (_, env, why) => {
    const first = await openFirstStack();
    const { code, out, err } = await first.init(['--organization', 'acme', '--yes'], {
      ...first.workspacesEnv,
      ...env,
    });
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('trueup.yaml') });
    expect(err).toMatch(why);
    expect(err).toContain('The files are written.');
    expect(Object.keys(textsIn(first.directory))).toContain('trueup.yaml');
  });

  it('the next step after a token that is refused is "trueup doctor"', async () => {
    const first = await openFirstStack();
    const env = { ...first.workspacesEnv, TFE_TOKEN: 'a-wrong-token-8c1d' };
    const { code, out } = await first.init(['--organization', 'acme', '--yes'], env);
    expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/Next\n +trueup doctor/) });
  });

  it('--export writes manifests for resources without an owner, which a plan adopts unchanged', async () => {
    const first = await openFirstStack();
    const { code, err } = await first.init(
      ['--organization', 'acme', '--yes', '--export'],
      first.workspacesEnv,
    );
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('exported 1 Workspace into 1 file'),
    });
    const { out } = await trueup(['plan', '--format', 'json'], {
      cwd: first.directory,
      env: first.workspacesEnv,
    });
    const changes = JSON.parse(out).changes as { name: string; action: string }[];
    expect(changes.map(({ name, action }) => `${action} ${name}`)).toEqual(['adopt net']);
    expect(first.written()).toEqual([]);
  });

  it('the JSON output has all results, and fits its schema', async () => {
    const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(initSchema);
    const first = await openFirstStack();
    const args = ['--organization', 'acme', '--yes', '--format', 'json'];
    const { code, out } = await first.init(args, first.workspacesEnv);
    const result = JSON.parse(out);
    expect({ code, valid: isValid(result) }, JSON.stringify(isValid.errors)).toEqual({
      code: 0,
      valid: true,
    });
    expect(result.targets).toMatchObject([
      { target: 'acme', resources: { Workspace: 2 }, unowned: 1, owned: { 'claimed by stack "other"': 1 } },
    ]);
    const failed = await first.init([...args], first.workspacesEnv);
    expect(JSON.parse(failed.out).diagnostics).toMatchObject([{ code: 'files-exist' }]);
    const dry = await first.init(['other', ...args, '--dry-run'], first.workspacesEnv);
    expect(isValid(JSON.parse(dry.out)), JSON.stringify(isValid.errors)).toBe(true);
  });
});
