/** What the token may do with a workspace: the `permissions` of a document are those of the token that reads it (rule 30). */
import { isJsonObject } from '../../model/json/json.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { WorkspaceItem } from './workspace-item.ts';

/** The rights that our calls need. Source: wire/workspaces 5.3. */
export type Right =
  | 'can-update'
  | 'can-lock'
  | 'can-unlock'
  | 'can-manage-tags'
  | 'can-destroy'
  | 'can-force-delete';

const writing: readonly Right[] = ['can-update', 'can-lock', 'can-unlock', 'can-manage-tags', 'can-destroy'];

/** Empty where the document has no permissions. */
export function rightsOf({ attributes }: WorkspaceItem): Pick<LiveResource, 'rights' | 'mayWrite'> {
  const permissions = attributes['permissions'];
  if (!isJsonObject(permissions)) return {};
  const known = Object.entries(permissions).filter(
    (entry): entry is [string, boolean] => typeof entry[1] === 'boolean',
  );
  const mayWrite = writing.some((right) => permissions[right] !== false);
  return { rights: Object.fromEntries(known), ...(mayWrite ? {} : { mayWrite }) };
}
