/**
 * The ledger seen as manifests: a plan's context in which what was last applied is what is desired. Live resources are so matched
 * and compared with the ledger by the very rules that compare them with manifests.
 */
import { formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import { formatOwnershipTag } from '../../model/resource/claim.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { DesiredResource, Metadata } from '../../model/resource/resource.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from '../context/plan-context.ts';

/** Without the records of kinds and targets that the stack no longer has. */
export function recordedContext(input: PlanContextInput): PlanContext {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const declared = new Map(input.desired.map((resource) => [formatAddress(resource.address), resource.spec]));
  const desired = [...input.ledger.records].flatMap(([text, record]) => {
    const address = parseAddress(text);
    const kind = input.kinds.get(address.kind);
    if (kind === undefined || !targets.has(address.target)) return [];
    return [asDeclared(address, record, instructions(kind, declared.get(text)))];
  });
  return makePlanContext({ ...input, desired, isSelection: false });
}

const ledgerPlace = { file: 'the ledger', line: 1, column: 1, length: 0, text: '' };

/** What a document tells trueup itself, such as which tags it leaves to others: no ledger keeps it. */
function instructions({ fields }: Kind, spec: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => fields[name]?.local === true));
}

function asDeclared(
  address: DesiredResource['address'],
  record: LedgerRecord,
  local: JsonObject,
): DesiredResource {
  const { fields, protect, onRemove } = record;
  return {
    address,
    spec: { ...local, ...fields },
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
export function ownershipTagText(
  stack: string,
  { protect = false, onRemove }: Pick<Metadata, 'protect' | 'onRemove'>,
): string {
  return formatOwnershipTag({ stack, protect, release: onRemove === 'release' });
}
