/** A proxy that removes `include` from requests, like a service that silently ignores it. */
import { createServer, request as ask } from 'node:http';
import { startListening, type Listening } from '../rig/listen.ts';

export async function withoutInclude(url: string): Promise<Listening> {
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const to = new URL(request.url ?? '/', url);
    to.searchParams.delete('include');
    const onward = ask(to, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  return startListening(proxy);
}
