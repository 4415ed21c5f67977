/** A bare repository over HTTP, as code hosts serve it to CI jobs: `git http-backend`, with a required `authorization` header. */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { listenForTest } from '../rig/listen.ts';

export interface GitHost {
  /** the URL of the repository, without credentials */
  readonly url: string;
  /** all `authorization` headers of each request, duplicates included */
  readonly credentials: readonly (readonly string[])[];
  /** From now on accepts requests, but does not respond. */
  silence(): void;
  /** resolves at the first request without a response */
  readonly leftWaiting: Promise<void>;
}

/** Runs until the end of the test. @param wanted the only accepted value of `authorization` */
export async function serveGit(repository: string, wanted: string): Promise<GitHost> {
  const credentials: string[][] = [];
  const leftWaiting = Promise.withResolvers<void>();
  let isSilent = false;
  const server = createServer((request, response) => {
    const given = request.headersDistinct['authorization'] ?? [];
    credentials.push(given);
    if (isSilent) return leftWaiting.resolve();
    if (given.length === 1 && given[0] === wanted) return runBackend(repository, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  const { url } = await listenForTest(server);
  return {
    url: `${url}/${repository.split('/').at(-1)}`,
    credentials,
    silence: () => {
      isSilent = true;
    },
    leftWaiting: leftWaiting.promise,
  };
}

/** The program writes headers as lines, an empty line, and the body. */
function runBackend(repository: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: dirname(repository),
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString(),
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(backend.stdin);
  const out: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  backend.on('close', () => {
    const all = Buffer.concat(out);
    const end = all.indexOf('\r\n\r\n');
    const headers = all
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.split(' ')[0] ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.end(all.subarray(end + 4));
  });
}
