// Problems on the way to a service: name, port, certificate, proxy, another server at its address, its seal and its clock. Each has
// its own finding and fix. No token is sent to a server that does not answer like the service.
import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { role } from '../../support/cli/documents.ts';
import { runDoctor, parseDoctorReport } from '../../support/cli/doctor-report.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { expired, localhost } from '../../support/http/certificates.ts';
import { type Answering, listen } from '../../support/http/loopback.ts';
import { startService } from '../../support/rig/embedded-service.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { clusterAuthTarget, stackText, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** A stack with one target, at this address. */
function stackAt(
  url: string,
  more: object = {},
  target = workspacesTarget,
): { cwd: string; env: typeof secrets } {
  const cwd = temporaryFolder({
    'trueup.yaml': stackText({ targets: [target(url, more)], manifests: [] }),
    'ca.pem': localhost.cert,
    'expired.pem': expired.cert,
    'broken.pem': '-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n',
    'other.pem': expired.cert,
  });
  return { cwd, env: secrets };
}

const answering: Answering = () => ({
  status: 401,
  body: { errors: [{ status: '401', title: 'unauthorized' }] },
});

describe('trueup doctor reports about the address of a service', () => {
  it('that its name does not resolve', async () => {
    const found = await runDoctor(stackAt('https://no-such-host.invalid'));
    expect(found.one('name-unknown')).toMatchObject({
      level: 'error',
      target: 'acme',
      message: 'there is no host with the name "no-such-host.invalid"',
    });
    expect(found.of('token')).toEqual(['info unchecked']);
    expect(found.code).toBe(1);
  });

  it('that nothing listens at its port', async () => {
    const { port, close } = await listen(answering);
    await close();
    const found = await runDoctor(stackAt(`http://127.0.0.1:${port}`));
    expect(found.one('connection-refused').message).toBe(
      `nothing listens at "127.0.0.1:${port}": the connection was refused`,
    );
  });

  it('that one of two targets is down, and checks the other one', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { url: 'http://127.0.0.1:1' } });
    await stack.declare(role('web'));
    const found = await runDoctor({ cwd: stack.directory, env: stack.env });
    expect(found.of('address', 'acme')).toEqual(['error connection-refused']);
    expect(found.of('rights', 'prod')).toEqual(['ok rights']);
    expect(found).toMatchObject({ code: 1, summary: { errors: 1 } });
  });
});

describe('trueup doctor reports about a certificate', () => {
  it('that its authority is not known', async () => {
    const { url, requests } = await listen(answering, localhost);
    const found = await runDoctor(stackAt(url));
    const { message, fix } = found.one('tls-untrusted');
    expect(message).toContain('signed by an authority that is not known here: "localhost"');
    expect(fix).toContain('NODE_EXTRA_CA_CERTS');
    expect(requests).toEqual([]);
  });

  it('nothing once NODE_EXTRA_CA_CERTS or "caCert" names its authority', async () => {
    const { url } = await listen(answering, localhost);
    const { cwd, env } = stackAt(url);
    const { code, out, err } = await trueupProcess(['doctor', '--format', 'json'], {
      cwd,
      env: { ...env, NODE_EXTRA_CA_CERTS: `${cwd}/ca.pem` },
    });
    expect(parseDoctorReport(code, out, err).of('tls')).toEqual(['ok tls']);
    const found = await runDoctor(stackAt(url, { caCert: { file: 'ca.pem' } }));
    expect(found.of('tls')).toEqual(['ok tls']);
    expect(found.findings.find(({ id }) => id === 'tls')?.message).toBe(
      'certificate of "localhost", valid until 2126-10-27',
    );
  });

  it('that it has expired', async () => {
    const { url } = await listen(answering, expired);
    const found = await runDoctor(stackAt(url, { caCert: { file: 'expired.pem' } }));
    expect(found.one('tls-expired').message).toContain('has expired, on 2021-01-01');
  });

  it('that it expires soon, as a warning', async () => {
    const { url } = await listen(() => ({ status: 204 }), localhost);
    const now = () => Date.parse('2126-10-20T00:00:00Z');
    const found = await runDoctor({ ...stackAt(url, { caCert: { file: 'ca.pem' } }), now });
    expect(found.one('tls-expires-soon')).toMatchObject({ level: 'warning', fix: 'renew it' });
  });

  it('that it is for another host', async () => {
    const { url } = await listen(answering, localhost);
    const found = await runDoctor(
      stackAt(url.replace('localhost', '127.0.0.1'), { caCert: { file: 'ca.pem' } }),
    );
    expect(found.one('tls-wrong-host').message).toContain('is for other names: "localhost"');
  });

  it('that the service has none, or "caCert" holds none', async () => {
    const plain = await startService({ seed: {} });
    onTestFinished(() => plain.close());
    const found = await runDoctor(stackAt(plain.url.replace('http:', 'https:')));
    expect(found.of('tls')).toEqual(['error tls-missing']);
    const other = await listen(answering, localhost);
    const unusable = await runDoctor(stackAt(other.url, { caCert: { file: 'broken.pem' } }));
    expect(unusable.of('tls')).toEqual(['error tls-ca-unusable']);
    const unfit = await runDoctor(stackAt(other.url, { caCert: { file: 'other.pem' } }));
    expect(unfit.one('tls-untrusted').fix).toContain('"other.pem", the "caCert" of the target, must hold');
    const gone = await runDoctor(stackAt(other.url, { caCert: { file: 'gone.pem' } }));
    expect(gone.one('tls-ca-unusable').message).toContain('"gone.pem" cannot be read');
  });
});

const password = 'planted-proxy-password-77aa';

/** A proxy that leads to one server, or refuses with a status. */
async function openProxy(
  to: number | { readonly refuses: number },
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      asked.push(String(chunk).split('\r\n')[0] ?? '');
      if (typeof to !== 'number') {
        socket.end(`HTTP/1.1 ${to.refuses} X\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const onward = connect(to, '127.0.0.1', () => {
        // Without TLS a client sends the request itself.
        if (String(chunk).startsWith('CONNECT')) socket.write('HTTP/1.1 200 OK\r\n\r\n');
        else onward.write(chunk);
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
    });
  });
  const { port } = await listenForTest(server);
  return { url: `http://user:${password}@127.0.0.1:${port}`, asked };
}

describe('trueup doctor reports about a proxy', () => {
  const service = 'http://service.internal:8080';

  it('which one is used, and from which variable, without showing its password', async () => {
    const { port } = await listen(answering);
    const proxy = await openProxy(port);
    const stack = stackAt(service);
    const found = await runDoctor({ ...stack, env: { ...stack.env, HTTP_PROXY: proxy.url } });
    expect(found.of('proxy')).toEqual(['ok proxy']);
    expect(found.findings.find(({ id }) => id === 'proxy')?.message).toMatch(
      /^"http:\/\/127\.0\.0\.1:\d+", from the variable "HTTP_PROXY"$/,
    );
    expect(found.of('token')).toEqual(['error token-refused']);
    expect(proxy.asked.length).toBeGreaterThan(0);
    expect(found.written).not.toContain(password);
  });

  it('that it works, although the certificate that comes through it is not trusted', async () => {
    const { port, requests } = await listen(answering, localhost);
    const proxy = await openProxy(port);
    const stack = stackAt('https://service.internal');
    const found = await runDoctor({ ...stack, env: { ...stack.env, HTTPS_PROXY: proxy.url } });
    expect(found.of('tls')).toEqual(['error tls-untrusted']);
    expect(found.of('proxy')).toEqual(['ok proxy']);
    expect(requests).toEqual([]);
  });

  it('that it requires a login, or refuses the host', async () => {
    const stack = stackAt('https://service.internal');
    const login = await openProxy({ refuses: 407 });
    const found = await runDoctor({ ...stack, env: { ...stack.env, https_proxy: login.url } });
    expect(found.one('proxy-login').fix).toContain('http://USER:PASSWORD@');
    expect(found.written).not.toContain(password);
    const { url } = await openProxy({ refuses: 403 });
    const refused = await runDoctor({ ...stack, env: { ...stack.env, https_proxy: url } });
    expect(refused.of('proxy')).toEqual(['error proxy-refused']);
    // No certificate was seen.
    expect([...found.of('tls'), ...refused.of('tls')]).toEqual(['info unchecked', 'info unchecked']);
    expect(refused.of('service')).toEqual(['info unchecked']);
  });

  it('that it is down, does not resolve, or is not an address', async () => {
    const stack = stackAt(service);
    const through = (http_proxy: string) => runDoctor({ ...stack, env: { ...stack.env, http_proxy } });
    const down = await through(`http://user:${password}@127.0.0.1:1`);
    expect(down.one('proxy-unreachable').fix).toContain('NO_PROXY');
    expect(down.written).not.toContain(password);
    expect((await through('http://no-such-proxy.invalid:3128')).of('proxy')).toEqual([
      'error proxy-name-unknown',
    ]);
    const invalid = await through(`socks5://user:${password}@proxy`);
    expect(invalid.of('proxy')).toEqual(['error proxy-invalid']);
    expect(invalid.written).not.toContain(password);
  });

  it.each(['service.invalid', '.invalid', '*.invalid', '*', 'other, service.invalid:8080'])(
    'nothing for a host that NO_PROXY (%s) names, which is reached directly',
    async (NO_PROXY) => {
      const proxy = await openProxy({ refuses: 407 });
      const stack = stackAt('http://service.invalid:8080');
      const found = await runDoctor({ ...stack, env: { ...stack.env, HTTP_PROXY: proxy.url, NO_PROXY } });
      expect(found.of('address')).toEqual(['error name-unknown']);
      expect(proxy.asked).toEqual([]);
    },
  );

  it.each(['ervice.invalid', 'service.invalid:80', '*.service.invalid'])(
    'problems for a host that NO_PROXY (%s) does not name',
    async (NO_PROXY) => {
      const proxy = await openProxy({ refuses: 407 });
      const stack = stackAt('http://service.invalid:8080');
      const found = await runDoctor({ ...stack, env: { ...stack.env, HTTP_PROXY: proxy.url, NO_PROXY } });
      expect(found.of('proxy')).toEqual(['error proxy-login']);
    },
  );
});

describe('trueup doctor reports that the server at the address', () => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<html><title>Sign in</title></html>' };

  it.each([200, 403, 404])('answers with a page and is not the service (%i)', async (status) => {
    const { url, requests } = await listen(() => ({ status, ...page }));
    const found = await runDoctor(stackAt(url));
    expect(found.one('service-foreign').message).toContain('a page "Sign in"');
    expect(found.one('service-foreign').fix).toContain('correct the "url" of the target');
    expect(JSON.stringify(requests)).not.toContain(secrets.API_TOKEN);
  });

  it('redirects to a relative address, whose parameters are not shown', async () => {
    const location = '/login?state=planted-parameter-5c1';
    const { url } = await listen(() => ({ status: 302, headers: { location } }));
    const found = await runDoctor(stackAt(url));
    expect(found.one('service-redirects').message).toContain('it redirects to "/login"');
    expect(found.written).not.toContain('planted-parameter');
  });

  it('redirects to another host, to which no token is sent', async () => {
    const other = await listen(answering);
    const { url, requests } = await listen(() => ({
      status: 302,
      headers: { location: `${other.url}/login?state=planted-parameter-5c1` },
    }));
    const found = await runDoctor(stackAt(url));
    expect(found.one('service-redirects').message).toContain(`it redirects to "${other.url}/login"`);
    expect(found.written).not.toContain('planted-parameter');
    expect(other.requests).toEqual([]);
    expect(JSON.stringify(requests)).not.toContain(secrets.API_TOKEN);
  });

  it('is a gateway whose service is down', async () => {
    const { url } = await listen(() => ({ status: 502, ...page }));
    expect((await runDoctor(stackAt(url))).of('service')).toEqual(['error service-failing']);
  });

  it.each([
    [{ initialized: false, sealed: true }, 'error service-uninitialized'],
    [{ initialized: true, sealed: true }, 'error service-sealed'],
    [
      { initialized: true, sealed: false, standby: true, replication_dr_mode: 'secondary' },
      'error service-standby',
    ],
    [{ initialized: true, sealed: false, standby: true }, 'info service-standby'],
  ])('is a secrets service in the state %j', async (body, level) => {
    const { url } = await listen(({ path }) =>
      path.startsWith('/v1/sys/health') ? { body } : { status: 403, body: { errors: ['permission denied'] } },
    );
    const found = await runDoctor(stackAt(url, {}, clusterAuthTarget));
    expect(found.of('service')).toEqual([level]);
  });

  it('has another time, as a warning', async () => {
    const late = await listen(({ path }) => ({
      status: 200,
      headers: { date: new Date(Date.now() - 600_000).toUTCString() },
      body: path.includes('/workspaces') ? { data: [] } : { data: { attributes: {} } },
    }));
    const found = await runDoctor(stackAt(late.url, { dialect: 'neutral' }));
    expect(found.one('clock-differs')).toMatchObject({ level: 'warning' });
    expect(found.one('clock-differs').message).toMatch(
      /^the clock of this machine is (?:9m59s|10m) ahead of that/,
    );
    expect(found).toMatchObject({ code: 0, healthy: true, summary: { warnings: 1 } });
  });

  it('does not say its time', async () => {
    const { url } = await listen(answering);
    expect((await runDoctor(stackAt(url))).of('clock')).toEqual(['info clock-unknown']);
  });
});
