/** What a value was judged by, and what is known of it besides: all that explaining an error needs. */
import type { Field } from '../../model/kind/field.ts';
import type { JsonObject, Path } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { ServiceSpellings } from './service-spellings.ts';

export interface JudgedValue {
  /** where in the document the judged value stands; `[]` for the document itself */
  readonly base: Path;
  /** of the judged value; fields in the wrong section are found with it */
  readonly schema: JsonObject;
  /** a scalar as it stands in the file */
  typed(path: Path): string | undefined;
  /** how the kind compares the field; undefined where it has none */
  field(path: Path): Field | undefined;
  isSecret(path: Path): boolean;
  /** what leaving a field out means */
  readonly absent: Kind['absent'];
  /** absent where no field of a service is judged */
  readonly spellings?: ServiceSpellings | undefined;
}
