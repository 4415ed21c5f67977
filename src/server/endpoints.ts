/**
 * Everything that is served below /api/v2, and the files behind signed links: the tables of all subjects, joined.
 * Invariant: a subject's folder has one table, `endpoints.ts`, and stands here once.
 */
import { ACCESS_TOKEN_ENDPOINTS } from './access-tokens/authentication-token.ts';
import { ASSESSMENT_RESULT_ENDPOINTS } from './assessment-results/endpoints.ts';
import { AUDIT_TRAIL_ENDPOINTS } from './audit-trails/endpoints.ts';
import { STORED_CONFIGURATIONS } from './configuration-versions/create-configuration-version.ts';
import { CONFIGURATION_VERSION_ENDPOINTS } from './configuration-versions/endpoints.ts';
import { CONNECTION_ENDPOINTS } from './connections/endpoints.ts';
import { type Endpoint, NO_CONTENT, on } from './json-api/endpoint.ts';
import { ORGANIZATION_ENDPOINTS } from './organizations/endpoints.ts';
import { SITE_ADMINISTRATION_ENDPOINTS } from './organizations/site-administration.ts';
import { PROJECT_ENDPOINTS } from './projects/endpoints.ts';
import { RUN_ENDPOINTS } from './runs/endpoints.ts';
import { STORED_LOGS } from './runs/run-logs.ts';
import type { Services } from './services.ts';
import type { StoredFile } from './signed-links/serve-storage.ts';
import { STATE_VERSION_ENDPOINTS } from './state-versions/endpoints.ts';
import { STORED_STATES } from './state-versions/stored-states.ts';
import { TEAM_ENDPOINTS } from './teams/endpoints.ts';
import { VARIABLE_ENDPOINTS } from './variables/endpoints.ts';
import { WORKSPACE_ENDPOINTS } from './workspaces/endpoints.ts';

export const API_ENDPOINTS: readonly Endpoint[] = [
  // Whether the service is there and the token is known; clients ask before anything else.
  { ...on('GET', '/ping', () => NO_CONTENT), isForAuditTrails: true },
  ...ORGANIZATION_ENDPOINTS,
  ...SITE_ADMINISTRATION_ENDPOINTS,
  ...PROJECT_ENDPOINTS,
  ...TEAM_ENDPOINTS,
  ...ACCESS_TOKEN_ENDPOINTS,
  ...CONNECTION_ENDPOINTS,
  ...WORKSPACE_ENDPOINTS,
  ...STATE_VERSION_ENDPOINTS,
  ...CONFIGURATION_VERSION_ENDPOINTS,
  ...RUN_ENDPOINTS,
  ...ASSESSMENT_RESULT_ENDPOINTS,
  ...VARIABLE_ENDPOINTS,
  ...AUDIT_TRAIL_ENDPOINTS,
];

export const STORED_FILES: readonly StoredFile[] = [
  ...STORED_STATES,
  ...STORED_CONFIGURATIONS,
  ...STORED_LOGS,
];

/** Those of the endpoints that the edition and the dialect have that are served. */
export function endpointsOf({ edition, dialects }: Pick<Services, 'edition' | 'dialects'>): Endpoint[] {
  return API_ENDPOINTS.filter(
    ({ needs, needsOfDialect }) =>
      (needs === undefined || edition[needs]) &&
      (needsOfDialect === undefined || dialects.workspaces[needsOfDialect]),
  );
}
