/** Who may not change the settings of a workspace may not change its consumers (specs/workspaces.md, "Authentication"). */
import type { LiveResource } from '../../model/resource.ts';
import { denies } from '../../targets/workspaces/denies.ts';

export function forbidden(live: LiveResource): readonly string[] {
  return denies(live, 'can-update') ? ['this token may not change its consumers (can-update)'] : [];
}
