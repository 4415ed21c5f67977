/** The claim as text, `<stack>[:protect][:release][:id=<8 hex>]`. Only this file formats and parses it (rules 20). */
import type { OwnershipTag, OwnershipEvidence } from './resource.ts';

/** The key of the direct tag binding that holds the claim. */
export const ownershipTagKey = 'trueup-stack';

/** The birth mark of a resource that a stack created: `trueup/payments`. */
export function creatorMarkOf(stack: string): string {
  return `trueup/${stack}`;
}

/** Anybody can write the field that holds it, so only what can be the name of a stack counts. */
const creatorMark = /^trueup\/(?<stack>[a-z0-9-]{1,63})$/;

export function stackOfCreatorMark(text: string | null | undefined): string | undefined {
  return creatorMark.exec(text ?? '')?.groups?.['stack'];
}

export function formatOwnershipTag({ stack, protect, release, id }: Omit<OwnershipTag, 'inherited'>): string {
  return `${stack}${protect ? ':protect' : ''}${release ? ':release' : ''}${id === undefined ? '' : `:id=${id}`}`;
}

/**
 * The value of the tag, with the id of the stack. The id is no part of what a plan shows and an approval covers.
 * @param text as a change has it; @param id undefined in a plan before the first apply, which makes it: such a plan is never sent
 */
export function ownershipTagValue(text: string, id: string | undefined): string {
  return formatOwnershipTag({ ...parseOwnershipTag(text), id: id ?? '(made by the first apply)' });
}

/** The claim with the stack's id where it is this stack's and has none: for a write of all tags, which repeats it. */
export function withStackId(value: string, stack: string, id: string | undefined): string {
  const claim = parseOwnershipTag(value);
  return claim.stack === stack && claim.id === undefined ? ownershipTagValue(value, id) : value;
}

export function parseOwnershipTag(text: string, inherited = false): OwnershipTag {
  const [stack = '', ...flags] = text.split(':');
  const id = flags.flatMap((flag) => /^id=(?<id>[0-9a-f]{8})$/.exec(flag)?.groups?.['id'] ?? [])[0];
  return {
    stack,
    protect: flags.includes('protect'),
    release: flags.includes('release'),
    inherited,
    ...(id === undefined ? {} : { id }),
  };
}

/** The claim of the resource itself: one that is inherited from its project proves nothing. */
export function ownOwnershipTag({ claim }: OwnershipEvidence): OwnershipTag | undefined {
  return claim?.inherited ? undefined : claim;
}

/** The claim that the service itself shows on the resource, which a release takes off. */
export function shownOwnershipTag(witness: OwnershipEvidence): OwnershipTag | undefined {
  const claim = ownOwnershipTag(witness);
  return claim?.recorded ? undefined : claim;
}
