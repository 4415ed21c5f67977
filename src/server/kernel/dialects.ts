/**
 * The table of dialects: what the service does differently to act like one real service or another. Only this file and
 * `workspaces-dialects.ts` know a brand. `neutral` is the specification as written; the rest of the service asks for
 * a trait (`services.dialects.clusterAuth.…`), never for a name. Sources: wire/cluster-auth 1 and 2.1.
 */
import { hcpTerraform, neutralWorkspaces, type WorkspacesDialect } from './workspaces-dialects.ts';

/** What an element of `pem_keys` may be: services differ in it. */
export interface KeyRules {
  readonly types: readonly string[];
  /** Whether an element must end after its first block. */
  readonly alone: boolean;
  /** The error for an element without a block, and for a key of another type. */
  readonly noKey: string;
  /** Whether a login accepts the key of a certificate that was signed with SHA-1. */
  readonly trustsSha1: boolean;
}

/** The behaviour of a cluster-auth mount, and of the service around it, that differs between dialects. */
export interface ClusterAuthDialect {
  readonly name: string;
  /** The name of the method's type, and its default path. */
  readonly mountType: string;
  /** From the specification's name of a config member to this service's name. The database holds the specification's. */
  readonly configNames: Readonly<Record<string, string>>;
  /** Names of headers, in lower case, as Node gives them. */
  readonly tokenHeader: string;
  readonly namespaceHeader: string;
  /** Used when the issuer is empty; if this is empty too, the issuer is not checked (wire/cluster-auth 1.7). */
  readonly defaultIssuer: string;
  /** The prefixes of its tokens. */
  readonly tokenPrefixes: Readonly<Record<'service' | 'batch', string>>;
  /** How whole seconds are written in warnings: `1h0m0s` or `1h`. */
  readonly durationFormat: 'full' | 'short';
  readonly hasNamespaces: boolean;
  /** Annotations of an account with this prefix become metadata of its alias; undefined: no annotations do. */
  readonly aliasAnnotations: string | undefined;
  /** The error for an unknown token. */
  readonly unknownToken: string;
  /** The version that the service reports, and the version of its auth methods. */
  readonly version: string;
  readonly pluginVersion: string;
  /** Fields of a config, and of a role, that this dialect has and some others lack. */
  readonly ownConfigFields: readonly string[];
  readonly ownRoleFields: readonly string[];
  readonly keys: KeyRules;
  /** Whether a CA must contain a PEM block. */
  readonly checksCa: boolean;
  /**
   * What replaces a missing CA in a config. `pod-or-keys`: the pod's file, which a config with keys does not need. `pod-or-system`: the
   * pod's file, or the authorities of the machine if the pod's file is disabled. `pod`: only the pod's file.
   */
  readonly caFallback: 'pod-or-keys' | 'pod-or-system' | 'pod';
  /** Whether the host of a cluster may lack its scheme. If it may not, every login with such a host fails (wire/cluster-auth 1.6). */
  readonly takesBareHosts: boolean;
  /** The most strings that a body may have, names of members included; undefined: no limit (wire/cluster-auth 2.1). */
  readonly maxStrings: number | undefined;
  /** How deep values of a body may be nested. */
  readonly maxNesting: number;
  /** The name of the header that requests a wrapped answer, as error texts write it. */
  readonly wrapHeader: string;
  /** Whether lists can be read in pages, and whether SCAN lists everything below a path. */
  readonly pagesLists: boolean;
  readonly scans: boolean;
  /** Whether `?help=1` returns the help of a path. */
  readonly hasHelp: boolean;
  /** Whether paths outside of both APIs are answered as the real service answers them. */
  readonly answersOtherPaths: boolean;
  /** Reserved policies: no token gets them, and they cannot be changed. */
  readonly reservedPolicies: readonly string[];
  /** The warning for a role without an audience. */
  readonly audienceWarning: ((roleName: string) => string) | undefined;
}

export interface ServedDialects {
  readonly workspaces: WorkspacesDialect;
  readonly clusterAuth: ClusterAuthDialect;
}

const namedKeys: KeyRules = {
  types: ['rsa', 'ec'],
  alone: false,
  noKey: 'data does not contain any valid RSA or ECDSA public keys',
  trustsSha1: false,
};

const neutral: ServedDialects = {
  workspaces: neutralWorkspaces,
  clusterAuth: {
    name: 'neutral',
    mountType: 'cluster',
    configNames: {},
    tokenHeader: 'x-service-token',
    namespaceHeader: 'x-service-namespace',
    defaultIssuer: 'cluster/serviceaccount',
    tokenPrefixes: { service: 's', batch: 'b' },
    durationFormat: 'full',
    hasNamespaces: false,
    aliasAnnotations: undefined,
    unknownToken: 'permission denied',
    version: '1.0.0',
    pluginVersion: 'v1.0.0+builtin',
    ownConfigFields: [],
    ownRoleFields: [],
    keys: namedKeys,
    checksCa: true,
    caFallback: 'pod-or-keys',
    takesBareHosts: true,
    maxStrings: undefined,
    maxNesting: 300,
    wrapHeader: 'X-Service-Wrap-TTL',
    pagesLists: false,
    scans: false,
    hasHelp: false,
    answersOtherPaths: false,
    reservedPolicies: ['response-wrapping', 'control-group'],
    audienceWarning: undefined,
  },
};

const vault: ClusterAuthDialect = {
  name: 'vault',
  mountType: 'kubernetes',
  configNames: { cluster_host: 'kubernetes_host', cluster_ca_cert: 'kubernetes_ca_cert' },
  tokenHeader: 'x-vault-token',
  namespaceHeader: 'x-vault-namespace',
  defaultIssuer: '',
  tokenPrefixes: { service: 'hvs', batch: 'hvb' },
  durationFormat: 'full',
  hasNamespaces: false,
  aliasAnnotations: 'vault.hashicorp.com/alias-metadata-',
  unknownToken: '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n',
  version: '1.21.1',
  pluginVersion: 'v0.24.1+builtin',
  ownConfigFields: ['use_annotations_as_alias_metadata'],
  ownRoleFields: ['alias_metadata'],
  keys: namedKeys,
  checksCa: true,
  caFallback: 'pod-or-system',
  takesBareHosts: false,
  maxStrings: undefined,
  maxNesting: 300,
  wrapHeader: 'X-Vault-Wrap-TTL',
  pagesLists: false,
  scans: false,
  hasHelp: true,
  answersOtherPaths: true,
  reservedPolicies: ['response-wrapping', 'control-group'],
  audienceWarning: (role) =>
    `Role ${role} does not have an audience configured. While audiences are not required, consider specifying one if ` +
    'your use case would benefit from additional JWT claim verification.',
};

/** A fork of `vault` that kept its names, including the brand. */
const openbao: ClusterAuthDialect = {
  ...vault,
  name: 'openbao',
  tokenPrefixes: { service: 's', batch: 'b' },
  durationFormat: 'short',
  hasNamespaces: true,
  aliasAnnotations: undefined,
  unknownToken: 'permission denied',
  version: '2.6.2',
  pluginVersion: 'v2.6.2+builtin.bao',
  ownConfigFields: [],
  ownRoleFields: ['token_strictly_bind_ip'],
  keys: {
    types: ['rsa', 'ec', 'ed25519'],
    alone: true,
    noKey: 'data does not contain any valid public keys',
    trustsSha1: true,
  },
  checksCa: false,
  caFallback: 'pod',
  maxStrings: 1000,
  maxNesting: 1000,
  pagesLists: true,
  scans: true,
  reservedPolicies: ['response-wrapping'],
  audienceWarning: undefined,
};

const realDialects: readonly Partial<ServedDialects>[] = [
  { workspaces: hcpTerraform },
  { clusterAuth: vault },
  { clusterAuth: openbao },
];

/** The names of the dialects whose mounts have this type. */
export function dialectsWithMountType(type: string): string[] {
  return realDialects.flatMap(({ clusterAuth }) =>
    clusterAuth?.mountType === type ? [clusterAuth.name] : [],
  );
}

/** A dialect that cannot be served, or two that cannot be served together. */
class DialectError extends Error {
  override readonly name = 'DialectError';
}

/** The values of `--dialect`. */
const dialectNames: readonly string[] = [
  'neutral',
  ...realDialects.flatMap(({ workspaces, clusterAuth }) => (workspaces ?? clusterAuth)?.name ?? []),
];

/**
 * The dialects of both APIs when these names are requested. Each name belongs to one API; an API without a name is neutral.
 * @throws DialectError for a name that is not served, and for two names of one API.
 */
export function chooseDialects(names: readonly string[]): ServedDialects {
  let chosen = neutral;
  for (const name of new Set(names)) {
    if (name === 'neutral') continue;
    const requested = realDialects.find(
      ({ workspaces, clusterAuth }) => (workspaces ?? clusterAuth)?.name === name,
    );
    if (requested === undefined)
      throw new DialectError(
        `the embedded service does not speak "${name}": it speaks ${dialectNames.join(', ')}`,
      );
    const api = requested.workspaces === undefined ? 'clusterAuth' : 'workspaces';
    if (chosen[api].name !== 'neutral')
      throw new DialectError(`"${chosen[api].name}" and "${name}" are dialects of one API: name one of them`);
    chosen = { ...chosen, ...requested };
  }
  return chosen;
}
