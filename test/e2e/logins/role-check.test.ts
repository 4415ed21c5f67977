// `trueup role check` says whether a service account may log in: its output, its requests, and what it never shows.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { loginSchema } from '../../../src/commands/role-check/schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { accountClaims, type Issuer, openIssuer, secondsFromNow } from '../../support/cli/account-jwt.ts';
import { type Bench, type Checkout, openBench, type StackOptions } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, removalRequest } from '../../support/cli/documents.ts';

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  readonly issuer: Issuer;
  /** writes a JWT with these claims into a file. @returns the JWT */
  holdJwt(claims?: Readonly<Record<string, unknown>>): Promise<string>;
}

interface SceneOptions {
  /** besides the keys that verify the JWTs */
  readonly config?: object;
  readonly role?: object;
  readonly stack?: StackOptions;
}

/** A stack with the config and the role `web` that admit the JWTs of an issuer; nothing is applied yet. */
async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const [bench, issuer] = await Promise.all([openBench(), openIssuer()]);
  const stack = await bench.checkout(options.stack);
  await stack.declare(
    clusterAuthConfig({ pemKeys: [issuer.publicKey], ...options.config }),
    role('web', options.role),
  );
  const holdJwt = async (claims?: Readonly<Record<string, unknown>>) => {
    const jwt = await issuer.issue(claims);
    await stack.write('app.jwt', `${jwt}\n`);
    return jwt;
  };
  await holdJwt();
  return { bench, stack, issuer, holdJwt };
}

/** The same, applied. */
async function openLiveScene(options: SceneOptions = {}): Promise<Scene> {
  const scene = await openScene(options);
  await scene.stack.run(['apply', '--yes'], 0);
  scene.bench.wire.reset();
  return scene;
}

/** A login that fails one check. */
interface FailingLogin {
  readonly name: string;
  readonly role?: object;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly fix: string;
}

const check = ['role', 'check', 'web', '--jwt', 'app.jwt'];
const declared = [...check, '--against', 'declared'];
const json = ['--format', 'json'];

interface LoginJson {
  readonly succeeds: boolean;
  readonly checks: readonly { name: string; result: string; message: string; fix?: string }[];
  readonly trial?: Readonly<Record<string, unknown>>;
  readonly diagnostics?: readonly { code: string }[];
}

const isLogin = new Ajv2020({ strict: true, allErrors: true }).compile<LoginJson>(loginSchema);

function asLogin(out: string): LoginJson {
  const answer: unknown = JSON.parse(out);
  if (!isLogin(answer)) throw new Error(JSON.stringify(isLogin.errors));
  return answer;
}

async function failures({ stack }: Scene, args: readonly string[], code = 2): Promise<string[]> {
  const { checks } = asLogin((await stack.run([...args, ...json], code)).out);
  return checks.filter(({ result }) => result === 'failed').map(({ name }) => name);
}

describe('trueup role check, for a login that would succeed', () => {
  it('reports each check, and what only the service can decide', async () => {
    const { bench, stack } = await openLiveScene();
    const { out, err } = await stack.run(check, 0);
    expect(err).toBe('');
    expect(out).toContain('Login as role "web" at mount "cluster" of target "prod", live');
    expect(out).toMatch(/^ {2}ok +signature +the key in "pemKeys" verifies it$/m);
    expect(out).toMatch(
      /^ {2}open +review +the cluster at "https:\/\/cluster.internal:6443" has to confirm/m,
    );
    expect(out).toContain(
      'The login would succeed, unless the service decides otherwise about what is open: review\n',
    );
    expect(bench.wire.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/auth/cluster/role/web',
      'GET /v1/auth/cluster/config',
    ]);
  });

  it('sends no request with --against declared', async () => {
    const { bench, stack } = await openScene();
    const { out } = await stack.run(declared, 0);
    expect(out).toContain('of target "prod", declared');
    expect(bench.wire.seen).toEqual([]);
  });

  it('says that only the cluster verifies the JWT if the config has no keys', async () => {
    const { stack } = await openScene({ config: { pemKeys: [] } });
    const { out } = await stack.run(declared, 0);
    expect(out).toMatch(/^ {2}open +signature +the config has no "pemKeys": the cluster alone decides/m);
    expect(out).toContain('about what is open: signature, review');
  });

  it('says that the config is unknown if the stack declares none', async () => {
    const scene = await openScene();
    await scene.stack.declare(role('web'));
    const { out } = await scene.stack.run(declared, 0);
    expect(out).toMatch(/^ {2}open +config +the stack declares no config/m);
    expect(out).toContain('about what is open: config, signature, issuer, review');
  });

  it('leaves the check of a namespace open if only the selector can admit it', async () => {
    const selector = '{"matchLabels":{"team":"payments"}}';
    const { stack } = await openScene({
      role: { boundServiceAccountNamespaces: ['other'], boundServiceAccountNamespaceSelector: selector },
    });
    const { out } = await stack.run(declared, 0);
    expect(out).toMatch(/^ {2}open +namespace +only the cluster knows the labels of "payments"/m);
  });

  it('takes the JWT from standard input', async () => {
    const { stack, issuer } = await openScene();
    const args = ['role', 'check', 'web', '--jwt', '-', '--against', 'declared'];
    const ran = await trueup(args, { cwd: stack.directory, stdin: `${await issuer.issue()}\n` });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0 });
  });

  it('finds the role by its name in upper or lower case', async () => {
    const { stack } = await openLiveScene();
    await stack.run(['role', 'check', 'WEB', '--jwt', 'app.jwt'], 0);
    await stack.run(['role', 'check', 'WEB', '--jwt', 'app.jwt', '--against', 'declared'], 0);
  });
});

describe('trueup role check, for a login that would not succeed', () => {
  it.each<FailingLogin>([
    {
      name: 'audience',
      claims: { aud: ['other', 'more'] },
      message: 'the JWT is for "other", "more", and the role wants "vault"',
      fix: 'request the JWT for the audience "vault", or set "audience" of the role to one of the JWT',
    },
    {
      name: 'times',
      claims: { exp: secondsFromNow(-7200) },
      message: 'the JWT expired 2h',
      fix: 'request a fresh JWT',
    },
    {
      name: 'name',
      role: { boundServiceAccountNames: ['api', 'web-*'] },
      message: 'the service account is "app", and the role admits "api", "web-*"',
      fix: 'add "app" to "boundServiceAccountNames" of the role',
    },
    {
      name: 'namespace',
      claims: accountClaims('app', 'orders'),
      message: 'the namespace is "orders", and the role admits "payments"',
      fix: 'add "orders" to "boundServiceAccountNamespaces" of the role',
    },
    {
      name: 'policies',
      role: { tokenPolicies: ['web', 'root'] },
      message: 'the role has the policy "root", and no login creates a root token',
      fix: 'take "root" out of "tokenPolicies" of the role',
    },
  ])(
    'names the failed check $name, and what to change',
    async ({ name, role: fields = {}, claims, message, fix }) => {
      const scene = await openScene({ role: fields });
      await scene.holdJwt(claims);
      const { checks } = asLogin((await scene.stack.run([...declared, ...json], 2)).out);
      const failed = checks.filter(({ result }) => result === 'failed');
      expect(failed).toMatchObject([{ name, message: expect.stringContaining(message) }]);
      expect(failed[0]?.fix).toContain(fix);
      const { out } = await scene.stack.run(declared, 2);
      expect(out.trimEnd().split('\n').at(-1)).toContain(`The login would not succeed: ${name}: ${message}`);
      // Lines are as wide as a terminal, so a long instruction continues in the next one.
      expect(out.replace(/\s+/g, ' ')).toContain(`fix: ${fix}`);
    },
  );

  it('shows the line of the manifest to change', async () => {
    const scene = await openScene({ role: { boundServiceAccountNames: ['api'] } });
    const { out } = await scene.stack.run(declared, 2);
    const [, line = '0'] = /^ +at: +manifests\/all\.yaml:(\d+):\d+$/m.exec(out) ?? [];
    const text = await readFile(join(scene.stack.directory, 'manifests/all.yaml'), 'utf8');
    expect(text.split('\n')[Number(line) - 1]).toContain('boundServiceAccountNames');
    const { checks } = asLogin((await scene.stack.run([...declared, ...json], 2)).out);
    expect(checks.find(({ name }) => name === 'name')).toMatchObject({
      field: { of: 'role', name: 'boundServiceAccountNames' },
      place: { file: 'manifests/all.yaml', line: Number(line) },
    });
  });

  it('names the key that is missing when another cluster has issued the JWT', async () => {
    const { publicKey } = await openIssuer();
    const scene = await openScene({ config: { pemKeys: [publicKey] } });
    expect(await failures(scene, declared)).toEqual(['signature']);
  });

  it('names the issuer only if the config compares it', async () => {
    const wanted = { issuer: 'https://elsewhere', disableIssValidation: false };
    const compares = await openScene({ config: wanted });
    expect(await failures(compares, declared)).toEqual(['issuer']);
    const ignores = await openScene({ config: { ...wanted, disableIssValidation: true } });
    expect(await failures(ignores, declared, 0)).toEqual([]);
  });

  it('names the first check that the service makes, and reports the others in its order', async () => {
    const another = await openIssuer();
    const scene = await openScene({
      config: { pemKeys: [another.publicKey], issuer: 'https://elsewhere', disableIssValidation: false },
      role: { boundServiceAccountNames: ['api'], tokenPolicies: ['root'], tokenBoundCidrs: ['10.0.0.0/8'] },
    });
    await scene.holdJwt({ ...accountClaims('app', 'orders'), aud: ['other'], exp: secondsFromNow(-900) });
    const args = [...declared, '--from', '192.0.2.1'];
    expect(await failures(scene, args)).toEqual([
      ...['address', 'signature', 'issuer', 'audience', 'times', 'name', 'namespace', 'policies'],
    ]);
    const { out } = await scene.stack.run(args, 2);
    expect(out.trimEnd().split('\n').at(-1)).toContain('would not succeed: address:');
  });

  it('does not show the JWT that somebody has put into the role', async () => {
    const scene = await openScene();
    const nothing = Object.fromEntries(Object.keys(accountClaims()).map((claim) => [claim, undefined]));
    for (const [claims, shown] of [
      [nothing, '"[secret]"'],
      [{}, 'a text of'],
    ] as const) {
      const jwt = await scene.holdJwt(claims);
      await scene.stack.declare(clusterAuthConfig(), role('web', { audience: jwt }));
      const { out, err } = await scene.stack.run(declared, 2);
      expect(out).toContain(`and the role wants ${shown}`);
      for (const part of jwt.split('.')) expect(out + err).not.toContain(part.slice(0, 20));
    }
  });

  it('checks the live role by default, not the one in the manifests', async () => {
    const scene = await openLiveScene();
    await scene.stack.declare(clusterAuthConfig(), role('web', { audience: 'other' }));
    expect(await failures(scene, check, 0)).toEqual([]);
    expect(await failures(scene, declared)).toEqual(['audience']);
    await scene.bench.byHandMount('POST', 'role/web', { audience: 'third' });
    expect(await failures(scene, check)).toEqual(['audience']);
  });

  it('reports that the service has no such role, and no config', async () => {
    const scene = await openScene();
    const { out } = await scene.stack.run(check, 2);
    expect(out).toContain('The login would not succeed: role: target "prod" has no role "web"');
    expect(out).toContain('fix: apply the manifests');
    await scene.bench.byHandMount('POST', 'role/web', {
      bound_service_account_names: ['app'],
      bound_service_account_namespaces: ['payments'],
    });
    expect(await failures(scene, check)).toEqual(['config']);
  });

  it('does not find a role that the manifests remove', async () => {
    const scene = await openScene();
    await scene.stack.declare(clusterAuthConfig(), removalRequest('ClusterAuthRole', 'web', 'safe'));
    expect(await failures(scene, declared)).toEqual(['role']);
  });

  it('checks the address of the client if --from names it', async () => {
    const { stack } = await openScene({ role: { tokenBoundCidrs: ['10.0.0.0/8', 'fd00::/8'] } });
    expect((await stack.run(declared, 0)).out).toMatch(
      /open +address +.*give the address of the client\s+with --from/,
    );
    await stack.run([...declared, '--from', '10.1.2.3'], 0);
    await stack.run([...declared, '--from', 'fd00::1'], 0);
    const { out } = await stack.run([...declared, '--from', '192.0.2.1'], 2);
    expect(out).toContain('address: "192.0.2.1" is not in "10.0.0.0/8", "fd00::/8"');
    await stack.run([...declared, '--from', '::ffff:10.1.2.3'], 0);
  });

  it('says that a role bound to the path of a socket admits no address', async () => {
    const scene = await openLiveScene();
    await scene.bench.byHandMount('POST', 'role/web', { token_bound_cidrs: ['/run/x'] });
    const { out } = await scene.stack.run([...check, '--from', '10.1.2.3'], 2);
    expect(out.replace(/\s+/g, ' ')).toContain('the role admits no address');
    expect(out).not.toContain('/run/x');
  });

  it('says when the file holds no JWT, and shows nothing of it', async () => {
    const { stack } = await openScene();
    await stack.write('app.jwt', 'HunterTwoPass77 and more');
    for (const format of [[], json]) {
      const { out, err } = await stack.run([...declared, '--try', ...format], 2);
      expect(out).toContain('the text is not a JWT');
      expect(out + err).not.toContain('HunterTwo');
    }
  });
});

describe('trueup role check fails', () => {
  it('if several targets may have the role, and names them', async () => {
    const bench = await openBench({ mounts: ['cluster', 'team/cluster'] });
    const stack = await bench.checkout(withTwoMounts(bench));
    await stack.declare();
    await stack.write('app.jwt', 'x');
    const { err } = await stack.run(check, 1);
    expect(err).toBe('error: role "web" may be at "prod", "test": name one of them with --target\n');
    await stack.declare(role('web', {}, { target: 'test' }));
    expect((await stack.run(check, 2)).out).toContain('of target "test"');
    expect((await stack.run([...check, '--target', 'prod'], 2)).out).toContain('of target "prod"');
    const wrong = await stack.run([...check, '--target', 'acme'], 1);
    expect(wrong.err).toContain('the stack has no target "acme" with roles: it has "prod", "test"');
  });

  it('for a name that no role can have', async () => {
    const { stack } = await openScene();
    const { out } = await stack.run(['role', 'check', '../x', '--jwt', 'app.jwt', ...json], 1);
    expect(JSON.parse(out)).toMatchObject({ diagnostics: [{ code: 'unknown-role' }] });
  });

  it('without a file for the JWT', async () => {
    const { stack } = await openScene();
    const { err } = await stack.run(['role', 'check', 'web', '--jwt', 'nowhere.jwt'], 1);
    expect(err).toContain('it has to hold the JWT to log in with');
    expect((await stack.run(['role', 'check', 'web'], 1)).err).toContain("'--jwt <file>' not specified");
  });

  it('if standard input would be both the stack and the JWT', async () => {
    const { stack } = await openScene();
    const { err } = await stack.run(['role', 'check', 'web', '-', '--jwt', '-'], 1);
    expect(err).toContain('standard input can bring the stack or the JWT, not both');
  });

  it('for the declared role of invalid manifests, but not for the live role', async () => {
    const { stack } = await openLiveScene();
    await stack.write('manifests/more.yaml', 'apiVersion: trueup.dev/v1\nkind: Wrong\n');
    expect((await stack.run(declared, 7)).err).toContain('Wrong');
    await stack.run(check, 0);
  });

  it('if the service refuses to show the role', async () => {
    const { stack, bench } = await openLiveScene();
    bench.wire.add({ path: /role\/web$/, fault: { answer: 403, body: { errors: ['permission denied'] } } });
    const { err } = await stack.run(check, 1);
    expect(err).toContain('cannot be read with this token');
  });
});

/** Like the stack of the bench, with a second mount. */
function withTwoMounts({ wire: { url } }: Bench): StackOptions {
  const mount = { service: 'cluster-auth', url, token: { env: 'SERVICE_TOKEN' }, dialect: 'neutral' };
  const targets = [
    { ...mount, name: 'prod', mount: 'cluster' },
    { ...mount, name: 'test', mount: 'team/cluster' },
  ];
  return { spec: { targets } };
}
