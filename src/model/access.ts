/** What access live resources give: who may log in and with what, and who may read a state. */
import type { Address } from './address.ts';

/** One of both. */
export interface Access {
  readonly login?: LoginAccess;
  readonly state?: StateAccess;
}

interface LoginAccess {
  /** names of service accounts; `*` stands for any characters */
  readonly accounts: readonly string[];
  /** the same of their namespaces */
  readonly namespaces: readonly string[];
  /** admits further namespaces, by their labels */
  readonly selector?: string;
  /** that a JWT must be issued for; absent: any */
  readonly audience?: string;
  /** of the tokens */
  readonly policies: readonly string[];
}

interface StateAccess {
  /** names of workspaces; none where it is shared with all of them */
  readonly readers: readonly string[];
  readonly sharedWith?: 'organization' | 'project';
}

export interface GivenAccess extends Access {
  /** of the resource that gives it */
  readonly address: Address;
}
