// A worker with a console as a real process, with an issuer of another project.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trueupProcess } from '../../support/cli/process.ts';
import { refreshUrlIn } from '../../support/fleet/console-user.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { listenForTest, startListening } from '../../support/rig/listen.ts';

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

const env = {
  CLIENT_SECRET: 'planted-secret-of-the-client-0123456789',
  SESSION_KEY: 'planted-key-of-sessions-0123456789-abcdef',
};
const scopes = ['openid', 'email', 'groups'];

/** Signs all users in as ann, and requires PKCE. */
async function openProvider(callback: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const http = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/') === true)
      void provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
    else provider.callback()(request, response);
  });
  const { url } = await listenForTest(http);
  const provider = new Provider(url, {
    clients: [
      {
        ...{ client_id: 'fleet', client_secret: env.CLIENT_SECRET, redirect_uris: [callback] },
        id_token_signed_response_alg: 'ES256',
      },
    ],
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
    ...{ scopes, conformIdTokenClaims: false },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['key-of-cookies'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, groups: ['others', 'platform-admins'] }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        ...{ clientId: oidc.client.clientId, accountId: oidc.session.accountId },
      });
      grant.addOIDCScope(scopes.join(' '));
      await grant.save();
      return grant;
    },
  });
  return url;
}

/** A port without a listener. */
async function freePort(): Promise<number> {
  const { port, close } = await startListening(createServer());
  await close();
  return port;
}

/** Follows every redirect of an answer or a page with the cookies of each host, as a browser does. */
async function browse(address: string): Promise<{ text: string; answers: readonly Response[] }> {
  const jars = new Map<string, Map<string, string>>();
  const answers: Response[] = [];
  for (let next = new URL(address), round = 0; round < 20; round += 1) {
    const jar = jars.get(next.host) ?? new Map<string, string>();
    jars.set(next.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { Cookie: cookie, Accept: 'text/html' },
    });
    answers.push(answer);
    for (const text of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      jar.set(name, value);
    }
    const text = await answer.text();
    const to = answer.headers.get('location') ?? refreshUrlIn(text);
    if (to === undefined) return { text, answers };
    next = new URL(to, next);
  }
  throw new Error('there is no end');
}

describe.skipIf(bin === undefined)('fleet serve with a login', () => {
  it('logs users in at an issuer, and shows no secret', { timeout: 120_000 }, async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const issuer = await openProvider(`${url}/login/callback`);
    const oidc = {
      ...{ issuer, url, clientId: 'fleet', clientSecret: { env: 'CLIENT_SECRET' } },
      sessionKey: { env: 'SESSION_KEY' },
    };
    const teams = { all: { groups: ['platform-admins'], stacks: ['**'] } };
    const { serve } = await openFleet(server(), {
      ...{ stacks: ['one'], env, spec: { console: { oidc, teams } } },
    });
    const worker = serve('--listen', `127.0.0.1:${port}`);
    await worker.waitForText(/the console is at/);
    await worker.waitForText(/infra\/one\/trueup\.yaml: no drift/);
    const { text, answers } = await browse(`${url}/activity`);
    expect(text).toContain('ann@example.com');
    expect(text).toContain('<h1>Activity</h1>');
    expect(answers.at(-1)?.url).toBe(`${url}/activity`);
    expect((await fetch(`${url}/activity.json`)).status).toBe(401);
    worker.kill('SIGTERM');
    const { out, err } = await worker.ended;
    expect(out + err + text).not.toContain('planted');
  });

  it('does not start without its variables', async () => {
    const oidc = {
      ...{ issuer: 'https://login.example.com', url: 'https://fleet.example.com', clientId: 'fleet' },
      ...{ clientSecret: { env: 'CLIENT_SECRET' }, sessionKey: { env: 'SESSION_KEY' } },
    };
    const spec = { console: { oidc, teams: {} } };
    const { folder, env: others } = await openFleet(server(), { stacks: [], spec });
    for (const [wrong, message] of [
      [{ SESSION_KEY: env.SESSION_KEY }, 'the environment variable "CLIENT_SECRET" is not set'],
      [{ CLIENT_SECRET: env.CLIENT_SECRET }, 'the environment variable "SESSION_KEY" is not set'],
      [{ ...env, SESSION_KEY: 'planted-short' }, 'in "SESSION_KEY" is shorter than 32 bytes'],
    ] as const) {
      const refused = await trueupProcess(['fleet', 'serve', '--listen', '0.0.0.0:0'], {
        cwd: folder,
        env: { ...others, ...wrong },
      });
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(message) });
      expect(refused.err).not.toContain('planted');
    }
  });
});
