/** A server of an attacker, which records the tokens that it is sent. */
import { createServer } from 'node:http';
import { listenForTest } from '../rig/listen.ts';

export async function openThief() {
  const tokens: string[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization ?? 'none');
    response.writeHead(200).end('{"data":[]}');
  });
  const { url } = await listenForTest(server);
  return { url, tokens };
}
