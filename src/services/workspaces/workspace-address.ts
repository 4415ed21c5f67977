/** The workspace that a part (its tag bindings, its consumers) belongs to: it has the same target and name. */
import type { Address } from '../../model/resource/address.ts';

export function workspaceOf({ target, name }: Address): Address {
  return { kind: 'Workspace', target, name };
}
