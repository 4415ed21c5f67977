/** The rules about one workspace that a schema cannot express (wire/workspaces 5.4, 2.1). Offline. */
import { isJsonObject } from '../../model/json/json.ts';
import type { ResourceProblem } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import { checkExecution } from './check/check-execution.ts';
import { checkTriggers } from './check/check-triggers.ts';
import type { WorkspaceSpec } from './schema.ts';

export function check({ spec }: DesiredResource<WorkspaceSpec>): readonly ResourceProblem[] {
  return [
    ...checkExecution(spec),
    ...checkTriggers(spec),
    ...checkConnection(spec.vcsRepo),
    ...checkAutoDestroy(spec),
    ...checkTagNames(spec.tagNames),
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

const DURATION = /^[1-9]\d{0,3}[dh]$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;

function checkAutoDestroy(spec: WorkspaceSpec): ResourceProblem[] {
  const findings: ResourceProblem[] = [];
  const duration = spec.autoDestroyActivityDuration;
  if (typeof duration === 'string' && !DURATION.test(duration)) {
    findings.push({
      code: 'bad-duration',
      severity: 'error',
      path: ['autoDestroyActivityDuration'],
      message: `"${duration}" is no duration that the service takes`,
      allowed: '1 to 9999, followed by "d" or "h"',
      fix: 'write it like "14d" or "36h"',
    });
  }
  const time = spec.autoDestroyAt;
  if (typeof time === 'string' && !(TIMESTAMP.test(time) && !Number.isNaN(Date.parse(time)))) {
    findings.push({
      code: 'bad-timestamp',
      severity: 'error',
      path: ['autoDestroyAt'],
      message: `"${time}" is no timestamp`,
      allowed: 'ISO 8601 with a time zone',
      fix: 'write it like "2030-01-31T08:00:00Z"',
    });
  }
  return findings;
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
        message: `the tag "${name}" is given twice; flat tags are kept in lower case`,
        fix: 'remove one of the two',
        related: { message: 'the first one', path: ['tagNames', String(first)] },
      };
    }
    if (TAG_NAME.test(name)) return [];
    return {
      code: 'bad-tag-name',
      severity: 'error' as const,
      path,
      message: `"${name}" is no flat tag`,
      allowed: 'letters, digits, ":", "-" and "_", the first and the last a letter or a digit',
    };
  });
}
