/** Sessions and a writer for one target, as the CLI opens them, over real HTTP and without retries. */
import { findDialect } from '../../../src/api/dialects.ts';
import { openTarget } from '../../../src/api/open-target.ts';
import type { Session } from '../../../src/model/kind.ts';
import type { Target } from '../../../src/model/stack.ts';
import type { Writer } from '../../../src/model/http.ts';
import { openSession } from '../../../src/api/read-live.ts';

export interface Connected {
  /** opens a new session, as a new run does */
  openSession(): Session;
  readonly writer: Writer;
  close(): Promise<void>;
}

/** @throws for an unknown dialect */
export function connect(url: string, target: Target, token: string): Connected {
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect}`);
  const connection = openTarget({
    target,
    url,
    dialect,
    userAgent: 'trueup/test',
    token: async () => token,
    retryPolicy: { attempts: 1, attemptsUnanswered: 1 },
  });
  return {
    openSession: () => openSession({ target, dialect, stack: 'payments', reader: connection.reader }),
    writer: connection.openWriter(),
    close: () => connection.close(),
  };
}
