/** The schema of the Stack document for editors: the one that `trueup.yaml` is judged by, and what `defaults` may hold. */
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import { jsonSchema } from '../../model/kind/json-schema.ts';
import type { Registry } from '../../model/kind/kind.ts';
import { partialSpecSchema } from './manifest-schema.ts';
import { stackSchema } from './stack-schema.ts';

/** The stack's schema for editors, which also knows the fields that `defaults` may hold. */
export function stackDocumentSchema(kinds: Registry): JsonObject {
  const schema = jsonSchema(stackSchema);
  const defaults = {
    type: 'object',
    description: 'By kind: merged under the spec of each manifest of that kind',
    properties: Object.fromEntries([...kinds.values()].map((kind) => [kind.name, partialSpecSchema(kind)])),
    additionalProperties: false,
  };
  const { properties, ...rest } = schema;
  if (!isJsonObject(properties) || !isJsonObject(properties['spec'])) throw new Error('the stack has a spec');
  const spec = properties['spec'];
  const members = { ...(isJsonObject(spec['properties']) ? spec['properties'] : {}), defaults };
  return { ...rest, properties: { ...properties, spec: { ...spec, properties: members } } };
}
