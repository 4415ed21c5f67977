// Secrets are planted everywhere in requests, and everything that users can read is searched for them:
// responses, errors with their causes, traces. The server repeats what it was sent, like proxies in debug mode.
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

/** All output of a run that uses a token or a login, and writes a body with a secret. */
async function outputOf(answer: (request: Recorded) => Reply, auth: TargetOptions['token']): Promise<string> {
  const server = await listen(answer);
  const output: unknown[] = [];
  const { reader, openWriter } = open({
    url: server.url,
    target: rolesTarget,
    token: auth,
    onWait: (says) => output.push(says),
  });
  const note = (outcome: unknown) => output.push(outcome);
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
  const text = inspect(output, { depth: 10, maxStringLength: null });
  return `${text}\n${output.map((one) => (one instanceof Error ? one.stack : JSON.stringify(one))).join('\n')}`;
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

describe('the output of a run', () => {
  it.each(answers)('has no token and no secret of a body when a request %s', async (_, answer) => {
    const text = await outputOf(answer, async () => token);
    expect(text).toContain('/auth/cluster/config');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it.each(answers)('has no JWT when a login %s', async (_, answer) => {
    const text = await outputOf(answer, { login: { mount: 'cluster', role: 'ci', jwt: async () => jwt } });
    expect(text).toContain('/auth/cluster/login');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it.each(answers)('has no token of a login when a request %s', async (_, answer) => {
    const text = await outputOf(
      (request) =>
        request.path.endsWith('/login')
          ? { body: { auth: { client_token: token, lease_duration: 600, renewable: true } } }
          : answer(request),
      { login: { mount: 'cluster', role: 'ci', jwt: async () => jwt } },
    );
    expect(text).toContain('/auth/cluster/config');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('has no part of a token that cannot be a header, or of a URL with a password', async () => {
    const server = await listen(() => ({ body: {} }));
    const url = server.url.replace('//', '//someone:planted@');
    const connection = open({ url, token: async () => `${token}\nplanted: second line` });
    const error = await connection.reader.get('/x').catch((cause: unknown) => cause);
    expect(String(error)).toContain('check the token for stray characters');
    for (const secret of secrets) expect(inspect(error, { depth: 10 })).not.toContain(secret);
    expect(server.requests).toEqual([]);
  });
});
