/**
 * The ledger seen as manifests: a plan's context in which what was last applied is what is desired. Live resources are so matched
 * and compared with the ledger by the very rules that compare them with manifests.
 */
import { parseAddress } from '../../model/resource/address.ts';
import { formatClaim } from '../../model/resource/claim.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { DesiredResource, Metadata } from '../../model/resource/resource.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from '../context/plan-context.ts';

/** Without the records of kinds and targets that the stack no longer has. */
export function recordedContext(input: PlanContextInput): PlanContext {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const desired = [...input.ledger.records].flatMap(([text, record]) => {
    const address = parseAddress(text);
    const isInView = input.kinds.has(address.kind) && targets.has(address.target);
    return isInView ? [asDeclared(address, record)] : [];
  });
  return makePlanContext({ ...input, desired, isSelection: false });
}

const ledgerPlace = { file: 'the ledger', line: 1, column: 1, length: 0, text: '' };

function asDeclared(address: DesiredResource['address'], record: LedgerRecord): DesiredResource {
  const { fields, protect, onRemove } = record;
  return {
    address,
    spec: fields,
    metadata: {
      name: address.name,
      ...(protect === undefined ? {} : { protect }),
      ...(onRemove === undefined ? {} : { onRemove }),
    },
    place: ledgerPlace,
    placeOf: () => ledgerPlace,
    fromDefaults: [],
  };
}

/** The claim of this stack, with the flags of a record or of a document. */
export function claimText(
  stack: string,
  { protect = false, onRemove }: Pick<Metadata, 'protect' | 'onRemove'>,
): string {
  return formatClaim({ stack, protect, release: onRemove === 'release' });
}
