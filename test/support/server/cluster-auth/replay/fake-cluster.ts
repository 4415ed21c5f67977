/**
 * The API of a container cluster with the recorded responses of a case, over HTTP and TLS. It records requests. The responses are
 * set for each case, so that all cases can share its two ports.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ClusterAnswer, type ClusterAnswers, type ClusterQuestion, fixtures } from './vectors.ts';

export interface FakeCluster {
  /** over HTTP and over TLS */
  readonly url: string;
  readonly tlsUrl: string;
  /** Sets the responses, and clears the recorded requests. */
  answer(answers: ClusterAnswers): void;
  asked(): readonly ClusterQuestion[];
  close(): Promise<void>;
}

const notFound: ClusterAnswer = {
  status: 404,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
};

export async function startFakeCluster(): Promise<FakeCluster> {
  let answers: ClusterAnswers = {};
  let questions: ClusterQuestion[] = [];
  const serve = (tls: boolean) => async (request: IncomingMessage, response: ServerResponse) => {
    const sentBody = await text(request);
    const body: unknown = sentBody === '' ? null : JSON.parse(sentBody);
    const { headers, method = '', url = '' } = request;
    questions.push({
      method,
      path: url,
      authorization: headers.authorization ?? null,
      accept: headers.accept ?? null,
      contentType: headers['content-type'] ?? null,
      body,
      tls,
    });
    const given = answerTo(`${method} ${url}`, answers, body);
    const sent = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
    response.writeHead(given.status, { 'content-type': 'application/json' }).end(sent);
  };
  const { certificate, private: key } = fixtures().certs.server;
  const plain = await listen(createHttpServer(serve(false)));
  const overTls = await listen(createTlsServer({ cert: certificate, key }, serve(true)));
  return {
    url: `http://127.0.0.1:${plain.port}`,
    tlsUrl: `https://127.0.0.1:${overTls.port}`,
    answer(next) {
      answers = next;
      questions = [];
    },
    asked: () => questions,
    close: async () => {
      await Promise.all([plain.close(), overTls.close()]);
    },
  };
}

function answerTo(
  question: string,
  { tokenreview, namespaces }: ClusterAnswers,
  body: unknown,
): ClusterAnswer {
  if (question === 'POST /apis/authentication.k8s.io/v1/tokenreviews')
    return tokenreview === 'granted' ? granted(body) : (tokenreview ?? notFound);
  const [, name = ''] = /^GET \/api\/v1\/namespaces\/([^/]+)$/.exec(question) ?? [];
  return namespaces?.[name] ?? notFound;
}

/** A review that accepts the account of most fixtures, for the requested audiences. */
function granted(body: unknown): ClusterAnswer {
  const { audiences } = (body as { readonly spec: { readonly audiences?: readonly string[] } }).spec;
  const user = {
    username: 'system:serviceaccount:payments:api',
    uid: 'd77f89bc-9055-11e7-a068-0800276d99bf',
  };
  return { status: 201, body: { status: { authenticated: true, user, audiences } } };
}

async function listen(
  server: Server & { closeAllConnections(): void },
): Promise<{ port: number; close(): Promise<void> }> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
