/** What a stack says of guards and no schema can judge: that it does not both raise and allow the same one. */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { Problem } from '../explain/problem.ts';

/** @param guards `spec.guards` as written */
export function checkGuards(guards: Json | undefined): Problem[] {
  if (!isJsonObject(guards)) return [];
  const raised = listOf(guards['raise']);
  return listOf(guards['allow']).flatMap((id, index) => {
    const at = raised.indexOf(id);
    if (at === -1) return [];
    return {
      code: 'raised-and-allowed',
      path: ['spec', 'guards', 'allow', `${index}`],
      message: `the guard "${String(id)}" is both raised and allowed`,
      fix: 'leave it in one of the two lists',
      related: [{ message: 'raised here', path: ['spec', 'guards', 'raise', `${at}`] }],
    };
  });
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
