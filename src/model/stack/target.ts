/** Stacks and the live places they point at, as read from `trueup.yaml`. Tokens are references, never values. */
import type { GuardId } from '../plan/guard.ts';
import type { Json } from '../json/json.ts';

/** Which API a target speaks. */
export type Service = 'workspaces' | 'cluster-auth';

/** Where a secret comes from. Read at the moment of use; the value enters no plan, ledger, log or report, the name of the source does. */
export type SecretSource = { readonly env: string } | { readonly file: string };

export type TokenSource =
  | SecretSource
  | {
      readonly login: {
        readonly mount: string;
        readonly role: string;
        readonly jwt: SecretSource;
      };
    };

export interface Target {
  readonly name: string;
  readonly service: Service;
  /** `embedded`, or an http(s) URL without a trailing slash and without `/api/v2` or `/v1` */
  readonly url: string;
  readonly dialect: string;
  /** workspaces targets only */
  readonly organization?: string;
  /** cluster-auth targets only; without leading or trailing slash */
  readonly mount?: string;
  readonly token?: TokenSource;
  readonly auditToken?: SecretSource;
  readonly caCert?: { readonly file: string };
  /** the secrets service's namespace header */
  readonly namespace?: string;
  readonly requestsPerSecond?: number;
  /** names that are this stack's; only `*` is special (rule 24) */
  readonly owns?: readonly string[];
  readonly exclusive?: boolean;
}

export interface Stack {
  readonly name: string;
  /** the stack's former name, whose claims are taken over (rule 21) */
  readonly renamedFrom?: string;
  /** path of `trueup.yaml` as the user would type it */
  readonly file: string;
  /** absolute path of the directory that holds it */
  readonly directory: string;
  readonly manifests: readonly string[];
  readonly targets: readonly Target[];
  /** per kind, merged under each manifest of that kind (rule 3) */
  readonly defaults: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly guards: Guards;
  /** where manifests may say that a secret comes from; anywhere when absent */
  readonly secrets?: SecretPlaces;
  /** `local` when absent */
  readonly ledger?: LedgerPlace;
  /** seconds that a run may take from its first request on */
  readonly timeout?: number;
  /** what the embedded service starts with; targets with the url `embedded` only */
  readonly embedded?: { readonly seed: string };
}

/** The sources of secrets that manifests may name (rule 42); an empty list admits none of its sort. */
export interface SecretPlaces {
  /** names, or patterns in which only `*` is special */
  readonly env: readonly string[];
  /** globs, absolute or below the stack's folder */
  readonly files: readonly string[];
}

/** Where a stack's ledger is kept. */
export type LedgerPlace =
  /** in a file beside the stack: in the folder that git leaves out, or in one that somebody wants in git */
  | { readonly in: 'local'; readonly folder?: string }
  /** in a ref of a remote of the repository that holds the stack */
  | { readonly in: 'git'; readonly remote: string }
  /** in a database; the address holds credentials, so it is a secret as a whole */
  | { readonly in: 'postgres'; readonly url: SecretSource };

/** How much a plan may change before somebody must acknowledge it (rule 33); percentages are of one kind in one target. */
export interface Guards {
  /** of a kind in a target, in a target, and over the plan */
  readonly maxDeletes?: number;
  readonly maxDeletePercent?: number;
  readonly maxUpdatePercent?: number;
  /** guards that only warn by default and block in this stack */
  readonly raise?: readonly GuardId[];
  /** guards that block by default and only warn in this stack: acknowledged once and for all, in the stack's own file */
  readonly allow?: readonly GuardId[];
}

/** What stands between the URL of a target and the path of a call. */
export const apiRoots: Readonly<Record<Service, string>> = {
  workspaces: '/api/v2',
  'cluster-auth': '/v1',
};

/** What a service can do beyond the specs; the planner's choice of calls depends on it. */
export type Capability =
  /** PATCH …/tag-bindings adds or changes keys and leaves the rest */
  | 'additive-tag-bindings'
  /** a create accepts the app installation of a VCS repository */
  | 'app-installation-on-create'
  /** a create accepts flat tags (wire/workspaces 1.5.8) */
  | 'flat-tags-on-create'
  /** a workspace has to say that it does not inherit its project's destroy schedule (wire/workspaces 1.5.19) */
  | 'own-auto-destroy';

/** The names and habits of one real service on the wire. Kinds speak `neutral`; the tables translate. */
export interface Dialect {
  readonly name: string;
  readonly service: Service;
  /** neutral wire name → this service's wire name, for members of request and response bodies */
  readonly rename: Readonly<Record<string, string>>;
  readonly tokenHeader: 'authorization' | string;
  readonly namespaceHeader?: string;
  /** sent with every request */
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultMount?: string;
  /** what this service calls the type of a mount of the method */
  readonly mountType?: string;
  /**
   * What becomes of a config without a CA certificate that may not fall back on the pod's: the service refuses it, or trusts
   * its own system's authorities. Absent: as the spec has it, where keys will do as well.
   */
  readonly withoutCa?: 'refused' | 'system';
  readonly capabilities: ReadonlySet<Capability>;
}
