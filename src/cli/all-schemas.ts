/** All JSON Schemas that trueup publishes, by name: of each kind, the stack, any manifest, and what commands print as JSON. */
import { anyManifestSchema, manifestSchema } from '../manifest/schema/manifest-schema.ts';
import { stackDocumentSchema } from '../manifest/schema/stack-schema.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Registry } from '../model/kind/kind.ts';
import { eventsSchema } from '../report/audit/events-schema.ts';
import { driftSchema } from '../report/drift/drift-schema.ts';
import { applyEventSchema } from '../report/json/apply-event-schema.ts';
import { historySchema } from '../report/json/history-schema.ts';
import { acceptSchema } from '../report/accept/accept-schema.ts';
import { loginSchema } from '../report/login/login-schema.ts';
import { planSchema } from '../report/json/plan-schema.ts';
import { differenceSchema, outcomesSchema, problemsSchema } from '../report/results/result-schemas.ts';

export function allSchemas(kinds: Registry): ReadonlyMap<string, JsonObject> {
  const named = [...kinds.values()].map((kind) => [kind.name, manifestSchema(kind)] as const);
  return new Map<string, JsonObject>([
    ...named,
    ['Stack', stackDocumentSchema(kinds)],
    ['Manifest', anyManifestSchema(kinds)],
    ['Plan', asJson(planSchema)],
    ['Problems', asJson(problemsSchema)],
    ['Difference', asJson(differenceSchema)],
    ['Outcomes', asJson(outcomesSchema)],
    ['ApplyEvent', asJson(applyEventSchema)],
    ['Drift', asJson(driftSchema)],
    ['History', asJson(historySchema)],
    ['Login', asJson(loginSchema)],
    ['Audit', asJson(eventsSchema)],
    ['Accept', asJson(acceptSchema)],
  ]);
}

/** A schema as plain JSON, as it is when it has been written to a file. */
function asJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
