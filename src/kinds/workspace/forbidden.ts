/** What the token may not do with a workspace, as the workspace itself says (specs/workspaces.md, "Authentication"). */
import type { Action } from '../../model/change.ts';
import type { LiveResource } from '../../model/resource.ts';
import { denies } from '../../targets/workspaces/denies.ts';

export function forbidden(live: LiveResource, action: Action, remove?: 'safe' | 'force'): readonly string[] {
  switch (action) {
    case 'delete': {
      const permission = remove === 'force' ? 'can-force-delete' : 'can-destroy';
      return denies(live, permission) ? [`this token may not delete it (${permission})`] : [];
    }
    case 'adopt':
    case 'update':
    case 'release':
      return denies(live, 'can-update') ? ['this token may not change its settings (can-update)'] : [];
    case 'create':
    case 'none':
      return [];
  }
}
