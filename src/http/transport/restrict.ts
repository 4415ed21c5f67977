/**
 * Dispatchers that refuse other requests than those for their purpose. That of a plan can only read, that of a login
 * can only log in, that of a question about rights can only ask it, that of an audit trail can only read the trail, and that of a code
 * host stays below its API: any other request is refused at the lowest level, whatever code sends it (rule 31).
 */
import type { Dispatcher } from 'undici';

/** The dispatcher throws, before a connection is opened, for every request for which `admits` is false. */
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

/** For a login: only POST to these paths. They are complete, with the path of the target's URL. */
export function loginsOnly(dispatcher: Dispatcher, paths: readonly string[]): Dispatcher {
  return restrict(dispatcher, 'a login', ({ method, path }) => method === 'POST' && paths.includes(path));
}

/** For a question about the rights of a token: only POST to this path, which changes nothing. It is complete, as above. */
export function asksRightsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a question about rights',
    (request) => request.method === 'POST' && request.path === path,
  );
}

/** For an audit trail: only GET of this path, with any query. It is complete, as above. */
export function auditsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a reader of audit trails',
    (request) => request.method === 'GET' && request.path.split('?', 1)[0] === path,
  );
}

/** For the API of a code host: paths below its address. It is complete, as above. */
export function pathsBelow(dispatcher: Dispatcher, prefix: string): Dispatcher {
  return restrict(dispatcher, 'a code host', ({ path }) => path.startsWith(prefix));
}
