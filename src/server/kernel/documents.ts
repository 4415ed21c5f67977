/**
 * JSON:API documents: resources, and errors that handlers throw. `included` never holds a resource twice, the `status` of an
 * error is a string, and an ApiError that is thrown inside a transaction rolls it back.
 */

export interface Identifier {
  readonly id: string;
  readonly type: string;
}

export interface Relationship {
  readonly data?: Identifier | readonly Identifier[] | null;
  readonly links?: { readonly related: string };
}

/** The relationship to a resource, whose address follows from type and id; `data` is null without an id. */
export function related(type: string, id: string | null): Relationship {
  return id === null ? { data: null } : { data: { id, type }, links: { related: `/api/v2/${type}/${id}` } };
}

export interface Resource {
  /** Absent only where the API has no id: effective tag bindings of a separate request. */
  readonly id?: string;
  readonly type: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, Relationship>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** Drops repeated resources, keeping the first of each. */
export function withoutRepeats(resources: readonly Resource[]): Resource[] {
  const seen = new Map<string, Resource>();
  for (const resource of resources) {
    const key = `${resource.type} ${resource.id}`;
    if (!seen.has(key)) seen.set(key, resource);
  }
  return [...seen.values()];
}

// Refusals of the workspaces API, in the error form of JSON:API.
// Invariant: `status` is a string in every error object (clients decode it as one), and an ApiError thrown inside a
// transaction rolls back the whole request. That is why refusals are thrown and not returned.

interface ErrorSource {
  /** Where in the body the problem is, as a JSON pointer: `/data/attributes/name`. */
  readonly pointer?: string;
  /** Which query parameter is at fault. */
  readonly parameter?: string;
}

/** One problem with a request's body: what is wrong and where. */
export interface PointedProblem {
  readonly detail: string;
  readonly pointer: string;
}

const TITLES = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  409: 'conflict',
  413: 'payload too large',
  415: 'unsupported media type',
  422: 'invalid attribute',
  429: 'Too many requests',
  500: 'internal error',
  503: 'service unavailable',
} as const;

export type ErrorStatus = keyof typeof TITLES;

interface ErrorObject {
  readonly status: string;
  readonly title: string;
  readonly detail: string;
  readonly source?: ErrorSource;
}

export class ApiError extends Error {
  readonly status: ErrorStatus;
  readonly errors: readonly ErrorObject[];
  /** Headers that belong to the refusal, by name: `allow` of a 405. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ErrorStatus,
    details: readonly { detail: string; source?: ErrorSource }[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(details.map(({ detail }) => detail).join('; '));
    this.status = status;
    this.headers = headers;
    this.errors = details.map((problem) => ({ status: String(status), title: TITLES[status], ...problem }));
  }
}

/** The body of an error answer. */
export function errorDocument(error: ApiError): { errors: readonly ErrorObject[] } {
  return { errors: error.errors };
}

export function badRequest(detail: string, source?: ErrorSource): ApiError {
  return new ApiError(400, [source === undefined ? { detail } : { detail, source }]);
}

export function unauthorized(): ApiError {
  return new ApiError(401, [{ detail: 'The request carries no valid API token' }]);
}

export function forbidden(detail: string): ApiError {
  return new ApiError(403, [{ detail }]);
}

/** For what does not exist, and for what the caller may not see: both get the same answer, so that callers cannot find out names. */
export function notFound(what: string): ApiError {
  return new ApiError(404, [{ detail: `${what} not found, or not authorized for this action` }]);
}

/** For a path that exists, but takes only these methods. */
export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  const allow = allowed.join(', ');
  return new ApiError(405, [{ detail: `${method} is not allowed here: the endpoint takes ${allow}` }], {
    allow,
  });
}

export function conflict(detail: string): ApiError {
  return new ApiError(409, [{ detail }]);
}

/** For something that is larger than the limit in bytes. */
export function tooLarge(what: string, limit: number): ApiError {
  const mebibytes = limit / 1024 / 1024;
  return new ApiError(413, [
    {
      detail: `The ${what} is larger than ${limit} bytes (${mebibytes} MiB), which is the most that is taken`,
    },
  ]);
}

export function unavailable(detail: string): ApiError {
  return new ApiError(503, [{ detail }]);
}

/** Contains all problems of a body, so that a client can correct them together. */
export function invalid(problems: readonly PointedProblem[]): ApiError {
  return new ApiError(
    422,
    problems.map(({ detail, pointer }) => ({ detail, source: { pointer } })),
  );
}
