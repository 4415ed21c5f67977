// A run that ends during its login, as a real process against a service that issues tokens. The login request is on its way when the
// run ends, and arrives afterwards.
import { describe, expect, it } from 'vitest';
import { role } from '../../support/cli/documents.ts';
import { type FaultyProxy, openFaultyProxy } from '../../support/cli/faulty-proxy.ts';
import { holdRequest } from '../../support/cli/held-request.ts';
import { type Running, startTrueup } from '../../support/cli/process.ts';
import { clusterAuthTarget, stackIn } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { type Logins, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

interface Scene {
  readonly logins: Logins;
  readonly wire: FaultyProxy;
  start(args: readonly string[]): Running;
}

/** A stack whose target logs in as the role `app`, which may read roles. */
async function openScene(): Promise<Scene> {
  const logins = await serveLogins();
  await logins.send('POST', 'sys/policies/acl/reads', {
    policy: 'path "auth/*" { capabilities = ["read", "list"] }',
  });
  await logins.role({ token_policies: ['reads'], token_ttl: '1h' });
  const wire = await openFaultyProxy(logins.url);
  const login = { mount: logins.mount, role: 'app', jwt: { file: 'ci.jwt' } };
  const directory = temporaryFolder();
  const targets = [clusterAuthTarget(wire.url, { token: { login } })];
  const stack = stackIn({ directory, stack: { targets } });
  await stack.declare(role('app', { boundServiceAccountNames: ['api'] }));
  await stack.write('ci.jwt', await logins.cluster.issue());
  return { logins, wire, start: (args) => startTrueup(args, { cwd: directory }) };
}

/** The tokens of logins that are valid now. */
async function liveTokens({ logins }: Scene): Promise<string[]> {
  const { data } = await logins.send('GET', 'auth/token/accessors?list=true');
  const found: string[] = [];
  for (const accessor of data['keys'] as string[]) {
    const { data: token } = await logins.send('POST', 'auth/token/lookup-accessor', { accessor });
    if (String(token['path']).endsWith('/login')) found.push(accessor);
  }
  return found;
}

const login = { method: 'POST', path: /\/login$/ };
const roleCheck = ['role', 'check', 'app', '--jwt', 'ci.jwt', '--against', 'declared', '--try'];

describe('A run that is interrupted while it logs in', () => {
  it.each<[NodeJS.Signals, readonly string[]]>([
    ['SIGINT', ['plan']],
    ['SIGTERM', ['apply', '--yes']],
    ['SIGTERM', roleCheck],
  ])('by %s leaves no token behind: %j', async (signal, args) => {
    const scene = await openScene();
    const held = holdRequest(login);
    scene.wire.add(held.rule);
    const running = scene.start(args);
    await held.reached;
    running.kill(signal);
    await running.waitForText(/interrupted/);
    held.release();
    const { code, out, err } = await running.ended;
    expect(code, out + err).toBe(130);
    expect(await liveTokens(scene)).toEqual([]);
    expect(scene.wire.seen.at(-1)).toMatchObject({ path: '/v1/auth/token/revoke-self', status: 204 });
  });

  it('says at its time limit what it could not read, and leaves no token behind', async () => {
    const scene = await openScene();
    const held = holdRequest(login);
    scene.wire.add(held.rule);
    const running = scene.start(['plan', '--timeout', '1s']);
    await held.reached;
    await running.waitForText(/was not read/);
    held.release();
    expect((await running.ended).code).toBe(1);
    expect(await liveTokens(scene)).toEqual([]);
  });
});
