/** Sends a whole body before it reads the response, like clients that do not expect an early response. */
import { type OutgoingHttpHeaders, request } from 'node:http';

/** @returns the status; undefined if the connection ended without a response */
export function sendToItsEnd(
  url: string,
  {
    method,
    headers,
    body,
  }: { readonly method: string; readonly headers: OutgoingHttpHeaders; readonly body: Buffer },
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers });
    sending.on('error', reject);
    let answered: number | undefined;
    sending.on('response', (answer) => {
      answered = answer.statusCode;
      answer.resume();
    });
    sending.on('close', () => resolve(answered));
    sending.end(body);
  });
}
