/**
 * The table of dialects: what the service does differently to act like one real service or another, with
 * `workspaces-dialects.ts` the only place that knows a brand. `neutral` is the specification as written; the rest of the
 * service asks for a trait (`services.dialects.clusterAuth.…`), never for a name. Sources: wire/cluster-auth 1 and 2.1.
 */
import { hcpTerraform, neutralWorkspaces, type WorkspacesDialect } from './workspaces-dialects.ts';

/** What one element of `pem_keys` may be, which differs from service to service. */
export interface KeyRules {
  readonly types: readonly string[];
  /** Whether an element must end after its first block. */
  readonly alone: boolean;
  /** The error for an element without a block, and for a key of another type. */
  readonly noKey: string;
  /** Whether the key of a certificate counts at a login that was signed with SHA-1. */
  readonly trustsSha1: boolean;
}

/** What a cluster-auth mount, and what surrounds it, does in one way or another. */
export interface ClusterAuthDialect {
  readonly name: string;
  /** The name of the method's type, and its default path. */
  readonly mountType: string;
  /** The spec's name of a config member to this service's; the database holds the spec's. */
  readonly configNames: Readonly<Record<string, string>>;
  /** In lower case, as Node has them. */
  readonly tokenHeader: string;
  readonly namespaceHeader: string;
  /** Used when the issuer is empty; if this is empty too, the issuer is not checked (wire/cluster-auth 1.7). */
  readonly defaultIssuer: string;
  /** The prefixes of its tokens. */
  readonly tokenPrefixes: Readonly<Record<'service' | 'batch', string>>;
  /** How whole seconds are written in warnings: `1h0m0s` or `1h`. */
  readonly durationFormat: 'full' | 'short';
  readonly hasNamespaces: boolean;
  /** The prefix of an account's annotations that become metadata of its alias; undefined: none do. */
  readonly aliasAnnotations: string | undefined;
  /** The error for an unknown token. */
  readonly unknownToken: string;
  /** The version that it reports, and the one of its methods. */
  readonly version: string;
  readonly pluginVersion: string;
  /** Fields of a config and of a role that not every dialect has. */
  readonly ownConfigFields: readonly string[];
  readonly ownRoleFields: readonly string[];
  readonly keys: KeyRules;
  /** Whether a CA must have the form of one. */
  readonly checksCa: boolean;
  /**
   * What does instead of a CA in a config: the pod's file or else keys, the pod's file or else (where that is disabled) the
   * authorities of the machine, or the pod's file alone.
   */
  readonly insteadOfCa: 'pod-or-keys' | 'pod-or-system' | 'pod';
  /** A host of a cluster without a scheme is one; elsewhere every login fails with it (wire/cluster-auth 1.6). */
  readonly takesBareHosts: boolean;
  /** How many texts a body may have, names of members included; undefined: any number (wire/cluster-auth 2.1). */
  readonly mostTexts: number | undefined;
  /** How deep values of a body may be nested. */
  readonly mostLevels: number;
  /** The header that asks for a wrapped answer, as errors name it. */
  readonly wrapHeader: string;
  /** Whether lists come in pages, and whether there are lists of all that is below a path. */
  readonly pagesLists: boolean;
  readonly scans: boolean;
  /** Whether `?help=1` asks what a path of a mount takes. */
  readonly hasHelp: boolean;
  /** Whether paths that are of no API are answered as the service answers them. */
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
    insteadOfCa: 'pod-or-keys',
    takesBareHosts: true,
    mostTexts: undefined,
    mostLevels: 300,
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
  insteadOfCa: 'pod-or-system',
  takesBareHosts: false,
  mostTexts: undefined,
  mostLevels: 300,
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

/** A fork that kept the names of its ancestor, brand included. */
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
  insteadOfCa: 'pod',
  mostTexts: 1000,
  mostLevels: 1000,
  pagesLists: true,
  scans: true,
  reservedPolicies: ['response-wrapping'],
  audienceWarning: undefined,
};

const real: readonly Partial<ServedDialects>[] = [
  { workspaces: hcpTerraform },
  { clusterAuth: vault },
  { clusterAuth: openbao },
];

/** The dialects that call their type of a mount so. */
export function dialectsWithMountType(type: string): string[] {
  return real.flatMap(({ clusterAuth }) => (clusterAuth?.mountType === type ? [clusterAuth.name] : []));
}

/** Dialects that cannot be served, or not together. */
class DialectError extends Error {
  override readonly name = 'DialectError';
}

/** What `--dialect` takes. */
const dialectNames: readonly string[] = [
  'neutral',
  ...real.flatMap(({ workspaces, clusterAuth }) => (workspaces ?? clusterAuth)?.name ?? []),
];

/**
 * What is spoken when these dialects are asked for: each belongs to one of the two APIs, and the other one stays
 * neutral.
 * @throws DialectError for a name that is not served, and for two of one API.
 */
export function chooseDialects(names: readonly string[]): ServedDialects {
  let chosen = neutral;
  for (const name of new Set(names)) {
    if (name === 'neutral') continue;
    const asked = real.find(({ workspaces, clusterAuth }) => (workspaces ?? clusterAuth)?.name === name);
    if (asked === undefined)
      throw new DialectError(
        `the embedded service does not speak "${name}": it speaks ${dialectNames.join(', ')}`,
      );
    const api = asked.workspaces === undefined ? 'clusterAuth' : 'workspaces';
    if (chosen[api].name !== 'neutral')
      throw new DialectError(`"${chosen[api].name}" and "${name}" are dialects of one API: name one of them`);
    chosen = { ...chosen, ...asked };
  }
  return chosen;
}
