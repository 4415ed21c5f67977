/** The rules about one project that a schema cannot express. Offline. */
import { checkDuration, checkTags } from '../../api/workspaces/check-settings.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { DeclaredProject } from './fields.ts';
import type { ProjectSpec } from './schema.ts';

export function check({ spec }: DeclaredProject): readonly ResourceProblem[] {
  return [
    ...checkPool(spec),
    ...checkDuration(spec.autoDestroyActivityDuration),
    ...checkTags(spec.tags, { of: 'project', instead: 'remove some' }),
  ];
}

function checkPool(spec: ProjectSpec): ResourceProblem[] {
  const field = spec.defaultAgentPool === undefined ? 'defaultAgentPoolId' : 'defaultAgentPool';
  const mode = spec.defaultExecutionMode ?? null;
  const pool = spec[field] ?? null;
  if (mode === 'agent' && pool === null)
    return [
      {
        code: 'agent-pool-missing',
        severity: 'error',
        path: spec[field] === undefined ? ['defaultExecutionMode'] : [field],
        message: 'the mode "agent" needs a "defaultAgentPool", or a "defaultAgentPoolId"',
        fix: 'add "defaultAgentPool"',
      },
    ];
  if (mode === 'agent' || pool === null) return [];
  return [
    {
      code: 'agent-pool-without-agent',
      severity: 'error',
      path: [field],
      side: 'key',
      message: `${quoted(field)} is only allowed with "defaultExecutionMode: agent"`,
      found:
        spec.defaultExecutionMode === undefined
          ? 'no defaultExecutionMode'
          : `defaultExecutionMode ${quoted(String(mode))}`,
      fix: `write "defaultExecutionMode: agent", or remove ${quoted(field)}`,
    },
  ];
}
