// The connection to the audit trail: one path, one verb, its own token.
import { expect, it, onTestFinished } from 'vitest';
import { findDialect } from '../../src/api/dialects.ts';
import { openAuditTrail } from '../../src/api/open-target.ts';
import { auditsOnly } from '../../src/api/transport/dispatcher.ts';
import { KnownSecrets } from '../../src/redaction/known-secrets.ts';
import { MockAgent, request } from 'undici';
import { type Answering, listen } from '../support/http/loopback.ts';
import { workspacesTarget } from '../support/http/open-for-test.ts';

async function openAt(answer: Answering, secrets = new KnownSecrets()) {
  const service = await listen(answer);
  const dialect = findDialect('workspaces', 'hcp-terraform') ?? expect.unreachable();
  const channel = openAuditTrail({
    target: workspacesTarget,
    url: `${service.url}/below`,
    dialect,
    userAgent: 'trueup/test',
    secrets,
    token: async () => 'the-audit-token',
  });
  onTestFinished(() => channel.close());
  return { service, channel };
}

it('a trail is requested with its own token, as plain JSON', async () => {
  const { service, channel } = await openAt(() => ({ body: { data: [] } }));
  await channel.get('page%5Bnumber%5D=1');
  expect(service.lines).toEqual(['GET /below/api/v2/organization/audit-trail?page%5Bnumber%5D=1']);
  expect(service.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer the-audit-token',
    accept: 'application/json',
  });
  expect(channel.requests()).toBe(1);
});

it('a trail is returned with the names of the service itself', async () => {
  const data = [{ sentinel: 'x', 'terraform-version': '1' }];
  const { channel } = await openAt(() => ({ body: { data } }));
  expect((await channel.get('')).body).toEqual({ data });
});

it('the token of a trail is a secret, even if the service repeats it', async () => {
  const secrets = new KnownSecrets();
  const refusal = { status: 403, body: { errors: [{ title: 'no the-audit-token' }] } };
  const { channel } = await openAt(() => refusal, secrets);
  expect((await channel.get('')).words).toBe('no [secret]');
  expect(secrets.redactPrinted('the-audit-token')).toBe('[secret]');
});

it('only GET of the trail can be sent over its connection', async () => {
  const agent = new MockAgent();
  onTestFinished(() => agent.close());
  agent.disableNetConnect();
  agent.get('http://x').intercept({ path: /.*/, method: 'GET' }).reply(200, 'sent').persist();
  const dispatcher = auditsOnly(agent, '/api/v2/organization/audit-trail');
  const send = (method: string, path: string) => request(`http://x${path}`, { method, dispatcher });
  expect((await send('GET', '/api/v2/organization/audit-trail?since=x')).statusCode).toBe(200);
  for (const [method, path] of [
    ['POST', '/api/v2/organization/audit-trail'],
    ['DELETE', '/api/v2/organization/audit-trail'],
    ['GET', '/api/v2/organization/audit-trail/more'],
    ['GET', '/api/v2/organizations/acme'],
    ['GET', '/api/v2/organization'],
  ] as const)
    await expect(send(method, path)).rejects.toThrow('a reader of audit trails may not send');
});
