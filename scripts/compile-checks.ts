/** Compiles ahead of time every schema that trueup checks with, into the module that replaces `precompiled-checks.ts`. */
import { _ } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { fleetSchema } from '../src/commands/fleet/fleet-schema.ts';
import { kinds } from '../src/kinds/index.ts';
import { makeCompiler, schemaKey } from '../src/manifest/schema/compile-schema.ts';
import { headerSchema, manifestSchema, partialSpecSchema } from '../src/manifest/schema/manifest-schema.ts';
import { stackSchema } from '../src/manifest/schema/stack-schema.ts';
import { jsonSchema } from '../src/model/define-kind.ts';
import { policySchema } from '../src/policies/schema.ts';
import { stackLabelsSchema } from '../src/manifest/schema/label-schema.ts';
import { driftSchema } from '../src/report/json/drift-schema.ts';
import { planSchema } from '../src/report/json/plan-schema.ts';
import { makeCompiler as makeServerCompiler } from '../src/server/kernel/check-schema.ts';
import { SEED_FORMATS } from '../src/server/seed/seed-formats.ts';
import { seedSchema } from '../src/server/seed/seed-schema.ts';

/** The schemas that `compileSchema` is called with. A schema that is missing here is compiled when it is needed. */
function schemas(): readonly object[] {
  const ofKinds = [...kinds.values()].flatMap((kind) => [manifestSchema(kind), partialSpecSchema(kind)]);
  return [
    ...ofKinds,
    headerSchema(kinds),
    jsonSchema(stackSchema),
    jsonSchema(policySchema),
    jsonSchema(fleetSchema),
    jsonSchema(driftSchema),
    jsonSchema(stackLabelsSchema),
    jsonSchema(planSchema),
  ];
}

/** The text of an ES module that exports `readyChecks`. */
export function compileChecks(): string {
  const ajv = makeCompiler({ source: true, esm: true });
  const schemaByKey = new Map(schemas().map((schema) => [schemaKey(schema), schema] as const));
  const named = [...schemaByKey].map(([key, schema], index) => {
    ajv.addSchema(schema, key);
    return [`check${index}`, key] as const;
  });
  const entries = named.map(([name, key]) => `['${key}', ${name}]`).join(', ');
  return `${standalone.default(ajv, Object.fromEntries(named))}\nexport const readyChecks = new Map([${entries}]);\n`;
}

/** The text of an ES module that exports `compiledSeed`, and replaces `seed/compiled-seed.ts`. */
export function compileSeed(): string {
  const ajv = makeServerCompiler(SEED_FORMATS, { source: true, esm: true, formats: _`formats` });
  ajv.addSchema(jsonSchema(seedSchema), 'seed');
  return `import { SEED_FORMATS } from './seed-formats.ts';
const formats = Object.fromEntries(
  Object.entries(SEED_FORMATS).map(([name, problems]) => [name, (text) => problems(text).length === 0]),
);
${standalone.default(ajv, { compiledSeed: 'seed' })}`;
}
