/** The permissions that a workspace document tells are those of the token that read it (RULES 30). */
import { isJsonObject } from '../../model/json.ts';
import type { LiveResource } from '../../model/resource.ts';

/** Only what is said to be denied is: a service may leave permissions out. @param permission such as `can-update` */
export function denies({ facts }: Pick<LiveResource, 'facts'>, permission: string): boolean {
  const permissions = facts['permissions'];
  return isJsonObject(permissions) && permissions[permission] === false;
}
