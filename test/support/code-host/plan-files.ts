/** Plan files as `plan --out` writes them, for plans that a test makes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from '../../../src/model/plan.ts';
import { digestOf } from '../../../src/plan/digest.ts';
import { renderPlanJson } from '../../../src/report/json/plan.ts';
import { change, plan } from '../report/small-plan.ts';

/** A plan that creates the sample resources of these names. @returns the name of the file */
export function writePlanOf(
  folder: string,
  names: readonly string[],
  about: Partial<Plan> = {},
): Promise<string> {
  const changes = names.map((name) =>
    change({
      action: 'create',
      reason: 'declared, not live',
      address: { kind: 'Toy', target: 'acme', name },
    }),
  );
  return writePlan(folder, { changes, ...about });
}

let written = 0;

export async function writePlan(folder: string, about: Partial<Plan>): Promise<string> {
  const made = plan({ made: { at: new Date().toISOString(), commit: 'a'.repeat(40) }, ...about });
  written += 1;
  const file = `plan-${written}.json`;
  await writeFile(join(folder, file), `${renderPlanJson({ ...made, digest: digestOf(made) })}\n`);
  return file;
}
