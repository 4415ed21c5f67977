/** Tells templates from other documents: in most stacks that is all that is done for templates. */
import { isJsonObject, memberOf } from '../../model/json.ts';
import type { YamlDocument } from '../yaml/yaml-document.ts';

export function isTemplate({ value }: Pick<YamlDocument, 'value'>): boolean {
  const metadata = memberOf(value, 'metadata');
  return isJsonObject(metadata) && Object.hasOwn(metadata, 'each');
}
