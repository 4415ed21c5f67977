// Secrets are planted everywhere a request has room for them, and everything that people read is searched for them:
// answers, errors with their causes, traces. The server repeats what it was sent, as proxies in debug mode do.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { TargetOptions } from '../../src/api/open-target.ts';
import { listen, type Recorded, type Reply } from '../support/http/loopback.ts';
import { open, rolesTarget } from '../support/http/open-for-test.ts';

const token = 'hvs.planted-token';
const jwt = 'eyJhbGciOi.planted-jwt.sig';
const reviewer = 'planted "reviewer"\njwt';
const secrets = [token, jwt, reviewer, JSON.stringify(reviewer).slice(1, -1), 'planted'];

function echo(status: number) {
  return ({ headers, text }: Recorded): Reply => ({
    status,
    headers: { 'x-request-id': 'r-1', location: `https://x/?t=${headers['x-service-token']}` },
    body: { errors: [`bad header ${headers['x-service-token']}`, `bad body ${text}`] },
  });
}

/** Everything that can be read of a run that uses a token or a login, and writes a body with a secret. */
async function said(answer: (request: Recorded) => Reply, auth: TargetOptions['token']): Promise<string> {
  const server = await listen(answer);
  const heard: unknown[] = [];
  const { reader, openWriter } = open({
    url: server.url,
    target: rolesTarget,
    token: auth,
    onWait: (says) => heard.push(says),
  });
  const note = (outcome: unknown) => heard.push(outcome);
  await reader.get('/auth/cluster/config').then(note, note);
  await openWriter()
    .send({
      method: 'POST',
      path: '/auth/cluster/config',
      body: { cluster_host: 'k', token_reviewer_jwt: reviewer },
      repeatable: true,
      secrets: [reviewer],
    })
    .then(note, note);
  const text = inspect(heard, { depth: 10, maxStringLength: null });
  return `${text}\n${heard.map((one) => (one instanceof Error ? one.stack : JSON.stringify(one))).join('\n')}`;
}

const answers: [string, (request: Recorded) => Reply][] = [
  ['is refused', echo(400)],
  ['is forbidden', echo(403)],
  ['is redirected', echo(307)],
  ['meets a broken service', echo(500)],
  ['gets no answer', () => 'drop'],
  [
    'gets a web page',
    ({ text, headers }) => ({ body: `<html>${headers['x-service-token']} ${text}</html>` }),
  ],
  [
    'is refused by a web page',
    ({ text, headers }) => ({ status: 502, body: `<html>${headers['x-service-token']} ${text}` }),
  ],
];

describe('what a run says', () => {
  it.each(answers)('holds no token and no secret of a body when a request %s', async (_, answer) => {
    const text = await said(answer, async () => token);
    expect(text).toContain('/auth/cluster/config');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it.each(answers)('holds no JWT when a login %s', async (_, answer) => {
    const text = await said(answer, { login: { mount: 'cluster', role: 'ci', jwt: async () => jwt } });
    expect(text).toContain('/auth/cluster/login');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it.each(answers)('holds no token of a login when a request %s', async (_, answer) => {
    const text = await said(
      (request) =>
        request.path.endsWith('/login')
          ? { body: { auth: { client_token: token, lease_duration: 600, renewable: true } } }
          : answer(request),
      { login: { mount: 'cluster', role: 'ci', jwt: async () => jwt } },
    );
    expect(text).toContain('/auth/cluster/config');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('holds no part of a token that cannot be put into a header, or of a URL with a password', async () => {
    const server = await listen(() => ({ body: {} }));
    const url = server.url.replace('//', '//someone:planted@');
    const connection = open({ url, token: async () => `${token}\nplanted: second line` });
    const error = await connection.reader.get('/x').catch((cause: unknown) => cause);
    expect(String(error)).toContain('check the token for stray characters');
    for (const secret of secrets) expect(inspect(error, { depth: 10 })).not.toContain(secret);
    expect(server.requests).toEqual([]);
  });
});
