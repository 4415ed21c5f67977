/** `trueup serve --tls-cert --tls-key`: the service over TLS, for clients that discover the API of a host. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { localhost } from '../../support/http/certificates.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const SEED = `users: [{ username: ann, token: ann-token }]
organizations: [{ name: acme, teams: [{ name: owners, members: [ann] }] }]
mounts: [kubernetes]
service-tokens: [{ token: root-token, policies: [root] }]
`;

function files() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return temporaryFolder({
    'cert.pem': localhost.cert,
    'key.pem': localhost.key,
    'other.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }),
    'seed.yaml': SEED,
  });
}

const TLS = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];

/** Reads one path of a service that is trusted for its certificate. */
async function read(url: string, headers: Record<string, string> = {}) {
  const dispatcher = new Agent({ connect: { ca: localhost.cert } });
  onTestFinished(() => dispatcher.close());
  const answer = await request(url, { dispatcher, headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

describe('trueup serve with a certificate and its key', () => {
  it('speaks TLS, and has https in its address, in links and in the command to try', async () => {
    const cwd = files();
    const { line, waitForText, stop } = await serveProcess(
      ['--seed', 'seed.yaml', '--dialect', 'hcp-terraform', ...TLS],
      {
        cwd,
      },
    );
    const url = /https:\/\/localhost:\d+/.exec(line)?.[0] ?? '';
    expect(line).toBe(`trueup serves ${url} from ${join(cwd, '.trueup', 'embedded.db')}`);
    expect(await waitForText(/curl .*\n/)).toContain(
      `--cacert 'cert.pem' -H @- ${url}/api/v2/account/details\n`,
    );
    expect(readFileSync(join(cwd, '.trueup', 'embedded.db.url'), 'utf8')).toBe(`${url}\n`);
    const list = await read(`${url}/api/v2/organizations/acme/workspaces`, {
      authorization: 'Bearer ann-token',
    });
    expect(JSON.parse(list.text)).toMatchObject({
      links: { self: expect.stringContaining(`${url}/api/v2/organizations/acme/workspaces?`) },
    });
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
    expect((await stop()).err).toBe('');
  });

  it('accepts the method LIST over TLS, too', async () => {
    const { line } = await serveProcess(
      ['--data', ':memory:', '--seed', 'seed.yaml', '--dialect', 'vault', ...TLS],
      { cwd: files() },
    );
    const socket = connect({
      port: Number(new URL(/https:\S+/.exec(line)?.[0] ?? '').port),
      ca: localhost.cert,
      host: 'localhost',
    });
    await once(socket, 'secureConnect');
    socket.end(
      'LIST /v1/auth/kubernetes/role HTTP/1.1\r\nHost: localhost\r\nX-Vault-Token: root-token\r\nConnection: close\r\n\r\n',
    );
    // Without roles the answer is a 404 without errors.
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 .*\{"errors":\[\]\}/s);
  });

  it('locks its data file, and a second one reports the address of the first', async () => {
    const cwd = files();
    await serveProcess(TLS, { cwd });
    const second = await trueup(['serve', ...TLS], { cwd });
    expect(second.code).toBe(1);
    expect(second.err).toMatch(/is served already: at https:\/\/localhost:\d+ by process \d+/);
  });
});

describe('trueup serve refuses', () => {
  it.each([
    [['--tls-cert', 'cert.pem'], '--tls-cert and --tls-key go together: name both files, or neither'],
    [['--tls-key', 'key.pem'], '--tls-cert and --tls-key go together: name both files, or neither'],
    [
      ['--tls-cert', 'gone.pem', '--tls-key', 'key.pem'],
      'the certificate "gone.pem" cannot be read: there is no such file or folder',
    ],
    [['--tls-cert', 'cert.pem', '--tls-key', '.'], 'the key "." cannot be read: it is a folder, not a file'],
    [
      ['--tls-cert', 'cert.pem', '--tls-key', 'other.pem'],
      '"cert.pem" and "other.pem" are not a certificate and its key',
    ],
    [
      ['--tls-cert', 'seed.yaml', '--tls-key', 'key.pem'],
      '"seed.yaml" and "key.pem" are not a certificate and its key',
    ],
  ])('%j', async (flags, why) => {
    const { code, out, err } = await trueup(['serve', '--data', ':memory:', ...flags], { cwd: files() });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`error: ${why}`);
    expect(err).not.toContain('ann-token');
  });
});
