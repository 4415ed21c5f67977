/** The rules about tag bindings that a schema cannot express (wire/workspaces 1.5.17). Offline. */
import { checkTags } from '../../api/workspaces/check-settings.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { TagBindingsSpec } from './schema.ts';

export function check({ spec }: DesiredResource<TagBindingsSpec>): readonly ResourceProblem[] {
  const keys = Object.keys(isJsonObject(spec.tags) ? spec.tags : {});
  return [
    ...checkTags(spec.tags, {
      of: 'workspace',
      instead: 'remove some, or use flat tags ("tagNames" of the workspace)',
    }),
    ...keys.flatMap((key) => checkKept(key, spec.keep)),
  ];
}

function checkKept(key: string, keep: Json | undefined): ResourceProblem[] {
  if (!Array.isArray(keep)) return [];
  const position = keep.findIndex((pattern) => matchesPattern(key, String(pattern)));
  if (position === -1) return [];
  return [
    {
      code: 'kept-and-declared',
      severity: 'warning',
      path: ['tags', key],
      message: `${quoted(key)} is declared, and also matches "keep", which leaves tags to others: the declared value is written`,
      fix: 'remove it from one of the two',
      related: { message: 'the matching pattern', path: ['keep', String(position)] },
    },
  ];
}
