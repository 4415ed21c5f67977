/** The same list as `tried-elsewhere.ts` for the embedded service, which is tried by requests, file for file where it can be. */
import type { TriedElsewhere } from './tried-elsewhere.ts';

const ofService = 'the wire is the contract of the service: it is tried by requests';
const ofSeed = 'a seed is right when the service answers as if everything in it had been made by requests';
const ofTables = 'a table: what reads it is tried, entry by entry';

export const triedByRequests: readonly TriedElsewhere[] = [
  {
    by: 'test/server/secrets-endpoints.test.ts',
    because: 'what finds an endpoint is right when each is found',
    sources: ['server/sys/service-call.ts'],
  },
  {
    by: 'test/server/cluster-auth/role.test.ts',
    because: ofTables,
    sources: ['server/cluster-auth/role-fields.ts'],
  },
  {
    by: 'test/server/cluster-auth/values/field-coercion.test.ts',
    because: 'one of the values that a field may be coerced to',
    sources: ['server/cluster-auth/values/address-blocks.ts'],
  },
  {
    by: 'test/e2e/service/stranger-at-port.test.ts',
    because: 'a proof is for whoever has to trust a port: two real processes',
    sources: ['server/data-file/serving-proof.ts'],
  },
  {
    by: 'test/server/audit-trails/list-audit-events.test.ts',
    because: ofService,
    sources: ['server/audit-trails/read-trail-query.ts'],
  },
  {
    by: 'test/server/access-tokens/authentication-token.test.ts',
    because: ofService,
    sources: ['server/identity/tokens.ts'],
  },
  {
    by: 'test/server/workspaces/create.test.ts',
    because: ofService,
    sources: ['server/json-api/body.ts', 'server/workspaces/endpoints.ts'],
  },
  {
    by: 'test/server/data-file/database.test.ts',
    because: 'a migration is right when a database can be made by it and be used',
    sources: ['server/migrations/001-foundations.ts'],
  },
  {
    by: 'test/server/seed.test.ts',
    because: ofSeed,
    sources: [
      ...['server/seed/read-seed.ts', 'server/seed/seed-context.ts', 'server/seed/seed-reader.ts'],
      ...['server/seed/seed-team.ts', 'server/seed/seed-workspace.ts'],
      ...['server/seed/seed-workspace-records.ts', 'server/seed/workspace-checks.ts'],
    ],
  },
  {
    by: 'test/e2e/service/seeded-service.test.ts',
    because: 'what a data file got of a seed before is known by the next process',
    sources: ['server/seed/seeding.ts'],
  },
  {
    by: 'test/server/workspaces/document/workspace-document.test.ts',
    because: ofService,
    sources: [
      ...['server/workspaces/document/run-statistics.ts', 'server/workspaces/document/workspace-record.ts'],
      'server/workspaces/document/workspace-request.ts',
    ],
  },
  {
    by: 'test/server/cluster-auth/login/log-in.test.ts',
    because: 'a login is right when the account gets a token with what its role says, and nobody else does',
    sources: [
      ...['server/cluster-auth/login/call-cluster.ts', 'server/cluster-auth/login/check-account.ts'],
      ...['server/cluster-auth/login/cluster-access.ts', 'server/cluster-auth/login/give-token.ts'],
      'server/cluster-auth/login/jwt/service-account.ts',
    ],
  },
  {
    by: 'test/server/cluster-auth/replay/replay.test.ts',
    because: 'a real service has answered the same requests, and its answers are what it is compared with',
    sources: [
      ...['server/cluster-auth/answer.ts', 'server/cluster-auth/values/durations.ts', 'server/dialects.ts'],
      ...['server/cluster-auth/values/json-values.ts', 'server/cluster-auth/values/label-selector.ts'],
    ],
  },
  {
    by: 'test/server/sys/auth-mounts.test.ts',
    because: ofService,
    sources: [
      ...['server/cluster-auth/mounts.ts', 'server/sys/mount-config.ts', 'server/sys/mount-document.ts'],
      'server/sys/ui-mounts.ts',
    ],
  },
  { by: 'test/server/sys/policies.test.ts', because: ofService, sources: ['server/sys/parse-policy.ts'] },
  {
    by: 'test/server/service-tokens/token-endpoints.test.ts',
    because: ofService,
    sources: ['server/service-tokens/token-document.ts', 'server/service-tokens/token-store.ts'],
  },
  {
    by: 'test/server/service-tokens/create-token.test.ts',
    because: ofService,
    sources: ['server/service-tokens/child-rules.ts'],
  },
  {
    by: 'test/server/configuration-versions/configuration-versions.test.ts',
    because: ofService,
    sources: [
      'server/configuration-versions/configuration-version-record.ts',
      'server/configuration-versions/create-configuration-version.ts',
      'server/configuration-versions/read-configuration-versions.ts',
    ],
  },
  {
    by: 'test/server/migrations/all-migrations.test.ts',
    because: 'a migration is right when a data file of the version before can be used',
    sources: ['server/migrations/005-workspace-records.ts'],
  },
  {
    by: 'test/server/organizations/organizations.test.ts',
    because: ofService,
    sources: ['server/organizations/organization-document.ts', 'server/organizations/settle-organization.ts'],
  },
  {
    by: 'test/server/projects/projects.test.ts',
    because: ofService,
    sources: ['server/projects/project-record.ts', 'server/projects/settle-project.ts'],
  },
  {
    by: 'test/server/runs/run-life-cycle.test.ts',
    because: ofService,
    sources: ['server/runs/create-run.ts'],
  },
  {
    by: 'test/server/start-server.test.ts',
    because: 'every server of a test is handed them',
    sources: ['server/services.ts'],
  },
  {
    by: 'test/server/state-versions/create-state-version.test.ts',
    because: ofService,
    sources: [
      ...['server/state-versions/outputs.ts', 'server/state-versions/read-state.ts'],
      ...['server/state-versions/state-version-document.ts', 'server/state-versions/state-version-record.ts'],
      'server/state-versions/stored-states.ts',
    ],
  },
  {
    by: 'test/server/teams/team-access.test.ts',
    because: ofService,
    sources: [
      ...['server/teams/custom-access.ts', 'server/teams/team-access-endpoints.ts'],
      'server/teams/team-record.ts',
    ],
  },
  {
    by: 'test/server/runs/read-runs.test.ts',
    because: ofService,
    sources: ['server/runs/run-record.ts'],
  },
  {
    by: 'test/server/service-tokens/token-endpoints.test.ts',
    because: ofSeed,
    sources: ['server/seed/seed-service.ts'],
  },
];
