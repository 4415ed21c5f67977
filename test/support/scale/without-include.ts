/** A service that ignores `include`, as some do without a word: a proxy in front of one that does not. */
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function withoutInclude(url: string): Promise<{ readonly url: string; close(): Promise<void> }> {
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
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => {
        proxy.close(resolve);
      });
    },
  };
}
