/**
 * The rules about one workspace that a schema cannot express (wire/workspaces 5.4, 2.1). Offline. Where runs execute is checked
 * in `check-execution.ts`.
 */
import { checkDuration } from '../../api/workspaces/check-settings.ts';
import { parseMoment } from '../../compare/comparisons.ts';
import { isJsonObject, type Json, type Path } from '../../model/json.ts';
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { type DesiredResource, isLikeCreatorMark } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import { hasPassed } from './auto-destroy.ts';
import { checkExecution } from './check-execution.ts';
import { fieldsOutside } from './fields.ts';
import type { WorkspaceSpec } from './schema.ts';

export function check(
  { spec }: DesiredResource<WorkspaceSpec>,
  { dialect, now, target }: CheckContext,
): readonly ResourceProblem[] {
  return [
    ...checkExecution(spec, dialect),
    ...checkTriggers(spec),
    ...checkConnection(spec.vcsRepo),
    ...checkAutoDestroy(spec, now),
    ...checkTagNames(spec.tagNames),
    ...checkSourceName(spec.sourceName),
    ...checkDirectory(spec.workingDirectory, dialect),
    ...checkVersion(spec.engineVersion),
    ...checkRetention(spec.dataRetentionPolicy, { dialect, url: target.url }),
    ...checkDialect(spec, dialect),
  ];
}

function checkConnection(repository: WorkspaceSpec['vcsRepo']): ResourceProblem[] {
  if (!isJsonObject(repository)) return [];
  if (repository.oauthTokenId === undefined || repository.vcsAppInstallationId === undefined) return [];
  return [
    {
      code: 'two-connections',
      severity: 'error',
      path: ['vcsRepo', 'vcsAppInstallationId'],
      side: 'key',
      message: '"vcsRepo" has both an OAuth token and an app installation',
      allowed: 'one of "oauthTokenId" and "vcsAppInstallationId"',
      fix: 'remove the one that the repository is not connected through',
      related: { message: 'the OAuth token', path: ['vcsRepo', 'oauthTokenId'] },
    },
  ];
}

function checkAutoDestroy(spec: WorkspaceSpec, now: number | undefined): ResourceProblem[] {
  const findings = checkDuration(spec.autoDestroyActivityDuration);
  const time = spec.autoDestroyAt;
  if (typeof time === 'string' && !(/^[^T]+T/i.test(time) && parseMoment(time) !== undefined)) {
    findings.push({
      code: 'bad-timestamp',
      severity: 'error',
      path: ['autoDestroyAt'],
      message: `${quoted(time)} is not a timestamp`,
      allowed: 'ISO 8601 with a time zone',
      fix: 'write it like "2030-01-31T08:00:00Z"',
    });
  }
  if (hasPassed(time, now)) {
    findings.push({
      code: 'destroy-time-passed',
      severity: 'warning',
      path: ['autoDestroyAt'],
      message: `the time ${quoted(String(time))} has passed`,
      fix: 'remove this line: sent again, it would destroy the resources of the workspace at once',
    });
  }
  return findings;
}

/** A declared creator mark would let the stack that it names delete the workspace. */
function checkSourceName(name: WorkspaceSpec['sourceName']): ResourceProblem[] {
  if (typeof name !== 'string' || !isLikeCreatorMark(name)) return [];
  return [
    {
      code: 'creator-mark-declared',
      severity: 'error',
      path: ['sourceName'],
      message: `${quoted(name)} is a creator mark, which names the stack that created a workspace; only trueup writes it`,
      allowed: 'a name that does not begin with "trueup/"',
      fix: 'remove this line: trueup writes the mark of this stack by itself when it creates the workspace',
    },
  ];
}

const TAG_NAME = /^[a-z0-9]([a-z0-9:_-]*[a-z0-9])?$/i;

function checkTagNames(names: WorkspaceSpec['tagNames']): ResourceProblem[] {
  if (!Array.isArray(names)) return [];
  return names.flatMap((name, position) => {
    const path = ['tagNames', String(position)];
    const first = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
    if (first < position) {
      return {
        code: 'duplicate-tag',
        severity: 'error' as const,
        path,
        message: `the tag ${quoted(name)} is given twice; flat tags are kept in lower case`,
        fix: 'remove one of the two',
        related: { message: 'the first one', path: ['tagNames', String(first)] },
      };
    }
    if (TAG_NAME.test(name)) return [];
    return {
      code: 'bad-tag-name',
      severity: 'error' as const,
      path,
      message: `${quoted(name)} is not a valid flat tag`,
      allowed: 'letters, digits, ":", "-" and "_", the first and the last a letter or a digit',
    };
  });
}

function checkDirectory(directory: WorkspaceSpec['workingDirectory'], dialect: Dialect): ResourceProblem[] {
  const isAbsolute = typeof directory === 'string' && directory.startsWith('/');
  if (!isAbsolute || dialect.capabilities.has('absolute-working-directory')) return [];
  return [
    {
      code: 'absolute-directory',
      severity: 'error',
      path: ['workingDirectory'],
      message: `${quoted(directory)} is an absolute path, which the service refuses`,
      allowed: 'a path from the root of the repository',
      fix: `write it without the leading "/"`,
    },
  ];
}

/** Only the form is checked: which releases exist is not known, and an administrator can add some. */
const CONSTRAINT = /^(=|!=|>=|<=|>|<|~>)?\s*\d+(\.\d+)*(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

function checkVersion(version: WorkspaceSpec['engineVersion']): ResourceProblem[] {
  if (typeof version !== 'string' || version === 'latest') return [];
  if (version.split(',').every((part) => CONSTRAINT.test(part.trim()))) return [];
  return [
    {
      code: 'bad-engine-version',
      severity: 'error',
      path: ['engineVersion'],
      message: `${quoted(version)} is neither a version nor a version constraint`,
      allowed: 'a version, or constraints with =, !=, >, >=, <, <= or ~>, separated by commas',
      fix: 'write it like "1.9.8" or "~> 1.9.0"',
    },
  ];
}

export const notOnHosted = {
  code: 'not-in-edition',
  message: '"dataRetentionPolicy" needs the self-hosted edition, and this service is the hosted one',
  fix: 'remove "dataRetentionPolicy"',
} as const;

/** Some hosts are known offline to be the hosted edition; for others, the plan asks the service. */
function checkRetention(
  policy: WorkspaceSpec['dataRetentionPolicy'],
  { dialect, url }: { readonly dialect: Dialect; readonly url: string },
): ResourceProblem[] {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  if (!isJsonObject(policy) || dialect.hosted?.hosts.has(host) !== true) return [];
  return [{ severity: 'error', path: ['dataRetentionPolicy'], side: 'key', ...notOnHosted }];
}

function checkDialect(spec: WorkspaceSpec, dialect: Dialect): ResourceProblem[] {
  return fieldsOutside(dialect)
    .filter((name) => spec[name] !== undefined)
    .map((name) => ({
      code: 'not-in-dialect',
      severity: 'error',
      path: [name],
      side: 'key',
      message: `${quoted(name)} is not a field of the dialect ${quoted(dialect.name)}`,
      fix: `remove ${quoted(name)}, or set the "dialect" of the target if its service has the field`,
    }));
}

// Checks what starts runs: at most one of prefixes, patterns and a regular expression for tags, which excludes file triggers.

interface SetTrigger {
  readonly path: Path;
  readonly value: Json;
}

function checkTriggers(spec: WorkspaceSpec): ResourceProblem[] {
  const regex = regexOf(spec);
  const triggers: SetTrigger[] = [
    { path: ['triggerPrefixes'], value: spec.triggerPrefixes ?? null },
    { path: ['triggerPatterns'], value: spec.triggerPatterns ?? null },
    { path: ['vcsRepo', 'tagsRegex'], value: regex },
  ];
  const [first, ...others] = triggers.filter(({ value }) => isPopulated(value));
  if (first === undefined) return [];
  return [
    ...others.map((other) => bothSet(first, other)),
    ...(isPopulated(regex) ? [...checkFileTriggers(spec), ...checkRegex(regex)] : []),
  ];
}

function regexOf(spec: WorkspaceSpec): Json {
  const repository = spec.vcsRepo;
  return isJsonObject(repository) ? (repository.tagsRegex ?? null) : null;
}

function isPopulated(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== '';
}

function bothSet(first: SetTrigger, other: SetTrigger): ResourceProblem {
  const [one, two] = [first.path.join('.'), other.path.join('.')];
  return {
    code: 'two-triggers',
    severity: 'error',
    path: other.path,
    side: 'key',
    message: `${quoted(two)} must not be set together with ${quoted(one)}`,
    allowed: 'one of "triggerPrefixes", "triggerPatterns" and "vcsRepo.tagsRegex"',
    fix: 'keep the one that should start runs',
    related: { message: `${quoted(one)} is set here`, path: first.path },
  };
}

/** An absent field is valid: the service turns file triggers off by itself. null means the default, which is on. */
function checkFileTriggers(spec: WorkspaceSpec): ResourceProblem[] {
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
function checkRegex(regex: Json): ResourceProblem[] {
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
