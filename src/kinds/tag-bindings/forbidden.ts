/** Tags are changed as a setting of the workspace, or by whoever may manage its tags. */
import type { LiveResource } from '../../model/resource.ts';
import { denies } from '../../targets/workspaces/denies.ts';

/** Only when neither of the two is granted will the service surely refuse. */
export function forbidden(live: LiveResource): readonly string[] {
  return denies(live, 'can-update') && denies(live, 'can-manage-tags')
    ? ['this token may not change its tags (can-update)']
    : [];
}
