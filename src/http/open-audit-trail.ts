/**
 * Opens the way to the audit trail of a target's organization. It has a token of its own, and can send GET to that one path and
 * nothing else, whatever code uses it: a token that was made for audit trails needs no other right (wire/audit-trails 1.3).
 */
import type { TrailChannel } from '../model/audit-trail.ts';
import { type ConnectionOptions, openConnection } from './transport/connection.ts';
import { auditsOnly } from './transport/restrict.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';

/** There is no organization in the path: the token says which (wire/audit-trails 1.1). */
const path = '/organization/audit-trail';

export interface AuditConnection extends TrailChannel {
  /** requests sent so far, retries included */
  requests(): number;
  /** Closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** Nothing is sent before the first question. */
export function openAuditTrail({
  token,
  ...options
}: ConnectionOptions & { readonly token: TokenProvider }): AuditConnection {
  // No name is translated: an archive keeps what the service said. The trail is plain JSON, unlike all else of this service.
  const headers = { ...options.dialect.headers, accept: 'application/json' };
  const connection = openConnection({ ...options, dialect: { ...options.dialect, rename: {}, headers } });
  const dispatcher = auditsOnly(connection.dispatcher, `${connection.prefix}${path}`);
  const sender = new Sender({ connection, dispatcher, token });
  return {
    get: (query) => sender.send({ method: 'GET', path: `${path}?${query}`, repeatable: true }),
    requests: () => sender.sent,
    clockAhead: () => connection.difference.ahead,
    async close() {
      connection.stop();
      await connection.close();
    },
  };
}
