/** The workspace that a part of it (its tag bindings, its consumers) belongs to: same target, same name. */
import type { Address } from '../../model/resource/address.ts';

export function workspaceOf({ target, name }: Address): Address {
  return { kind: 'Workspace', target, name };
}
