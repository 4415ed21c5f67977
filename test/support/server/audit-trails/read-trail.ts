// Reads the audit trail as a client does, with the token of the organization.

import type { TestClient } from '../serve-for-test.ts';

export interface TrailEvent {
  readonly id: string;
  readonly version: unknown;
  readonly type: string;
  readonly timestamp: string;
  readonly auth: Readonly<Record<'accessor_id' | 'description' | 'type' | 'organization_id', string>> & {
    readonly impersonator_id: string | null;
  };
  readonly request: { readonly id: string | null };
  readonly resource: {
    readonly id: string;
    readonly type: string;
    readonly action: string;
    readonly meta: Readonly<Record<string, unknown>> | null;
  };
}

interface TrailPage {
  readonly data: readonly TrailEvent[];
  readonly pagination: Readonly<Record<string, number | null>>;
}

const TOKEN_OF_ACME = 'acme-organization';

/** One page; by default with the token of the organization `acme`. */
export async function readTrail(api: TestClient, query = '', token = TOKEN_OF_ACME): Promise<TrailPage> {
  const answer = await api.as(token).get(`/organization/audit-trail${query}`);
  if (answer.status !== 200) throw new Error(`the audit trail answered ${answer.status}: ${answer.text}`);
  return JSON.parse(answer.text) as TrailPage;
}

/** All events, oldest first. */
export async function trailOf(api: TestClient, token = TOKEN_OF_ACME): Promise<readonly TrailEvent[]> {
  return (await readTrail(api, '', token)).data;
}
