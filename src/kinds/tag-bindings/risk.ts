/** Tags open no access to anything, so no change of them widens or narrows it. */
import type { SharingEffect } from '../../targets/workspaces/sharing-effect.ts';

export function risk(): readonly SharingEffect[] {
  return [];
}
