/** The field changes of a workspace by top-level field, as the values to send. */
import type { FieldChange } from '../../../model/kind/field.ts';
import type { Json, JsonObject } from '../../../model/json/json.ts';
import type { WorkspaceFields } from '../workspace-types.ts';

export interface ChangedField {
  /** the whole value that the field shall have; undefined when only members of it change */
  readonly after?: Json;
  /** the whole value before, where it is known */
  readonly before?: Json;
  /** the members that change, with the values they shall have */
  readonly members: JsonObject;
}

/** By the name of a field, or of what stands beside the fields in a change. */
export type ChangedFields = Pick<
  ReadonlyMap<keyof WorkspaceFields | 'name' | 'claim', ChangedField>,
  'get' | 'has'
>;

export function changedFields(changes: readonly FieldChange[]): ChangedFields {
  const changed = new Map<string, ChangedField>();
  for (const { path, before, after } of changes) {
    const [name = '', member] = path;
    const known = changed.get(name);
    if (member !== undefined) {
      changed.set(name, { members: { ...known?.members, [member]: after ?? null } });
    } else {
      changed.set(name, {
        members: {},
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      });
    }
  }
  return changed;
}
