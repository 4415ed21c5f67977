/**
 * One authorised request to a mount, as the resources of the method see it, and the shape of what serves it.
 * Invariant: a handler is synchronous and does its whole work in one transaction, so requests never interleave.
 */
import type { ServiceIdentity } from '../identity/service-identity.ts';
import type { Services } from '../services.ts';
import type { SecretsAnswer } from './answer.ts';

/** What a request wants, whatever verb it came in: POST and PUT are both a write. */
export type Operation = 'read' | 'list' | 'write' | 'delete' | 'patch' | 'scan' | 'head';

export interface MountCall {
  readonly services: Services;
  readonly identity: ServiceIdentity;
  readonly requestId: string;
  /** The mount's path without slashes at its ends, for example `cluster` or `team/cluster`. */
  readonly mount: string;
  /** The role's name as the path has it, folded to lower case; empty where the path has none. */
  readonly roleName: string;
  /** The body's fields; for what has no body, those of the query. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type MountHandler = (call: MountCall) => SecretsAnswer;
