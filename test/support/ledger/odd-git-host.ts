/** A host that answers git over HTTP with what a test makes up: an error of its own, or a page that is no git at all. */
import { createServer, type IncomingMessage } from 'node:http';
import { listenForTest } from '../rig/listen.ts';

export interface OddAnswer {
  readonly type?: string;
  readonly body: string;
}

/**
 * Answers each request that brings a login, and asks for one first where `asksLogin`. Runs until the test has ended.
 * @returns where it listens, `127.0.0.1:40123`
 */
export async function serveOddly(
  answer: (request: IncomingMessage) => OddAnswer,
  { asksLogin = false } = {},
): Promise<string> {
  const server = createServer((request, response) => {
    if (asksLogin && request.headers.authorization === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const { type = 'text/html', body } = answer(request);
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  const { port } = await listenForTest(server);
  return `127.0.0.1:${port}`;
}

/** Git's own way to refuse: its words reach the user as they are. */
export function gitRefusal(words: string): OddAnswer {
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  return {
    type: 'application/x-git-upload-pack-advertisement',
    body: `${line('# service=git-upload-pack\n')}0000${line(`ERR ${words}`)}`,
  };
}
