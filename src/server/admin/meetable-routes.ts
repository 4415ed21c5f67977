/**
 * Which requests a fault can meet: what the service has routes for.
 * Invariant: a fault that no request can ever meet is refused with the reason. A test that waits for one would pass without
 * having tried anything.
 */

/** What the service takes: a path's segments, `:name` for any one, a last `*` for any rest, and the methods there. */
export interface ServedRoute {
  readonly methods: readonly string[];
  readonly path: string;
}

interface Target {
  /** `*` is any. */
  readonly method: string;
  readonly route: string;
}

/** Why no request can meet a fault, and which member of it is wrong. */
interface NotInjectable {
  readonly member: 'method' | 'route';
  readonly why: string;
}

/** Verbs that the parser does not know: they arrive as another one. */
const READ_AS_GET = ['LIST', 'SCAN'];

/** undefined where some request can. */
export function whyNotInjectable(
  { method, route }: Target,
  served: readonly ServedRoute[],
): NotInjectable | undefined {
  const problem = problemOfForm(route);
  if (problem !== undefined) return { member: 'route', why: problem };
  const methods = served
    .filter(({ path }) => meet(segments(route), segments(path)))
    .flatMap((each) => each.methods);
  if (methods.length === 0) return { member: 'route', why: `nothing is served at ${route}` };
  if (method === '*' || methods.includes(method)) return undefined;
  if (READ_AS_GET.includes(method))
    return { member: 'method', why: `${method} is a GET here: method must be GET` };
  const taken = [...new Set(methods)].join(', ');
  return { member: 'method', why: `${method} is not served at ${route}, which takes ${taken}` };
}

/** Requests are compared by their path as it is sent, without its query and without a slash at its end. */
function problemOfForm(route: string): string | undefined {
  if (!/^[!-~]*$/.test(route)) return 'route must be written as it is sent: other characters as %-escapes';
  if (/[?#]/.test(route)) return 'route must be a path alone, without a query';
  if (route.endsWith('/')) return 'route must have no slash at its end';
  return segments(route).slice(0, -1).includes('**')
    ? '** stands for any rest, and so at the end only'
    : undefined;
}

function segments(path: string): string[] {
  return path.split('/');
}

/** Whether some path is one of both. */
function meet(
  [wanted, ...wantedRest]: readonly string[],
  [served, ...servedRest]: readonly string[],
): boolean {
  if (wanted === '**') return true;
  if (wanted === undefined || served === undefined) return wanted === served;
  if (served === '*') return true;
  const isAny = wanted === '*' || wanted.startsWith(':');
  const both = isAny || wanted === served || (served.startsWith(':') && wanted !== '');
  return both && meet(wantedRest, servedRest);
}
