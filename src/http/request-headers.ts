/** Makes the headers of a request, with the header names of the dialect. */
import type { Dialect, Target } from '../model/stack/target.ts';
import { services } from './service-conventions.ts';

interface HeaderInput {
  readonly method: string;
  readonly hasBody: boolean;
  /** absent for requests without a token */
  readonly token: string | undefined;
}

export function requestHeaders(
  { dialect, target, userAgent }: { dialect: Dialect; target: Target; userAgent: string },
  { method, hasBody, token }: HeaderInput,
): Record<string, string> {
  const { mediaType, typesEveryWrite } = services[dialect.service];
  const writes = method !== 'GET' && method !== 'LIST';
  return {
    accept: mediaType,
    'user-agent': userAgent,
    ...dialect.headers,
    ...(hasBody || (writes && typesEveryWrite) ? { 'content-type': mediaType } : {}),
    ...namespaceHeader(dialect, target),
    ...(token === undefined ? {} : tokenHeader(dialect, token)),
  };
}

function namespaceHeader({ namespaceHeader: name }: Dialect, { namespace }: Target): Record<string, string> {
  return name === undefined || namespace === undefined ? {} : { [name]: namespace };
}

function tokenHeader({ tokenHeader: name }: Dialect, token: string): Record<string, string> {
  return { [name]: name === 'authorization' ? `Bearer ${token}` : token };
}
