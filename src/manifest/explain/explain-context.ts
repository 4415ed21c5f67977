/** What explaining the errors of a value needs: the schema, the source text and the fields of the kind. */
import type { Field } from '../../model/kind/field.ts';
import type { JsonObject, Path } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { ServiceSpellings } from './service-spellings.ts';

export interface ExplainContext {
  /** path of the validated value in the document; `[]` for the document itself */
  readonly base: Path;
  /** of the validated value; used to find fields that are in the wrong section */
  readonly schema: JsonObject;
  /** a scalar as written in the file */
  typed(path: Path): string | undefined;
  /** the kind's definition of the field; undefined when the kind has no such field */
  field(path: Path): Field | undefined;
  isSecret(path: Path): boolean;
  /** what leaving a field out means */
  readonly absent: Kind['absent'];
  /** absent when the value has no fields of a service */
  readonly spellings?: ServiceSpellings | undefined;
}
