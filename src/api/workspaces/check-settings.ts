/**
 * The rules that a schema cannot express about settings which several kinds have: key-value tags (wire/workspaces 1.5.17) and durations.
 * All checks work offline, except the one of unread tags, which is part of a plan.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
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
    fix: 'remove it: trueup writes it from "metadata.protect" and "metadata.onRemove"',
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

/** An error if the tags were not read: a write of one tag may have to repeat all others, and would erase unread ones. */
export function unreadTags(
  { address, live }: { readonly address: Address; readonly live?: LiveResource | undefined },
  of: TagRules['of'],
): Diagnostic[] {
  if (live === undefined || live.facts['direct'] !== undefined) return [];
  return [
    {
      code: 'tags-unread',
      severity: 'error',
      class: 'incomplete',
      message: `the tag bindings of ${quoted(formatAddress(address))} could not be read, so no change of it can be planned`,
      fix: `let the token read the tag bindings of the ${of}`,
    },
  ];
}

/** Checks `autoDestroyActivityDuration` of a project or a workspace, offline. */
export function checkDuration(duration: Json | undefined): ResourceProblem[] {
  if (typeof duration !== 'string' || /^[1-9]\d{0,3}[dh]$/.test(duration)) return [];
  return [
    {
      code: 'bad-duration',
      severity: 'error',
      path: ['autoDestroyActivityDuration'],
      message: `${quoted(duration)} is not a duration that the service accepts`,
      allowed: '1 to 9999, followed by "d" or "h"',
      fix: 'write it like "14d" or "36h"',
    },
  ];
}
