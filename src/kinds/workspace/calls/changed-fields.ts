/** Groups the field changes of a workspace by top-level field. */
import type { FieldChange } from '../../../model/kind/field.ts';
import type { Json, JsonObject } from '../../../model/json/json.ts';
import type { WorkspaceFields } from '../workspace-types.ts';

export interface ChangedField {
  /** the new value of the whole field; undefined when only members of it change */
  readonly after?: Json;
  /** the old value of the whole field, if known */
  readonly before?: Json;
  /** the members that change, with their new values */
  readonly members: JsonObject;
}

/** By the name of a field, or `name` and `claim`, which are the planner's own fields. */
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
