/** The claim as text, `<stack>[:protect][:release]`. Only this file formats and parses it (rules 20). */
import type { Claim, Witness } from './resource.ts';

/** The key of the direct tag binding that holds the claim. */
export const claimKey = 'trueup-stack';

/** The birth mark of a resource that a stack created: `trueup/payments`. */
export function birthMark(stack: string): string {
  return `trueup/${stack}`;
}

export function stackOfBirthMark(text: string | null | undefined): string | undefined {
  return text?.startsWith('trueup/') ? text.slice('trueup/'.length) : undefined;
}

export function formatClaim({ stack, protect, release }: Omit<Claim, 'inherited'>): string {
  return `${stack}${protect ? ':protect' : ''}${release ? ':release' : ''}`;
}

export function parseClaim(text: string, inherited = false): Claim {
  const [stack = '', ...flags] = text.split(':');
  return { stack, protect: flags.includes('protect'), release: flags.includes('release'), inherited };
}

/** The claim of the resource itself: one that is inherited from its project proves nothing. */
export function ownClaim({ claim }: Witness): Claim | undefined {
  return claim?.inherited ? undefined : claim;
}

/** The claim that the service itself shows on the resource, which a release takes off. */
export function shownClaim(witness: Witness): Claim | undefined {
  const claim = ownClaim(witness);
  return claim?.recorded ? undefined : claim;
}
