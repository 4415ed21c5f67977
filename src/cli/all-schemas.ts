/** Every JSON Schema that trueup publishes, by name: one for each kind, and for the stack, any manifest, the plan and the history. */
import { anyManifestSchema, manifestSchema } from '../manifest/schema/manifest-schema.ts';
import { stackDocumentSchema } from '../manifest/schema/stack-document-schema.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Registry } from '../model/kind/kind.ts';
import { historySchema } from '../report/json/history-schema.ts';
import { planSchema } from '../report/json/plan-schema.ts';

export function allSchemas(kinds: Registry): ReadonlyMap<string, JsonObject> {
  const named = [...kinds.values()].map((kind) => [kind.name, manifestSchema(kind)] as const);
  return new Map<string, JsonObject>([
    ...named,
    ['Stack', stackDocumentSchema(kinds)],
    ['Manifest', anyManifestSchema(kinds)],
    ['Plan', asJson(planSchema)],
    ['History', asJson(historySchema)],
  ]);
}

/** A schema as the plain data that it is once it is written down. */
function asJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
