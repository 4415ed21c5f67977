/** Reports of checks, as `trueup drift --format json` prints them. */
import type { CheckResult } from '../../../src/commands/fleet/check-stack.ts';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';

export type DriftedJson = DriftJson['drifted'][number];

interface ReportParts {
  readonly stack?: string;
  readonly drifted?: readonly DriftedJson[];
  readonly changedNames?: DriftJson['changedNames'];
  /** the URL of its one target */
  readonly url?: string;
  /** why the target could not be read */
  readonly unread?: string;
}

/** A resource with one drifted field. */
export function drifted(name: string, after: string, more: Partial<DriftedJson> = {}): DriftedJson {
  return {
    ...{ address: `Workspace/main/${name}`, kind: 'Workspace', target: 'main', name, is: 'changed' },
    fields: [{ path: '/description', before: 'as applied', after, shape: 'scalar' }],
    notes: [],
    ...more,
  };
}

/** A name that refers to another project than the ledger recorded. */
export function changedName(name: string): DriftJson['changedNames'][number] {
  return {
    ...{ address: `Workspace/main/${name}`, kind: 'Workspace', target: 'main', name },
    ...{ field: 'projectId', given: 'web', id: 'prj-2', recorded: ['prj-1'], message: 'other', fix: 'none' },
  };
}

export function reportOf({
  stack = 'one',
  drifted: found = [],
  changedNames = [],
  url = 'https://app.example.com/api',
  unread,
}: ReportParts = {}): DriftJson {
  const message = `target "main" could not be read: ${unread}`;
  return {
    version: 1,
    stack,
    complete: unread === undefined,
    targets: [{ name: 'main', service: 'workspaces', url, place: 'acme', dialect: 'neutral' }],
    summary: {
      ...{ drifted: found.length, changedNames: changedNames.length, pending: 0 },
      ...{ unchanged: 3, unrecorded: 0, untold: 0 },
    },
    drifted: [...found],
    changedNames: [...changedNames],
    pending: [],
    unrecorded: [],
    untold: [],
    problems:
      unread === undefined
        ? []
        : [{ code: 'target-unread', severity: 'error', class: 'incomplete', message }],
    coverage: {
      ...{ complete: unread === undefined, files: 1, documents: 1, ledger: 'found', ledgerNotes: [] },
      targets: [
        {
          ...{ target: 'main', requests: 3, read: [], limits: [], incomplete: [], invisible: [], notes: [] },
          ...(unread === undefined ? {} : { unread: true }),
        },
      ],
    },
  };
}

/** The end of a check with this report. */
export function resultWith(parts: ReportParts = {}): CheckResult {
  const report = reportOf(parts);
  const summary = { stack: report.stack, drifted: report.drifted.length, pending: 0 };
  const error = report.problems[0]?.message;
  return { error, errorCode: report.problems[0]?.code, summary, report };
}
