/** The rules about tag bindings that a schema cannot express (wire/workspaces 1.5.17). Offline. */
import { type DesiredResource, ownershipTagKey } from '../../model/resource.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import { quoted } from '../../model/quoted.ts';
import {
  maxKeyLength,
  maxValueLength,
  maxTags,
  reservedPrefixes,
  tagCharacters,
  tagCharactersText,
} from '../../api/workspaces/tag-bindings.ts';
import type { TagBindingsSpec } from './schema.ts';

export function check({ spec }: DesiredResource<TagBindingsSpec>): readonly ResourceProblem[] {
  const tags = isJsonObject(spec.tags) ? spec.tags : {};
  const keys = Object.keys(tags);
  return [
    ...checkCount(keys.length),
    ...keys.flatMap(checkKey),
    ...Object.entries(tags).flatMap(([key, value]) => checkValue(key, value)),
    ...keys.flatMap((key) => checkKept(key, spec.keep)),
  ];
}

function checkCount(count: number): ResourceProblem[] {
  const most = maxTags - 1;
  if (count <= most) return [];
  return [
    {
      code: 'too-many-tags',
      severity: 'error',
      path: ['tags'],
      message: `a workspace can have ${maxTags} tag bindings, and one of them is the ownership tag`,
      found: `${count} tags`,
      allowed: `${most} at most`,
      fix: 'remove some, or use flat tags ("tagNames" of the workspace)',
    },
  ];
}

function checkKey(key: string): ResourceProblem[] {
  const path = ['tags', key];
  if (key === ownershipTagKey) return [ownershipTagDeclared(path)];
  const prefix = reservedPrefixes.find((reserved) => key.startsWith(reserved));
  if (prefix !== undefined) {
    return [
      {
        code: 'reserved-tag',
        severity: 'error',
        path,
        side: 'key',
        message: `tag keys that begin with ${quoted(prefix)} belong to the service`,
        fix: 'use another key',
      },
    ];
  }
  const fits = key !== '' && key.length <= maxKeyLength && tagCharacters.test(key);
  return fits
    ? []
    : [
        {
          ...badTag(
            path,
            `${quoted(key)} is not a valid tag key`,
            `1 to ${maxKeyLength} of ${tagCharactersText}`,
          ),
          side: 'key',
        },
      ];
}

function ownershipTagDeclared(path: readonly string[]): ResourceProblem {
  return {
    code: 'claim-as-tag',
    severity: 'error',
    path,
    side: 'key',
    message: `${quoted(ownershipTagKey)} is the key of the ownership tag, which only trueup writes`,
    fix: 'remove it; "metadata.protect" and "metadata.onRemove" set its flags',
  };
}

function checkValue(key: string, value: Json): ResourceProblem[] {
  if (typeof value !== 'string') return [];
  if (value.length <= maxValueLength && tagCharacters.test(value)) return [];
  return [
    badTag(
      ['tags', key],
      `${quoted(value)} is not a valid tag value`,
      `at most ${maxValueLength} of ${tagCharactersText}`,
    ),
  ];
}

function badTag(path: readonly string[], message: string, allowed: string): ResourceProblem {
  return { code: 'bad-tag', severity: 'error', path, message, allowed };
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
