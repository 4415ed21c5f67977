/**
 * Warns of secrets of this run that the ledger contains: an earlier version stored some values as they were. The next write redacts
 * them, but whoever could read the ledger has them.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import { findStored } from '../../model/redaction/stored-values.ts';
import type { Ledger, StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';

export function storedSecrets(
  ledger: Ledger,
  { place }: Pick<StackStore, 'place'>,
  stack: Pick<Stack, 'ledger'>,
  secrets: KnownSecrets,
): Diagnostic[] {
  const found = findStored(ledger, (text) => secrets.sourcesIn(text));
  return [...Map.groupBy(found, ({ source }) => source)].map(([source, places]) => {
    const where = places.map(({ record, member }) =>
      record === undefined ? quoted(member) : `${quoted(member)} of the record ${record}`,
    );
    const older = stack.ledger?.in === 'git' ? '; older commits of the ref still contain it' : '';
    return {
      code: 'secret-in-ledger',
      severity: 'warning',
      class: 'failure',
      message: `${place} contains the secret of ${source}, in ${where.join(', ')}${older}`,
      fix: 'revoke it and use a new one; the next write of the ledger redacts it there',
    };
  });
}
