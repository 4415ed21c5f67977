// Users log in to the console of a fleet with OpenID Connect: who may log in, what they see, and for how long.
import { randomUUID } from 'node:crypto';
import { EncryptJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OidcSettings } from '../../../src/commands/fleet/console/oidc-settings.ts';
import type { ConsoleSettings } from '../../../src/commands/fleet/console/settings.ts';
import { openConsole } from '../../support/fleet/console.ts';
import { ConsoleUser } from '../../support/fleet/console-user.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { client, openIssuer } from '../../support/fleet/issuer.ts';
import { seedFleet } from '../../support/fleet/seed-console.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const teams: ConsoleSettings['teams'] = {
  all: { groups: ['platform-admins'], stacks: ['**'] },
  data: { groups: ['data-readers'], stacks: ['data/**'] },
};

const env = { CLIENT_SECRET: client.secret, SESSION_KEY: 'key-of-sessions-0123456789-abcdef' };

/** A console, its issuer, and users. `change` is what fleet.yaml says now. */
async function openLogin({ isPublic = false, metricsToken = undefined as string | undefined } = {}) {
  const database = await openFleetDatabase(server);
  await seedFleet(database.client, 40);
  const issuer = await openIssuer({ isPublic });
  const change: { oidc: Partial<OidcSettings>; teams: ConsoleSettings['teams']; later: number } = {
    ...{ oidc: {}, teams, later: 0 },
  };
  const values: Record<string, string> = { ...env };
  const console = await openConsole(database.address, {
    ...{ env: values, metricsToken, now: () => Date.now() + change.later },
    settings: (url) => ({
      teams: change.teams,
      oidc: {
        ...{ issuer: issuer.url, clientId: client.id, url, sessionKey: { env: 'SESSION_KEY' } },
        ...(isPublic ? {} : { clientSecret: { env: 'CLIENT_SECRET' } }),
        ...change.oidc,
      },
    }),
  });
  const user = async (groups: unknown, claims: JWTPayload = {}) => {
    issuer.claims = { sub: 'u-1', email: 'ann@example.com', groups, ...claims };
    const one = new ConsoleUser(console);
    return { one, last: await one.logIn() };
  };
  return { console, issuer, change, values, user };
}

const places = ['/', '/activity', '/access', '/capacity', '/health', '/nothing'];
const exports = ['/activity.csv', '/activity.json', '/metrics'];

describe.skipIf(bin === undefined)('The login of the console', () => {
  it("shows a user the stacks of the user's teams, and nothing to a user in no team", async () => {
    const { user, console, issuer } = await openLogin();
    const { one, last } = await user(['others', 'data-readers']);
    expect(last.status).toBe(303);
    expect(last.headers.location).toBe(`${console.url}/`);
    const page = await one.ask('/');
    expect(page.text).toContain('of 8 stacks');
    expect(page.text).toMatch(/ann@example\.com.*<button>Sign out<\/button>/s);
    for (const place of [...places, ...exports, '/activity.csv?event=apply'])
      expect((await one.ask(place)).text, place).not.toMatch(/payments\/teams|platform\/teams|mobile-apps/);
    expect(JSON.parse((await one.ask('/activity.json')).text).events).not.toEqual([]);
    const { one: admin } = await user(['platform-admins']);
    expect((await admin.ask('/')).text).toContain('of 40 stacks');
    // A single group may come without a list.
    const { one: single } = await user('data-readers', { email: undefined });
    expect((await single.ask('/')).text).toMatch(/of 8 stacks/);
    expect((await single.ask('/')).text).toContain('>u-1<');
    for (const groups of [
      undefined,
      [],
      ['Data-Readers'],
      'data-readers platform-admins',
      [['data-readers']],
      { data: 1 },
    ]) {
      const { one: stranger } = await user(groups);
      for (const place of [...places, ...exports])
        expect((await stranger.ask(place)).text, place).not.toMatch(/stack-0|fleet-worker|app\.example\.com/);
      expect((await stranger.ask('/')).text).toContain('There are no stacks that you may see.');
      expect(JSON.parse((await stranger.ask('/activity.json')).text).events).toEqual([]);
      expect((await stranger.ask('/metrics')).text).toMatch(/^trueup_fleet_stacks\{standing="in-sync"\} 0$/m);
    }
    // The metadata of the issuer is read once.
    expect(issuer.lines.filter((line) => line.endsWith('openid-configuration'))).toHaveLength(1);
    expect(issuer.asked?.get('scope')).toBe('openid email groups');
  });

  it('sends browsers without a session to the login, and answers 401 to programs', async () => {
    const { console, issuer } = await openLogin();
    const stranger = new ConsoleUser(console);
    for (const place of [...places, '/stack?repository=data&path=x', '/activity.csv']) {
      const answer = await stranger.ask(place);
      expect(answer.status, place).toBe(303);
      const to = place === '/' ? '' : `?${new URLSearchParams({ to: place })}`;
      expect(answer.headers.location).toBe(`/login${to}`);
    }
    for (const place of exports) {
      const answer = await stranger.ask(place, { accept: '*/*' });
      expect(answer.status, place).toBe(401);
      expect(answer.text).toContain('you are not logged in');
    }
    expect((await stranger.ask('/healthz')).text).toBe('ok\n');
    expect(issuer.lines).toEqual([]);
    const page = await stranger.ask('/login');
    expect(page.text).not.toMatch(/acme|stack/);
    expect(page.headers['content-security-policy']).toContain("form-action 'self'");
    // The headers of a proxy do not count here.
    const headers = { 'X-User': 'ann', 'X-Groups': 'platform-admins' };
    expect((await stranger.ask('/', { headers })).status).toBe(303);
  });

  it('leads back to the requested page, and to no other address', async () => {
    const { console } = await openLogin();
    const stranger = new ConsoleUser(console);
    const path = '/activity?event=apply&person=%C3%B6';
    const { headers } = await stranger.ask(path);
    const to = new URLSearchParams(headers.location?.split('?')[1]).get('to') ?? '';
    expect((await stranger.logIn(to)).headers.location).toBe(console.url + path);
    for (const evil of [
      ...[
        '//evil.example',
        '//evil.example/health',
        '/\\evil.example',
        '\\\\evil.example',
        'https://evil.example',
        '/.//evil.example',
      ],
      ...[
        '/\t/evil.example',
        '/%2e//evil.example',
        'javascript:alert(1)',
        'evil.example',
        `/${'x'.repeat(5000)}`,
      ],
      ...['/login?to=/', '/logout', `${console.url}.evil.example/`, '@evil.example', '/a/..//evil.example'],
    ]) {
      const fresh = new ConsoleUser(console);
      expect((await fresh.logIn(evil)).headers.location, evil).toBe(`${console.url}/`);
      // The user has a session now, so the redirect comes at once.
      const again = await fresh.ask(`/login?${new URLSearchParams({ to: evil })}`);
      expect(again.headers.location, evil).toBe(`${console.url}/`);
    }
  });

  it('accepts only an ID token of this issuer, for this console and this login, that is not expired', async () => {
    const { issuer, user, console } = await openLogin();
    const now = Math.floor(Date.now() / 1000);
    const forged: readonly [string, (claims: JWTPayload) => JWTPayload][] = [
      ['another nonce', (claims) => ({ ...claims, nonce: randomUUID() })],
      ['no nonce', ({ nonce, ...claims }) => claims],
      ['another audience', (claims) => ({ ...claims, aud: 'other-client' })],
      ['no audience', ({ aud, ...claims }) => claims],
      ['several audiences', (claims) => ({ ...claims, aud: [client.id, 'other-client'] })],
      ['another party', (claims) => ({ ...claims, azp: 'other-client' })],
      ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
      ['its time over', (claims) => ({ ...claims, exp: now - 60, iat: now - 600 })],
      ['no end', ({ exp, ...claims }) => claims],
      ['no user', ({ sub, ...claims }) => claims],
    ];
    const refused = async (what: string) => {
      const { one, last } = await user(['platform-admins']);
      expect(last.status, what).toBe(403);
      expect(last.text).toContain('you are not signed in');
      expect([...one.cookies.keys()], what).not.toContain('trueup-session');
      expect((await one.ask('/')).status, what).toBe(303);
    };
    for (const [what, forge] of forged) {
      issuer.forge = forge;
      await refused(what);
    }
    issuer.forge = undefined;
    issuer.hasOtherKey = true;
    await refused('the signature of another one');
    issuer.hasOtherKey = false;
    expect((await user(['platform-admins'])).last.status).toBe(303);
    expect(console.failures).toHaveLength(forged.length + 1);
    const messages = console.failures.map(String).join('\n');
    for (const secret of [...issuer.secrets, ...Object.values(env)]) expect(messages).not.toContain(secret);
    expect(messages).toContain('a login at the console failed: the ID token has another nonce');
  });

  it('refuses an answer of another browser, with another state, or that comes too late', async () => {
    const { console, issuer, change } = await openLogin();
    issuer.claims = { sub: 'u-1', groups: ['platform-admins'] };
    const [ann, bob] = [new ConsoleUser(console), new ConsoleUser(console)];
    const back = await ann.startLogin();
    await bob.startLogin();
    for (const [who, path] of [
      [new ConsoleUser(console), back],
      [bob, back],
      [ann, back.replace(/state=[^&]*/, 'state=other')],
    ] as const) {
      const answer = await who.ask(path);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('begun in another browser');
    }
    // The state of the library alone, or the cookie of the console alone, is not enough.
    for (const lost of ['trueup-state', 'trueup-login', 'trueup-verifier']) {
      const path = await ann.startLogin();
      ann.cookies.delete(lost);
      expect((await ann.ask(path)).status, lost).toBe(lost === 'trueup-verifier' ? 403 : 400);
      expect([...ann.cookies.keys()]).not.toContain('trueup-session');
    }
    const other = (await ann.startLogin()).replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example');
    expect((await ann.ask(other)).text).toContain('not from the issuer');
    const denied = (await ann.startLogin()).replace(
      /code=[^&]*/,
      'error=access_denied&error_description=%3Cb%3E',
    );
    expect((await ann.ask(denied)).text).toContain('did not sign you in: access_denied.');
    const late = await ann.startLogin();
    change.later = 601_000;
    expect((await ann.ask(late)).status).toBe(400);
    expect(issuer.lines.filter((line) => line === 'POST /token')).toHaveLength(1);
    change.later = 0;
    const good = await ann.startLogin();
    const kept = new Map(ann.cookies);
    expect((await ann.ask(good)).status).toBe(303);
    const thief = new ConsoleUser(console);
    for (const [name, value] of kept) thief.cookies.set(name, value);
    expect((await thief.ask(good)).status).toBe(403);
  });

  it('knows a user for eight hours by a cookie that cannot be forged', async () => {
    const { console, issuer, change, user, values } = await openLogin();
    const { one } = await user([
      'data-readers',
      ...Array.from({ length: 3000 }, (_, index) => `group-${index}`),
    ]);
    const text = one.cookies.get('trueup-session') ?? '';
    expect(text.length).toBeLessThan(1000);
    expect((await one.ask('/')).text).toContain('of 8 stacks');
    const status = async (cookie: string) => {
      const other = new ConsoleUser(console);
      other.cookies.set('trueup-session', cookie);
      return (await other.ask('/')).status;
    };
    expect(await status(text)).toBe(200);
    // One character of the content, and one of its authentication tag.
    for (const at of [text.lastIndexOf('.') - 8, text.length - 8]) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(await status(changed), `${at}`).toBe(303);
    }
    const forged = new EncryptJWT({ user: 'eve', groups: ['platform-admins'] })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'session' })
      .setIssuer(issuer.url)
      .setAudience(client.id)
      .setExpirationTime('1h');
    expect(await status(await forged.encrypt(new Uint8Array(32)))).toBe(303);
    // The cookie of a login is not a session, although the same key encrypts it.
    const begun = new ConsoleUser(console);
    await begun.startLogin();
    expect(await status(begun.cookies.get('trueup-login') ?? '')).toBe(303);
    values['SESSION_KEY'] = `${env.SESSION_KEY}x`;
    expect(await status(text)).toBe(303);
    values['SESSION_KEY'] = env.SESSION_KEY;
    // Groups of one claim are not valid for another claim.
    for (const oidc of [
      { issuer: 'https://other.example' },
      { clientId: 'other' },
      { groupsClaim: 'roles' },
      { userClaim: 'name' },
    ]) {
      change.oidc = oidc;
      expect(await status(text)).toBe(303);
    }
    change.oidc = {};
    change.later = 8 * 3600_000 - 5000;
    expect(await status(text)).toBe(200);
    change.later = 8 * 3600_000 + 1000;
    expect(await status(text)).toBe(303);
    expect(one.setCookies.find((cookie) => cookie.startsWith('trueup-session='))).toMatch(
      /; Max-Age=28800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    for (const secret of issuer.secrets) expect(one.setCookies.join('\n')).not.toContain(secret);
  });

  it('binds cookies to TLS and to its own host, and answers under its own name only', async () => {
    const { console, issuer, change } = await openLogin();
    change.oidc = { url: 'https://fleet.example.com' };
    issuer.claims = { sub: 'u-1', groups: ['data-readers'] };
    const one = new ConsoleUser(console, 'fleet.example.com');
    expect((await one.logIn('/health')).headers.location).toBe('https://fleet.example.com/health');
    expect(issuer.asked?.get('redirect_uri')).toBe('https://fleet.example.com/login/callback');
    expect(issuer.asked?.get('code_challenge_method')).toBe('S256');
    expect([...one.cookies.keys()]).toEqual(['__Host-trueup-session']);
    for (const cookie of one.setCookies) {
      expect(cookie).toMatch(/^__Host-.*; HttpOnly; Secure; SameSite=Lax$/);
      expect(cookie).toContain('; Path=/;');
      expect(cookie).not.toContain('Domain');
    }
    expect((await one.ask('/')).status).toBe(200);
    for (const host of ['evil.example', 'fleet.example.com:8090', '127.0.0.1']) {
      const other = new ConsoleUser(console, host);
      other.cookies.set('__Host-trueup-session', one.cookies.get('__Host-trueup-session') ?? '');
      for (const place of ['/', '/login', '/activity.json', '/metrics'])
        expect((await other.ask(place)).status, `${host}${place}`).toBe(403);
    }
    expect((await one.ask('/healthz')).status).toBe(200);
  });

  it('ends the session only with the button that is on each page', async () => {
    const { user } = await openLogin();
    const { one } = await user(['data-readers']);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'null' };
    const other = { method: 'POST', headers: { ...form, 'Sec-Fetch-Site': 'cross-site' } };
    expect((await one.ask('/logout', other)).status).toBe(403);
    expect((await one.ask('/logout')).status).toBe(404);
    expect((await one.ask('/activity', { method: 'POST' })).status).toBe(405);
    expect((await one.ask('/')).status).toBe(200);
    const own = { method: 'POST', headers: { ...form, 'Sec-Fetch-Site': 'same-origin' } };
    const ended = await one.ask('/logout', own);
    expect(ended.headers.location).toMatch(/^http:\/\/127.*\/signed-out$/);
    expect((await one.ask('/signed-out')).text).toContain('You are signed out.');
    expect((await one.ask('/')).status).toBe(303);
  });

  it('keeps sessions while the issuer is down, reports it, and finds the issuer at the next login', async () => {
    const { issuer, user, console, change } = await openLogin();
    issuer.isDown = true;
    const early = new ConsoleUser(console);
    const failed = await early.ask('/login');
    expect(failed.status).toBe(503);
    expect(failed.text).toContain('The issuer that signs users in cannot be used now.');
    expect(console.failures.map(String)).toEqual([
      `Error: a login at the console failed: the issuer "${issuer.url}" cannot be reached: it answers 500`,
    ]);
    expect((await early.ask('/healthz')).status).toBe(200);
    issuer.isDown = false;
    const { one } = await user(['data-readers']);
    const late = new ConsoleUser(console);
    const back = await late.startLogin();
    issuer.isDown = true;
    expect((await late.ask(back)).status).toBe(503);
    expect((await one.ask('/')).status).toBe(200);
    issuer.isDown = false;
    expect((await user(['data-readers'])).last.status).toBe(303);
    const messages = () => console.failures.map(String).at(-1);
    change.oidc = { issuer: `${issuer.url}/` };
    expect((await early.ask('/login')).status).toBe(503);
    expect(messages()).toContain(`calls itself "${issuer.url}"`);
    change.oidc = { issuer: 'http://127.0.0.1:1' };
    expect((await early.ask('/login')).status).toBe(503);
    expect(messages()).toMatch(/"http:\/\/127\.0\.0\.1:1" cannot be reached: .+/);
  });

  it('follows a changed fleet.yaml: other teams, another client, unusable variables', async () => {
    const { user, change, values, console, issuer } = await openLogin();
    const { one } = await user(['data-readers', 'platform-admins']);
    expect((await one.ask('/')).text).toContain('of 40 stacks');
    change.teams = { data: { groups: ['data-readers'], stacks: ['data/**'] } };
    expect((await one.ask('/')).text).toContain('of 8 stacks');
    values['CLIENT_SECRET'] = 'another secret that is wrong';
    change.oidc = { scopes: ['roles'], groupsClaim: 'roles', userClaim: 'name' };
    const wrong = await user([]);
    expect(wrong.last.status).toBe(503);
    expect(String(console.failures.at(-1))).toContain(
      'does not accept the console as a client: invalid_client',
    );
    expect(issuer.asked?.get('scope')).toBe('openid roles');
    values['CLIENT_SECRET'] = client.secret;
    const right = await user([], { roles: ['data-readers'], name: '<i>Ann' });
    expect((await right.one.ask('/')).text).toContain('of 8 stacks');
    expect((await right.one.ask('/')).text).toContain('&lt;i&gt;Ann');
    values['SESSION_KEY'] = 'short';
    const answer = await right.one.ask('/');
    expect(answer.status).toBe(503);
    expect(answer.text).toBe('the console cannot log anybody in: see the log of the worker\n');
    const { length } = console.failures;
    await right.one.ask('/login');
    expect(console.failures).toHaveLength(length);
    expect(String(console.failures.at(-1))).toContain('"SESSION_KEY" is shorter than 32 bytes');
  });

  it('logs in as a public client, and gives metrics to callers with their token', async () => {
    const { user, console } = await openLogin({ isPublic: true, metricsToken: 'planted-token' });
    const { one, last } = await user(['data-readers']);
    expect(last.status).toBe(303);
    expect((await one.ask('/')).text).toContain('of 8 stacks');
    expect((await one.ask('/metrics')).status).toBe(401);
    const metrics = await console.get('/metrics', { Authorization: 'Bearer planted-token' });
    expect(metrics.text).toContain('trueup_fleet_workers');
  });

  it('shows an error if the groups of teams do not fit into a cookie', async () => {
    const { user, change } = await openLogin();
    const groups = Array.from({ length: 400 }, (_, index) => `group-${index}`);
    change.teams = { many: { groups, stacks: ['**'] } };
    const { one, last } = await user(groups);
    expect(last.status).toBe(403);
    expect(last.text).toContain('You are in so many groups of teams');
    expect([...one.cookies.keys()]).toEqual([]);
  });
});
