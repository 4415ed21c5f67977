/** What access live resources give: who may log in and with what, and who may read a state. */
import type { Address } from './address.ts';

/** Has either `login` or `state`. */
export interface Access {
  readonly login?: LoginAccess;
  readonly state?: StateAccess;
}

interface LoginAccess {
  /** names of service accounts; `*` matches any characters */
  readonly accounts: readonly string[];
  /** names of their namespaces; `*` matches any characters */
  readonly namespaces: readonly string[];
  /** admits further namespaces, by their labels */
  readonly selector?: string;
  /** the audience that a JWT must be issued for; absent: any */
  readonly audience?: string;
  /** the policies of the tokens */
  readonly policies: readonly string[];
}

interface StateAccess {
  /** names of the workspaces that may read the state; empty with `sharedWith`, which means all of them */
  readonly readers: readonly string[];
  readonly sharedWith?: 'organization' | 'project';
}

export interface GivenAccess extends Access {
  /** the resource that gives the access */
  readonly address: Address;
}
