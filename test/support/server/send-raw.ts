// Requests that `fetch` refuses to send: any method, any path, any headers.

import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';

import { TestAnswer } from './serve-for-test.ts';

/** @throws if the connection ends without a response */
export function sendRaw(
  url: string,
  method: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const received = new Headers(response.headers as Record<string, string>);
        resolve(new TestAnswer(response.statusCode ?? 0, received, text));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** The status of a request whose request line (without the version) and headers are sent unchanged. */
export function statusOfBytes(url: string, line: string, headers: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])));
    socket.write([`${line} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
  });
}
