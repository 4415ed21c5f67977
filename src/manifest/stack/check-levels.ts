/** A rule for a stack's guards and lint that no schema can express: a stack must not both raise and allow the same one. */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { Problem } from '../explain/problem.ts';

/**
 * @param section `guards` or `lint`
 * @param written that section of `spec`, as written
 */
export function checkLevels(section: 'guards' | 'lint', written: Json | undefined): Problem[] {
  if (!isJsonObject(written)) return [];
  const what = section === 'guards' ? 'guard' : 'code';
  const raised = listOf(written['raise']);
  return listOf(written['allow']).flatMap((id, index) => {
    const at = raised.indexOf(id);
    if (at === -1) return [];
    return {
      code: 'raised-and-allowed',
      path: ['spec', section, 'allow', `${index}`],
      message: `the ${what} ${quoted(String(id))} is both raised and allowed`,
      fix: 'leave it in one of the two lists',
      related: [{ message: 'raised here', path: ['spec', section, 'raise', `${at}`] }],
    };
  });
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
