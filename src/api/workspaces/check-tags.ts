/** The rules about key-value tags that a schema cannot express (wire/workspaces 1.5.17), for all kinds that have such tags. Offline. */
import { isJsonObject, type Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import {
  isOwnershipKey,
  maxKeyLength,
  maxTags,
  maxValueLength,
  reservedPrefixes,
  tagCharacters,
  tagCharactersText,
} from './tag-bindings.ts';

interface TagRules {
  /** what the tags are bound to */
  readonly of: 'workspace' | 'project';
  /** the fix if there are too many */
  readonly instead: string;
}

/** @param declared the value of `tags` */
export function checkTags(declared: Json | undefined, rules: TagRules): readonly ResourceProblem[] {
  const tags = isJsonObject(declared) ? declared : {};
  const keys = Object.keys(tags);
  return [
    ...checkCount(keys.length, rules),
    ...keys.flatMap(checkKey),
    ...Object.entries(tags).flatMap(([key, value]) => checkValue(key, value)),
  ];
}

function checkCount(count: number, { of, instead }: TagRules): ResourceProblem[] {
  const most = maxTags - 1;
  if (count <= most) return [];
  return [
    {
      code: 'too-many-tags',
      severity: 'error',
      path: ['tags'],
      message: `a ${of} can have ${maxTags} tag bindings, and one of them is the ownership tag`,
      found: `${count} tags`,
      allowed: `${most} at most`,
      fix: instead,
    },
  ];
}

function checkKey(key: string): ResourceProblem[] {
  const path = ['tags', key];
  if (isOwnershipKey(key)) return [ownershipTagDeclared(path, key)];
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

function ownershipTagDeclared(path: readonly string[], key: string): ResourceProblem {
  return {
    code: 'claim-as-tag',
    severity: 'error',
    path,
    side: 'key',
    message: `${quoted(key)} is the key of an ownership tag, which only trueup writes`,
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
