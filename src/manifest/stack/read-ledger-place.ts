/** Where a stack says that its ledger is kept: a word, or a map where there is more to say. Addresses are never literal. */
import type { LedgerPlace, SecretSource } from '../../model/stack/target.ts';
import type { LedgerDocument } from '../schema/stack-schema.ts';

/** The environment variable that holds the database's address where the stack names no other source. */
export const ledgerUrlVariable = 'TRUEUP_LEDGER_URL';

/** @param written valid against the stack's schema */
export function readLedgerPlace(written: LedgerDocument): LedgerPlace {
  if (written === 'local') return { in: 'local' };
  if (written === 'git') return { in: 'git', remote: 'origin' };
  if (written === 'postgres') return { in: 'postgres', url: { env: ledgerUrlVariable } };
  if (written.local !== undefined) return { in: 'local', folder: written.local.folder };
  if (written.git !== undefined) return { in: 'git', remote: written.git.remote ?? 'origin' };
  // the schema has counted the members: there is one, and so it is with the source's own
  return { in: 'postgres', url: written.postgres?.url as SecretSource };
}
