/** Checks where runs execute: mode, pool, inheritance and the deprecated `operations` must agree. */
import { isJsonObject } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import type { Dialect } from '../../model/stack.ts';
import { quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import { refusesAssessments } from '../../api/workspaces/workspace-call.ts';
import type { WorkspaceSpec } from './schema.ts';

type ExecutionProblem = Omit<ResourceProblem, 'severity'>;

export function checkExecution(spec: WorkspaceSpec, dialect: Dialect): ResourceProblem[] {
  const findings = [
    ...checkOperations(spec),
    ...checkPool(spec),
    ...checkOverwrites(spec),
    ...checkAssessments(spec, dialect),
  ];
  return findings.map((finding) => ({ severity: 'error', ...finding }));
}

function checkOperations(spec: WorkspaceSpec): ExecutionProblem[] {
  if (spec.operations === undefined || spec.executionMode === undefined) return [];
  return [
    {
      code: 'operations-with-mode',
      path: ['operations'],
      side: 'key',
      message: '"operations" must not be given together with "executionMode"',
      fix: 'remove "operations", which is deprecated',
      related: { message: 'the execution mode', path: ['executionMode'] },
    },
  ];
}

function checkPool(spec: WorkspaceSpec): ExecutionProblem[] {
  const mode = spec.executionMode ?? null;
  const field = spec.agentPool === undefined ? 'agentPoolId' : 'agentPool';
  const pool = spec[field] ?? null;
  const inheritsPool = overwrites(spec, 'agentPool') === false;
  if (mode === 'agent' && pool === null && !inheritsPool) {
    return [
      {
        code: 'agent-pool-missing',
        path: spec[field] === undefined ? ['executionMode'] : [field],
        message: 'the mode "agent" needs an "agentPool", or an "agentPoolId"',
        fix: 'add "agentPool", or inherit the pool with "settingOverwrites: { agentPool: false }"',
      },
    ];
  }
  if (mode === 'agent' && pool !== null && inheritsPool) return [poolInherited(field)];
  if (mode === 'agent' || pool === null) return [];
  return [
    {
      code: 'agent-pool-without-agent',
      path: [field],
      side: 'key',
      message: `${quoted(field)} is only allowed with "executionMode: agent"`,
      found: modeInWords(spec),
      fix: `write "executionMode: agent", or remove ${quoted(field)}`,
    },
  ];
}

function poolInherited(field: 'agentPoolId' | 'agentPool'): ExecutionProblem {
  return {
    code: 'agent-pool-inherited',
    path: [field],
    message: `${quoted(field)} is given, and "settingOverwrites.agentPool" says that the pool is inherited`,
    fix: 'remove one of the two',
    related: { message: 'where it is inherited', path: ['settingOverwrites', 'agentPool'] },
  };
}

function modeInWords({ executionMode, operations }: WorkspaceSpec): string {
  if (operations !== undefined) return `operations ${String(operations)}`;
  if (executionMode === undefined) return 'no executionMode';
  return executionMode === null
    ? 'executionMode null (inherited)'
    : `executionMode ${quoted(String(executionMode))}`;
}

type Overwrites = NonNullable<WorkspaceSpec['settingOverwrites']>;

function overwrites(spec: WorkspaceSpec, member: keyof Overwrites): boolean | undefined {
  const declared = spec.settingOverwrites;
  return isJsonObject(declared) ? declared[member] : undefined;
}

function checkOverwrites(spec: WorkspaceSpec): ExecutionProblem[] {
  const own = overwrites(spec, 'executionMode');
  const path = ['settingOverwrites', 'executionMode'];
  const givesMode = typeof spec.executionMode === 'string' || spec.operations !== undefined;
  if (own === true && !givesMode) {
    return [
      {
        code: 'execution-mode-missing',
        path,
        message: '"settingOverwrites.executionMode: true" needs an "executionMode"',
        found: modeInWords(spec),
        fix: 'add "executionMode", or set "settingOverwrites.executionMode" to false',
      },
    ];
  }
  if (own === false && givesMode) {
    return [
      {
        code: 'execution-mode-inherited',
        path,
        message:
          'an execution mode is given, and "settingOverwrites.executionMode" says that it is inherited',
        found: modeInWords(spec),
        fix: 'remove one of the two',
      },
    ];
  }
  return checkPoolOverwrite(spec, givesMode);
}

/** A workspace that inherits its mode always inherits its pool. */
function checkPoolOverwrite(spec: WorkspaceSpec, givesMode: boolean): ExecutionProblem[] {
  const inherits = overwrites(spec, 'executionMode') === false || spec.executionMode === null;
  if (givesMode || !inherits || overwrites(spec, 'agentPool') !== true) return [];
  return [
    {
      code: 'agent-pool-without-mode',
      path: ['settingOverwrites', 'agentPool'],
      message: 'a workspace that inherits its execution mode cannot have its own agent pool',
      fix: 'set "settingOverwrites.agentPool" to false, or add "executionMode"',
    },
  ];
}

export function needsRemote(mode: string): Pick<ExecutionProblem, 'code' | 'message' | 'fix'> {
  return {
    code: 'assessments-without-remote',
    message: `"assessmentsEnabled: true" needs remote runs, and the execution mode is ${quotedUnlessPlain(mode)}`,
    fix: 'write "executionMode: remote", or leave "assessmentsEnabled" out',
  };
}

function checkAssessments(spec: WorkspaceSpec, dialect: Dialect): ExecutionProblem[] {
  const mode = spec.operations === false ? 'local' : spec.executionMode;
  if (spec.assessmentsEnabled !== true || typeof mode !== 'string') return [];
  if (!refusesAssessments(mode, dialect)) return [];
  return [
    {
      path: ['assessmentsEnabled'],
      ...needsRemote(mode),
      related: {
        message: 'the execution mode',
        path: [spec.executionMode === undefined ? 'operations' : 'executionMode'],
      },
    },
  ];
}
