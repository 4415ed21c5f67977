// Services that cannot be reached: the message says what was tried, what happened and what to do, for each cause that a user
// can meet. Sockets, certificates and proxies are real.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { TargetOptions } from '../../../src/api/open-target.ts';
import { WireError } from '../../../src/model/http.ts';
import { localhost } from '../../support/http/certificates.ts';
import { listen } from '../../support/http/loopback.ts';
import { open } from '../../support/http/open-for-test.ts';
import { listenForTest } from '../../support/rig/listen.ts';

async function messageOf(options: { url: string } & Partial<TargetOptions>): Promise<string> {
  const error = await open(options)
    .reader.get('/workspaces/ws-1')
    .then(
      (answer) => `answered ${answer.status}`,
      (cause: unknown) => cause,
    );
  return error instanceof WireError ? error.message : String(error);
}

describe('a connection that cannot be opened', () => {
  it('because nothing listens', async () => {
    const server = await listen(() => ({ body: {} }));
    await server.close();
    expect(await messageOf({ url: server.url })).toBe(
      `GET ${server.url}/api/v2/workspaces/ws-1 failed: nothing listens at "127.0.0.1:${server.port}"; check the target's "url" and that the service is up (tried 3 times)`,
    );
  });

  it('because the host does not exist, which is not tried again', async () => {
    expect(await messageOf({ url: 'http://no-such-host.invalid' })).toMatch(
      /no-such-host\.invalid.*; check (the target's "url"|the DNS server)/,
    );
  });
});

it.each(['HTTPS_PROXY', 'https_proxy'])(
  'a proxy that does not exist is reported instead of the target (%s)',
  async (name) => {
    const env = { [name]: 'http://no-such-proxy.invalid:3128' };
    const message = await messageOf({ url: 'https://192.0.2.7:8443', env });
    expect(message).toMatch(/name of the proxy "http:\/\/no-such-proxy\.invalid:3128".*; check HTTPS_PROXY/);
    expect(message).not.toContain("check the target's");
  },
);

it('headers that are too large are reported with the way out', async () => {
  const { port } = await listenForTest(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(200_000)}\r\n\r\n`);
    }),
  );
  expect(await messageOf({ url: `http://127.0.0.1:${port}` })).toMatch(
    /the headers of the answer .* are larger than any service sends; check that the target's "url"/,
  );
});

describe('a certificate', () => {
  it('of an unknown authority suggests caCert', async () => {
    const server = await listen(() => ({ body: {} }), localhost);
    expect(await messageOf({ url: server.url })).toBe(
      `GET ${server.url}/api/v2/workspaces/ws-1 failed: the certificate of "localhost:${server.port}" is signed by an authority that is not known here; give the authority's certificate as "caCert" of the target`,
    );
  });

  it('is trusted when its authority is given', async () => {
    const server = await listen(() => ({ body: { data: 'here' } }), localhost);
    expect(await messageOf({ url: server.url, caCert: localhost.cert })).toBe('answered 200');
  });

  it('for another name is not trusted', async () => {
    const server = await listen(() => ({ body: {} }), localhost);
    const url = `https://127.0.0.1:${server.port}`;
    expect(await messageOf({ url, caCert: localhost.cert })).toContain(
      `the certificate of "127.0.0.1:${server.port}" is for other names`,
    );
  });

  it('in another format than PEM is named', async () => {
    const server = await listen(() => ({ body: {} }), localhost);
    expect(await messageOf({ url: server.url, caCert: 'not a certificate' })).toMatch(/"caCert"/);
  });
});

describe('the wrong protocol', () => {
  it('https for a server with http', async () => {
    const { port } = await listenForTest(createHttpServer());
    expect(await messageOf({ url: `https://127.0.0.1:${port}` })).toBe(
      `GET https://127.0.0.1:${port}/api/v2/workspaces/ws-1 failed: "127.0.0.1:${port}" does not speak TLS; check whether the target's "url" should begin with "http://"`,
    );
  });

  it('for a server without HTTP', async () => {
    const { port } = await listenForTest(
      createServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.2\r\n')),
    );
    expect(await messageOf({ url: `http://127.0.0.1:${port}` })).toContain('is not HTTP');
  });
});

describe('a missing response', () => {
  it('is waited for until the time limit', async () => {
    const server = await listen(() => 'silence');
    expect(
      await messageOf({
        url: server.url,
        timeouts: { headers: 50 },
        retryPolicy: { attemptsUnanswered: 1 },
      }),
    ).toBe(
      `GET ${server.url}/api/v2/workspaces/ws-1 failed: "127.0.0.1:${server.port}" gave no answer within 0.05 s`,
    );
  });
});

describe('a proxy', () => {
  const url = 'http://automation.invalid';

  it('is used when the environment has one', async () => {
    const proxy = await listen(() => ({ body: {} }));
    const env = { HTTP_PROXY: `http://someone:proxy-password@127.0.0.1:${proxy.port}` };
    expect(await messageOf({ url, env })).toBe('answered 200');
    expect(proxy.lines).toEqual([`GET ${url}/api/v2/workspaces/ws-1`]);
  });

  it('may be written without a scheme, and in lower case', async () => {
    const proxy = await listen(() => ({ body: {} }));
    expect(
      await messageOf({
        url,
        env: { http_proxy: `127.0.0.1:${proxy.port}`, HTTP_PROXY: 'http://127.0.0.1:1' },
      }),
    ).toBe('answered 200');
  });

  it('is not used for the hosts in NO_PROXY', async () => {
    const proxy = await listen(() => ({ body: {} }));
    await messageOf({ url, env: { HTTP_PROXY: proxy.url, NO_PROXY: 'other,.invalid' } });
    expect(proxy.requests).toEqual([]);
  });

  it('is not used for this machine', async () => {
    const [proxy, server] = [await listen(() => ({ body: {} })), await listen(() => ({ body: {} }))];
    expect(await messageOf({ url: server.url, env: { HTTP_PROXY: proxy.url } })).toBe('answered 200');
    expect(proxy.requests).toEqual([]);
  });

  it('that refuses is named, without its password', async () => {
    const proxy = await listen(() => ({ status: 407 }));
    const env = { HTTPS_PROXY: `http://someone:proxy-password@127.0.0.1:${proxy.port}` };
    const message = await messageOf({ url: 'https://automation.invalid', env });
    expect(message).toContain(
      `the proxy "http://127.0.0.1:${proxy.port}" did not open a connection to the service`,
    );
    expect(message).toContain('407');
    expect(message).not.toContain('proxy-password');
    expect(proxy.lines[0]).toBe('CONNECT automation.invalid:443');
  });

  it('that is down is named, without its password', async () => {
    const proxy = await listen(() => ({ body: {} }));
    await proxy.close();
    const env = { HTTPS_PROXY: `http://someone:proxy-password@127.0.0.1:${proxy.port}` };
    const message = await messageOf({ url: 'https://automation.invalid', env });
    expect(message).toContain(`the proxy "http://127.0.0.1:${proxy.port}" is down`);
    expect(message).not.toContain('proxy-password');
  });

  it('in the environment of the process is not read, because the environment is a parameter', async () => {
    const proxy = await listen(() => ({ body: {} }));
    process.env['HTTP_PROXY'] = proxy.url;
    await messageOf({ url });
    delete process.env['HTTP_PROXY'];
    expect(proxy.requests).toEqual([]);
  });
});
