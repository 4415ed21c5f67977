/**
 * GET /organization/audit-trail: what happened in the organization whose token asks, oldest first.
 * Invariant: the order is total (time, and then the order in which events were written), and what is written later comes
 * last, so pages that were read stay as they are while events arrive.
 * Source: wire/audit-trails 1.
 */
import { pageOfRows } from '../data-file/page-of-rows.ts';
import type { TokenKind } from '../identity/caller.ts';
import type { ApiAnswer, ApiRequest } from '../json-api/endpoint.ts';
import { forbidden } from '../json-api/errors.ts';
import { type Page, pageNumbers, pageWindow } from '../json-api/pagination.ts';
import type { Services } from '../services.ts';
import { type AuditEventRow, auditEventDocument } from './audit-event-document.ts';
import { readTrailQuery } from './read-trail-query.ts';
import { answeredAfter } from './retention.ts';

export function listAuditEvents(services: Services, request: ApiRequest): ApiAnswer {
  const organization = requireOwnOrganization(request);
  const { since, page } = readTrailQuery(request.query);
  const { rows, totalCount } = pageOfRows<AuditEventRow>(
    services.database,
    {
      select: '*',
      from: 'audit_events WHERE organization_id = :organization AND timestamp > :after',
      order: 'timestamp, position',
      parameters: { organization, after: answeredAfter(services.now(), since) },
    },
    pageWindow(page),
  );
  const document = {
    data: rows.map((row) => auditEventDocument(row, services.dialects.workspaces)),
    pagination: pagination(services, page, totalCount),
  };
  return { status: 200, document, mediaType: 'application/json' };
}

const HOLDERS: Readonly<Partial<Record<TokenKind, string>>> = { user: "a user's", team: "a team's" };

/** @throws ApiError 403 for the token of a user or a team */
function requireOwnOrganization({ caller }: ApiRequest): string {
  if (caller.organizationId !== undefined) return caller.organizationId;
  throw forbidden(
    "An audit trail is read with the organization's own token, or with one that is made for audit trails; " +
      `this one is ${HOLDERS[caller.tokenKind] ?? 'another'}`,
  );
}

function pagination({ dialects }: Services, page: Page, totalCount: number): Record<string, number | null> {
  const { previous, next, total } = pageNumbers(page, totalCount);
  return {
    current_page: page.number,
    ...(dialects.workspaces.auditPagesTellSize ? { page_size: page.size } : {}),
    prev_page: previous,
    next_page: next,
    total_pages: total,
    total_count: totalCount,
  };
}
