/**
 * A dispatcher that refuses. What a plan reads through, and what a login is made through, cannot carry anything else,
 * whoever gets hold of it: the request is refused below everything that could ask for it (rule 31).
 */
import type { Dispatcher } from 'undici';

/** @throws from `dispatch`, before a connection is opened, for every request that `admits` does not */
function restrict(
  dispatcher: Dispatcher,
  purpose: string,
  admits: (request: { readonly method: string; readonly path: string }) => boolean,
): Dispatcher {
  return dispatcher.compose((dispatch) => (request, handler) => {
    if (!admits(request)) throw new Error(`${purpose} may not send ${request.method} ${request.path}`);
    return dispatch(request, handler);
  });
}

export function readsOnly(dispatcher: Dispatcher): Dispatcher {
  return restrict(dispatcher, 'a reader', ({ method }) => method === 'GET' || method === 'LIST');
}

export function writesOnly(dispatcher: Dispatcher): Dispatcher {
  return restrict(dispatcher, 'a writer', ({ method }) =>
    ['POST', 'PATCH', 'PUT', 'DELETE'].includes(method),
  );
}

/** For a login: POST to these paths alone. They are whole, from the first slash of the URL. */
export function loginsOnly(dispatcher: Dispatcher, paths: readonly string[]): Dispatcher {
  return restrict(dispatcher, 'a login', ({ method, path }) => method === 'POST' && paths.includes(path));
}
