/** The one endpoint of audit trails. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import { listAuditEvents } from './list-audit-events.ts';

export const AUDIT_TRAIL_ENDPOINTS: readonly Endpoint[] = [
  {
    ...on('GET', '/organization/audit-trail', listAuditEvents),
    needs: 'auditTrails',
    isForAuditTrails: true,
  },
];
