/** A fake git host over HTTP, whose responses a test makes: an error of git, or a page that is not from git. */
import { createServer, type IncomingMessage } from 'node:http';
import { listenForTest } from '../rig/listen.ts';

export interface FakeGitResponse {
  readonly type?: string;
  readonly body: string;
}

/**
 * Runs until the end of the test. With `asksLogin`, requests without credentials get 401.
 * @returns host and port, such as `127.0.0.1:40123`
 */
export async function serveFakeGit(
  answer: (request: IncomingMessage) => FakeGitResponse,
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

/** An error in git's protocol, whose text git shows to the user unchanged. */
export function gitRefusal(words: string): FakeGitResponse {
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  return {
    type: 'application/x-git-upload-pack-advertisement',
    body: `${line('# service=git-upload-pack\n')}0000${line(`ERR ${words}`)}`,
  };
}
