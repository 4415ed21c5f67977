/** Sends recorded requests over plain sockets: paths, verbs and bodies are sent as recorded, while `fetch` would normalize them. */
import { type IncomingMessage, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseAsWritten, type RecordedAnswer, type RecordedRequest } from './vectors.ts';

const comparedHeaders = [
  ...['content-type', 'cache-control', 'strict-transport-security', 'location', 'allow', 'warning'],
  'x-vault-namespace',
];

const withLength = new Set(['POST', 'PUT', 'PATCH']);

export async function sendRecorded(
  url: string,
  { method, path, headers = {}, body, rawBody }: RecordedRequest,
): Promise<RecordedAnswer> {
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const { hostname, port } = new URL(url);
  const outgoing = openRequest({
    hostname,
    port,
    method,
    path,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
      ...(sent !== undefined || withLength.has(method)
        ? { 'Content-Length': Buffer.byteLength(sent ?? '') }
        : {}),
    },
    agent: false,
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end(sent);
  });
  const answered = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      comparedHeaders.flatMap((name) => {
        const value = response.headers[name];
        return value === undefined ? [] : [[name, String(value)]];
      }),
    ),
    body: bodyOf(answered),
  };
}

function bodyOf(answered: string): unknown {
  if (answered === '') return null;
  try {
    return parseAsWritten(answered);
  } catch {
    return { $text: answered };
  }
}
