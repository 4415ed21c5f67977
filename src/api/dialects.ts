/**
 * The dialects: one table for each real service, and the only place with product names. Kinds use the `neutral` names of the
 * specs. A table has the different names of its service, and its additional capabilities.
 * Sources: wire/workspaces 1.1 and 1.5, wire/cluster-auth 1 and 2.1.
 */
import type { Dialect, Service } from '../model/stack.ts';

const specified = 'a service that follows the specification, such as "trueup serve" without "--dialect"';

const neutralWorkspaces: Dialect = {
  name: 'neutral',
  service: 'workspaces',
  spokenBy: specified,
  rename: {},
  tokenHeader: 'authorization',
  capabilities: new Set(),
};

const hcpTerraform: Dialect = {
  name: 'hcp-terraform',
  service: 'workspaces',
  spokenBy: 'HCP Terraform and Terraform Enterprise',
  rename: {
    'engine-version': 'terraform-version',
    'vcs-app-installation-id': 'github-app-installation-id',
    policy_engine: 'sentinel',
  },
  tokenHeader: 'authorization',
  hosted: {
    hosts: new Set(['app.terraform.io', 'app.eu.terraform.io']),
    header: 'tfp-appname',
    value: 'HCP Terraform',
  },
  answerHeader: 'tfp-api-version',
  workspacePage: '/app/{organization}/workspaces/{name}',
  capabilities: new Set([
    'absolute-working-directory',
    'additive-tag-bindings',
    'app-installation-on-create',
    'assessments-on-agents',
    'flat-tags-on-create',
    'own-auto-destroy',
    'patterns-need-file-triggers',
    'structured-run-output',
  ]),
  client: {
    addresses: ['TFE_ADDRESS'],
    hosts: ['TFE_HOSTNAME'],
    defaultAddress: 'https://app.terraform.io',
    token: 'TFE_TOKEN',
    hostToken: 'TF_TOKEN_HOST',
    credentials: '.terraform.d/credentials.tfrc.json',
  },
};

const neutralClusterAuth: Dialect = {
  name: 'neutral',
  service: 'cluster-auth',
  spokenBy: specified,
  rename: {},
  tokenHeader: 'x-service-token',
  namespaceHeader: 'x-service-namespace',
  defaultMount: 'cluster',
  mountType: 'cluster',
  defaultIssuer: 'cluster/serviceaccount',
  takesBareHosts: true,
  capabilities: new Set(),
};

const vault: Dialect = {
  name: 'vault',
  service: 'cluster-auth',
  spokenBy: 'HashiCorp Vault',
  rename: { cluster_host: 'kubernetes_host', cluster_ca_cert: 'kubernetes_ca_cert' },
  tokenHeader: 'x-vault-token',
  namespaceHeader: 'x-vault-namespace',
  // An agent in front of the service may be configured to refuse requests without it.
  headers: { 'x-vault-request': 'true' },
  defaultMount: 'kubernetes',
  mountType: 'kubernetes',
  configMark: 'use_annotations_as_alias_metadata',
  withoutCa: 'system',
  capabilities: new Set(),
  client: {
    addresses: ['VAULT_ADDR'],
    hosts: [],
    token: 'VAULT_TOKEN',
    namespace: 'VAULT_NAMESPACE',
    tokenFile: '.vault-token',
  },
};

/** A fork of Vault. It has the same names on the wire, even those with "vault" (differences: wire/cluster-auth 2.1, 2.2, 2.5). */
const openbao: Dialect = {
  ...vault,
  name: 'openbao',
  spokenBy: 'OpenBao',
  configMark: undefined,
  withoutCa: 'refused',
  publicKeys: {
    types: new Set(['rsa', 'ec', 'ed25519']),
    alone: true,
    refusal: 'data does not contain any valid public keys',
  },
  verifiesSha1: true,
  reservedPolicies: new Set(['response-wrapping']),
  maxTexts: 1000,
  capabilities: new Set(['strict-ip-binding']),
  client: {
    addresses: ['BAO_ADDR', 'VAULT_ADDR'],
    hosts: [],
    token: 'BAO_TOKEN',
    namespace: 'BAO_NAMESPACE',
    tokenFile: '.vault-token',
  },
};

/** The prefix of the claims in a service account's JWT. The cluster issues them, so it is the same in every dialect. */
export const serviceAccountClaims = 'kubernetes.io';

/** Every dialect, keyed `service/name`: both services have one called `neutral`. */
export const dialects: ReadonlyMap<string, Dialect> = new Map(
  [neutralWorkspaces, hcpTerraform, neutralClusterAuth, vault, openbao].map((dialect) => [
    `${dialect.service}/${dialect.name}`,
    dialect,
  ]),
);

export function findDialect(service: Service, name: string): Dialect | undefined {
  return dialects.get(`${service}/${name}`);
}

/** The names that a target of this service may give as its `dialect`, `neutral` first. */
export function dialectNames(service: Service): string[] {
  return [...dialects.values()].filter((dialect) => dialect.service === service).map(({ name }) => name);
}
