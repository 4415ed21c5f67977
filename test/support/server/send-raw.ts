// Requests that `fetch` refuses to send: any method, any path, any headers.

import { request as httpRequest } from 'node:http';

import { TestAnswer } from './serve-for-test.ts';

/** Rejects when the connection ends without an answer. */
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
