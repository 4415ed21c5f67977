/** Checks what starts runs: at most one of prefixes, patterns and a regular expression for tags, which excludes file triggers. */
import { isJsonObject, type Json, type Path } from '../../../model/json/json.ts';
import type { ResourceProblem } from '../../../model/kind/kind.ts';
import { quoted } from '../../../model/quoted.ts';
import type { WorkspaceSpec } from '../schema.ts';

interface SetTrigger {
  readonly path: Path;
  readonly value: Json;
}

export function checkTriggers(spec: WorkspaceSpec): ResourceProblem[] {
  const regex = regexOf(spec);
  const triggers: SetTrigger[] = [
    { path: ['triggerPrefixes'], value: spec.triggerPrefixes ?? null },
    { path: ['triggerPatterns'], value: spec.triggerPatterns ?? null },
    { path: ['vcsRepo', 'tagsRegex'], value: regex },
  ];
  const [first, ...others] = triggers.filter(({ value }) => isPopulated(value));
  if (first === undefined) return [];
  return [
    ...others.map((other) => together(first, other)),
    ...(isPopulated(regex) ? [...fileTriggers(spec), ...badRegex(regex)] : []),
  ];
}

function regexOf(spec: WorkspaceSpec): Json {
  const repository = spec.vcsRepo;
  return isJsonObject(repository) ? (repository.tagsRegex ?? null) : null;
}

function isPopulated(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== '';
}

function together(first: SetTrigger, other: SetTrigger): ResourceProblem {
  const [one, two] = [first.path.join('.'), other.path.join('.')];
  return {
    code: 'two-triggers',
    severity: 'error',
    path: other.path,
    side: 'key',
    message: `${quoted(two)} must not be set together with ${quoted(one)}`,
    allowed: 'one of "triggerPrefixes", "triggerPatterns" and "vcsRepo.tagsRegex"',
    fix: 'keep the one that shall start runs',
    related: { message: `${quoted(one)} is set here`, path: first.path },
  };
}

/** An absent field is fine: the service turns file triggers off by itself. null means the default, which is on. */
function fileTriggers(spec: WorkspaceSpec): ResourceProblem[] {
  if (spec.fileTriggersEnabled === undefined || spec.fileTriggersEnabled === false) return [];
  return [
    {
      code: 'regex-with-file-triggers',
      severity: 'error',
      path: ['fileTriggersEnabled'],
      message: 'file triggers must be off while "vcsRepo.tagsRegex" is set',
      fix: 'set "fileTriggersEnabled" to false',
      related: { message: 'the regular expression', path: ['vcsRepo', 'tagsRegex'] },
    },
  ];
}

/** Only a warning: the service's syntax of regular expressions differs from JavaScript's. */
function badRegex(regex: Json): ResourceProblem[] {
  if (typeof regex !== 'string' || isRegex(regex)) return [];
  return [
    {
      code: 'doubtful-regex',
      severity: 'warning',
      path: ['vcsRepo', 'tagsRegex'],
      message: `${quoted(regex)} does not look like a regular expression`,
    },
  ];
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
