/**
 * Why nothing is served at a path: it does not exist, or it takes other methods.
 * Invariant: a 405 names every method that the path takes, and no path that exists is answered 404 for its method.
 */
import type { Endpoint } from './endpoint.ts';
import { type ApiError, methodNotAllowed, notFound } from './errors.ts';

/** The refusal for a request that no endpoint took: 405 with the methods of its path, or 404. `path` is without query. */
export function unserved(
  endpoints: readonly Pick<Endpoint, 'method' | 'path'>[],
  method: string,
  path: string,
): ApiError {
  const methods = endpoints
    .filter((endpoint) => fits(endpoint.path, path))
    .map((endpoint) => endpoint.method);
  if (methods.length === 0) return notFound('Endpoint');
  return methodNotAllowed(
    method,
    methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])),
  );
}

/** Whether a path is one of a pattern's: `/workspaces/ws-1` fits `/workspaces/:workspace_id`. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}
