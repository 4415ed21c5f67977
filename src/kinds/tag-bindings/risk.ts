/** Tags open no access to anything, so no change of them widens or narrows it. */
import type { Risk } from '../../model/plan/risk.ts';

export function risk(): readonly Risk[] {
  return [];
}
