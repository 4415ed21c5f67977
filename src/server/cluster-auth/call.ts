/**
 * One authorized request: to a mount, or to the service outside of its mounts. A handler is synchronous and does its work in one
 * transaction, so requests never interleave.
 */
import type { Services } from '../kernel/services.ts';
import type { SecretsAnswer } from './answer.ts';
import type { ServiceIdentity } from './service-identity.ts';

/** The operation of a request, independent of its HTTP verb: POST and PUT are both a write. */
export type Operation = 'read' | 'list' | 'write' | 'delete' | 'patch' | 'scan' | 'head';

export interface MountCall {
  readonly services: Services;
  readonly identity: ServiceIdentity;
  readonly requestId: string;
  /** The mount's path without slashes at its ends, for example `cluster` or `team/cluster`. */
  readonly mount: string;
  /** The role's name in the path, in lower case; empty if the path has none. */
  readonly roleName: string;
  /** The fields of the body; without a body, those of the query. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type MountHandler = (call: MountCall) => SecretsAnswer;

// One authorized request to the secrets service outside of its mounts, and the endpoints that serve such requests.
// Invariant: a handler is synchronous and does its whole work in one transaction, so requests never interleave.

export interface ServiceCall {
  readonly services: Services;
  readonly identity: ServiceIdentity;
  /** The caller's token, as it was sent. */
  readonly rawToken: string;
  /** The namespace of the path; `''` is the root. */
  readonly namespace: string;
  /** The name in the path; empty if the path has none. */
  readonly name: string;
  /** The body's fields; empty without a body. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type ServiceHandler = (call: ServiceCall) => SecretsAnswer;

export interface ServiceEndpoint {
  /** Below `/v1/` and the namespace. A `:name` matches one or more characters, including slashes. */
  readonly path: string;
  /** The pattern of the path; its first group is the name. */
  readonly pattern: RegExp;
  readonly handlers: Readonly<Partial<Record<Operation, ServiceHandler>>>;
  /** Whether a token also needs the capability `sudo`. */
  readonly needsSudo?: boolean;
  /** Whether every token may send it, because the answer contains only what that token may see. */
  readonly authorizesItself?: boolean;
}

type Extra = Pick<ServiceEndpoint, 'needsSudo' | 'authorizesItself'>;

/** One row of a table of endpoints. The path of a list may also end with a slash. */
export function at(path: string, handlers: ServiceEndpoint['handlers'], extra: Extra = {}): ServiceEndpoint {
  const end = 'list' in handlers && !path.endsWith('/') ? '/?' : '';
  return { path, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '(.+)')}${end}$`), handlers, ...extra };
}

/** The endpoint at a path of a table, with the name in the path. */
export function endpointIn(
  table: readonly ServiceEndpoint[],
  path: string,
): { readonly endpoint: ServiceEndpoint; readonly name: string } | undefined {
  for (const endpoint of table) {
    const found = endpoint.pattern.exec(path);
    if (found !== null) return { endpoint, name: found[1] ?? '' };
  }
  return undefined;
}

/** A text field of the body; empty if it is not a text. */
export function textIn(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  return typeof value === 'string' ? value : '';
}
