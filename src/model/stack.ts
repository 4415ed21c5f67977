/**
 * Stacks and their targets, as read from `trueup.yaml`, and the identity of a target: only this file decides whether
 * two targets are the same place. Tokens are references, never values.
 */
import type { ApprovalRules } from './approval.ts';
import type { BuiltInGuard } from './guard.ts';
import type { JsonObject, Path } from './json.ts';
import type { LintCode } from './lint-codes.ts';
import type { PolicySource } from './policy-source.ts';

/** Which API a target speaks. */
export type Service = 'workspaces' | 'cluster-auth';

/** Where a secret comes from. It is read when it is used. Plans, ledgers, logs and reports hold this source, never the value. */
export type SecretSource = { readonly env: string } | { readonly file: string };

/** Where the JWT of a login comes from; `oidc`: the OIDC provider of the CI makes one for the job that asks. */
type JwtSource = SecretSource | { readonly oidc: { readonly audience: string } };

export type TokenSource =
  | SecretSource
  | {
      readonly login: {
        readonly mount: string;
        readonly role: string;
        /** for runs that only read; `role` when absent */
        readonly readRole?: string;
        readonly jwt: JwtSource;
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
  /** for the audit trail of the organization, and for nothing else */
  readonly auditToken?: SecretSource;
  readonly caCert?: { readonly file: string };
  /** the secrets service's namespace header */
  readonly namespace?: string;
  readonly requestsPerSecond?: number;
  /** patterns of the names that belong to this stack; only `*` is special */
  readonly owns?: readonly string[];
  readonly exclusive?: boolean;
  /** where ownership of a workspace is stored: in an ownership tag (`claim`, the default), or only in the ledger */
  readonly ownership?: 'claim' | 'ledger';
  /** what is read just before an update: the page of the list that has the resource (the default), or the resource alone */
  readonly readBeforeWrite?: 'page' | 'resource';
  /** how workspaces are deleted: by the service's safe delete (the default), or by a plain one if the service has none */
  readonly deletes?: 'safe' | 'plain';
}

export interface Stack {
  readonly name: string;
  /** the former name of the stack, whose resources it takes over */
  readonly renamedFrom?: string;
  /** path of `trueup.yaml` as the user would type it */
  readonly file: string;
  /** absolute path of the directory that holds it */
  readonly directory: string;
  readonly manifests: readonly string[];
  /** files of the lists that manifests name, relative to the directory, with slashes; they count as manifests */
  readonly lists?: readonly string[];
  readonly targets: readonly Target[];
  /** merged under manifests; of several entries that match a manifest, later ones win */
  readonly defaults: readonly DefaultsEntry[];
  readonly guards: Guards;
  readonly approvals?: ApprovalRules;
  readonly lint?: Lint;
  /** where the organization's policies are; none when absent */
  readonly policies?: readonly PolicySource[];
  /** the sources of secrets that manifests may use; any when absent */
  readonly secrets?: SecretPlaces;
  /** `local` when absent */
  readonly ledger?: LedgerPlace;
  /** where the audit trails of its organizations are kept */
  readonly audit?: { readonly archive: ArchivePlace };
  /** limit for a run in seconds, from its first request on */
  readonly timeout?: number;
  /** what the embedded service starts with; targets with the url `embedded` only */
  readonly embedded?: { readonly seed: string };
}

/** Values that a stack puts under manifests. */
export interface DefaultsEntry {
  /** absent: all manifests */
  readonly match?: DefaultsMatch;
  /** by kind */
  readonly kinds: Readonly<Record<string, JsonObject>>;
  /** path of the map of kinds in the Stack document */
  readonly path: Path;
}

/** Each given member must match one of its patterns, in which only `*` is special. */
export interface DefaultsMatch {
  readonly name?: readonly string[];
  readonly target?: readonly string[];
  /** name or id of the project */
  readonly project?: readonly string[];
  /** by key */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
}

/** The sources of secrets that manifests may name; an empty list allows none of that type. */
export interface SecretPlaces {
  /** names, or patterns in which only `*` is special */
  readonly env: readonly string[];
  /** globs, absolute or below the stack's folder */
  readonly files: readonly string[];
}

/** Where a stack's ledger is kept. */
export type LedgerPlace =
  /** in a file beside the stack: in a folder that git ignores, or in `folder`, which may be committed */
  | { readonly in: 'local'; readonly folder?: string }
  /** in a ref of a remote of the repository that holds the stack */
  | { readonly in: 'git'; readonly remote: string }
  /** in a database; the whole address is a secret, because it holds credentials */
  | { readonly in: 'postgres'; readonly url: SecretSource };

/** Where an archive of audit trails is kept. */
export type ArchivePlace =
  /** in a file, relative to the stack's folder */
  | { readonly in: 'file'; readonly file: string }
  /** in a database; the whole address is a secret, because it holds credentials */
  | { readonly in: 'postgres'; readonly url: SecretSource };

/** The default source of the address of the archive's database. */
export const archiveUrl: SecretSource = { env: 'TRUEUP_AUDIT_URL' };

/** How much a plan may change before it must be acknowledged. Percentages count per kind and target. */
export interface Guards {
  /** per kind and target, per target, and over the plan */
  readonly maxDeletes?: number;
  readonly maxDeletePercent?: number;
  readonly maxUpdatePercent?: number;
  /** guards that only warn by default and block in this stack */
  readonly raise?: readonly BuiltInGuard[];
  /** guards that block by default and only warn in this stack */
  readonly allow?: readonly BuiltInGuard[];
}

/** How a stack changes the severity of lint findings. All other findings keep theirs. */
export interface Lint {
  /** codes that are errors in this stack */
  readonly raise?: readonly LintCode[];
  /** codes that are not reported in this stack */
  readonly allow?: readonly LintCode[];
}

/** The path between the URL of a target and the path of a call. */
export const apiRoots: Readonly<Record<Service, string>> = {
  workspaces: '/api/v2',
  'cluster-auth': '/v1',
};

/** What a service can do beyond the specification; the choice of calls depends on it. */
type Capability =
  /** PATCH …/tag-bindings adds or changes keys and leaves the rest */
  | 'additive-tag-bindings'
  /** a create accepts the app installation of a VCS repository */
  | 'app-installation-on-create'
  /** a create accepts flat tags (wire/workspaces 1.5.8) */
  | 'flat-tags-on-create'
  /** a role can bind each token to the address that it was made for (wire/cluster-auth 2.5) */
  | 'strict-ip-binding'
  /** a request must opt out of the project's destroy schedule, and a date alone ends the workspace's duration (wire/workspaces 1.5.19) */
  | 'own-auto-destroy'
  /** a request with trigger patterns that turns file triggers off is refused (wire/workspaces 2.1) */
  | 'patterns-need-file-triggers'
  /** a workspace has "structuredRunOutputEnabled", which is read-only in the specification (wire/workspaces 1.5.24) */
  | 'structured-run-output'
  /** a working directory may begin with "/", which means the root of the repository */
  | 'absolute-working-directory'
  /** a workspace whose runs execute on agents may have health assessments */
  | 'assessments-on-agents';

export interface PublicKeyRules {
  /** as `node:crypto` calls them: `rsa`, `ec`, `ed25519` */
  readonly types: ReadonlySet<string>;
  /** whether a second key, or a text after the first one, is refused */
  readonly alone: boolean;
  /** the service's message for an element without a key that it accepts */
  readonly refusal: string;
}

/** The wire names and behaviour of one real service. Kinds use `neutral` names; the dialect tables translate. */
export interface Dialect {
  readonly name: string;
  readonly service: Service;
  /** the services that have this dialect, for users who have to choose one */
  readonly spokenBy: string;
  /** neutral wire name → this service's wire name, for members of request and response bodies */
  readonly rename: Readonly<Record<string, string>>;
  readonly tokenHeader: 'authorization' | string;
  readonly namespaceHeader?: string;
  /** sent with every request */
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultMount?: string;
  /** the type of a mount of the method, in this service */
  readonly mountType?: string;
  /** a member that the config of every mount has in newer releases of this service, and in no other service */
  readonly configMark?: string | undefined;
  /** the issuer that an empty issuer of a config means; absent: issuers are not compared */
  readonly defaultIssuer?: string;
  /**
   * What the service does with a config that has no CA certificate and may not use the one of the service's pod: it refuses the
   * config, or trusts the CAs of its own system. Absent: as specified, where public keys are enough.
   */
  readonly withoutCa?: 'refused' | 'system';
  /** a cluster's host without a scheme is reached over TLS; absent: every login fails with it */
  readonly takesBareHosts?: true;
  /** what the service accepts as one element of a config's public keys; absent: as specified, RSA and ECDSA */
  readonly publicKeys?: PublicKeyRules;
  /** the keys of certificates that were signed with SHA-1 still verify logins; absent: newer releases refuse them */
  readonly verifiesSha1?: true;
  /** policies that the service reserves: no login gives them; absent: as specified */
  readonly reservedPolicies?: ReadonlySet<string>;
  /** how many strings, names of members included, a request may contain unless its operator allows more; absent: any number */
  readonly maxTexts?: number;
  /** how to recognize the hosted edition, which lacks parts of the API: by its host, or by a header of its answers */
  readonly hosted?: {
    readonly hosts: ReadonlySet<string>;
    readonly header: string;
    readonly value: string;
  };
  /** a header of its answers, in lower case, that no other dialect has (wire/workspaces 1.6) */
  readonly answerHeader?: string;
  /** the path of a workspace's web page: `/pages/{organization}/{name}`; absent: not known */
  readonly workspacePage?: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** absent: the service has no command line of its own */
  readonly client?: ClientSettings;
}

/** Where the command line of a service finds the address and the token. A token is for one address, and for no other. */
export interface ClientSettings {
  /** variables with the address; the first that is set counts */
  readonly addresses: readonly string[];
  /** variables with a host name in place of the address */
  readonly hosts: readonly string[];
  /** the address if none of these variables is set; absent: no address is worth suggesting */
  readonly defaultAddress?: string;
  /** variable with the token for that address; `init` also names it in a new stack */
  readonly token: string;
  /** variable with the namespace */
  readonly namespace?: string;
  /** variables with the token of one host; HOST is replaced by its name, with "_" for a dot and "__" for a hyphen */
  readonly hostToken?: string;
  /** JSON file below the home directory with a token for each host */
  readonly credentials?: string;
  /** file below the home directory with the token for that address, and nothing else */
  readonly tokenFile?: string;
}

// The identity of a target. The stack chooses the name of a target, so the name may later refer to another address, about which
// the old records prove nothing. Only this file decides whether two targets have the same address.

export interface TargetIdentity {
  readonly service: Service;
  /** `embedded`, or the normalized address */
  readonly url: string;
  /** the organization in lower case, as its name is case-insensitive; or namespace and mount as one path: `platform/auth/cluster` */
  readonly place: string;
}

/** `workspaces acme at https://app.example.com`: equal texts mean the same place, because service and URL contain no space. */
export type IdentityText = string;

type TargetAddress = Pick<Target, 'service' | 'url' | 'organization' | 'mount' | 'namespace'>;

export function identityOf({ service, url, organization, mount, namespace }: TargetAddress): TargetIdentity {
  const place =
    service === 'workspaces' ? (organization ?? '').toLowerCase() : mountPlace(mount ?? '', namespace ?? '');
  return { service, url: normalUrl(url), place };
}

export function formatIdentity({ service, url, place }: TargetIdentity): IdentityText {
  return `${service} ${place} at ${url}`;
}

/** A namespace in the header and one at the start of the path lead to the same mount (wire/cluster-auth 2.1). */
function mountPlace(mount: string, namespace: string): string {
  const segments = [...segmentsOf(namespace), 'auth', ...segmentsOf(mount)];
  return (segments[0] === 'root' ? segments.slice(1) : segments).join('/');
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Normalizes an address: scheme and host in lower case, no default port, no dot or slash at the end. */
function normalUrl(url: string): string {
  if (url === 'embedded' || !URL.canParse(url)) return url;
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`;
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}
