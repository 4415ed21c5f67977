/**
 * The dialects: one table for each real service, and the only place that knows a brand. Kinds speak `neutral`, the
 * specs as written; a table says what its service calls the same things, and what it can do beyond the specs.
 * Sources: wire/workspaces 1.1 and 1.5, wire/cluster-auth 1 and 2.1.
 */
import type { Dialect, Service } from '../model/stack/target.ts';

const neutralWorkspaces: Dialect = {
  name: 'neutral',
  service: 'workspaces',
  rename: {},
  tokenHeader: 'authorization',
  capabilities: new Set(),
};

const hcpTerraform: Dialect = {
  name: 'hcp-terraform',
  service: 'workspaces',
  rename: {
    'engine-version': 'terraform-version',
    'vcs-app-installation-id': 'github-app-installation-id',
    policy_engine: 'sentinel',
  },
  tokenHeader: 'authorization',
  capabilities: new Set([
    'additive-tag-bindings',
    'app-installation-on-create',
    'flat-tags-on-create',
    'own-auto-destroy',
  ]),
};

const neutralClusterAuth: Dialect = {
  name: 'neutral',
  service: 'cluster-auth',
  rename: {},
  tokenHeader: 'x-service-token',
  namespaceHeader: 'x-service-namespace',
  defaultMount: 'cluster',
  mountType: 'cluster',
  capabilities: new Set(),
};

const vault: Dialect = {
  name: 'vault',
  service: 'cluster-auth',
  rename: { cluster_host: 'kubernetes_host', cluster_ca_cert: 'kubernetes_ca_cert' },
  tokenHeader: 'x-vault-token',
  namespaceHeader: 'x-vault-namespace',
  // An agent in front of the service may be set to refuse requests without it.
  headers: { 'x-vault-request': 'true' },
  defaultMount: 'kubernetes',
  mountType: 'kubernetes',
  withoutCa: 'system',
  capabilities: new Set(),
};

/** A fork that kept the wire names of its ancestor, brand included (differences: wire/cluster-auth 2.2). */
const openbao: Dialect = { ...vault, name: 'openbao', withoutCa: 'refused' };

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
