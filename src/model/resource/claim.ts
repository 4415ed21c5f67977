/** The claim as text, `<stack>[:protect][:release]`, written in one place and read in the same one (rules 20). */
import type { Claim, Witness } from './resource.ts';

/** The key of the direct tag binding that holds the claim. */
export const claimKey = 'trueup-stack';

/** What the birth mark of a resource that a stack created says: `trueup/payments`. */
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

/** The claim that a resource bears itself: one that its parent hands down says nothing about it. */
export function ownClaim({ claim }: Witness): Claim | undefined {
  return claim?.inherited ? undefined : claim;
}
