/**
 * The performance attributes of workspaces.
 * Invariant: they look at the past 30 runs that were applied or ended in error, and are null where there is none.
 */
import type { Database } from '../../data-file/database.ts';

export interface RunStatistics {
  readonly 'apply-duration-average': number | null;
  readonly 'plan-duration-average': number | null;
  readonly 'policy-check-failures': number | null;
  readonly 'run-failures': number | null;
  readonly 'workspace-kpis-runs-count': number | null;
}

export const NO_RUNS: RunStatistics = {
  'apply-duration-average': null,
  'plan-duration-average': null,
  'policy-check-failures': null,
  'run-failures': null,
  'workspace-kpis-runs-count': null,
};

interface StatisticsRow {
  workspace_id: string;
  apply_average: number | null;
  plan_average: number | null;
  policy_failures: number;
  failures: number;
  runs: number;
}

const COUNTED_RUNS = 30;

/** By workspace id; workspaces without a counted run are left out. Durations are in milliseconds. */
export function runStatistics(
  database: Database,
  workspaceIds: readonly string[],
): Map<string, RunStatistics> {
  const rows = database.all<StatisticsRow>(
    `SELECT workspace_id,
       CAST(ROUND(AVG(apply_duration_ms)) AS INTEGER) AS apply_average,
       CAST(ROUND(AVG(plan_duration_ms)) AS INTEGER) AS plan_average,
       SUM(failed_policy_check) AS policy_failures, SUM(status = 'errored') AS failures, COUNT(*) AS runs
     FROM (SELECT r.*, ROW_NUMBER() OVER (PARTITION BY workspace_id ORDER BY created_at DESC, id DESC) AS age
           FROM runs r
           WHERE workspace_id IN (SELECT value FROM json_each(:ids)) AND status IN ('applied', 'errored'))
     WHERE age <= ${COUNTED_RUNS} GROUP BY workspace_id`,
    { ids: JSON.stringify(workspaceIds) },
  );
  return new Map(
    rows.map((row) => [
      row.workspace_id,
      {
        'apply-duration-average': row.apply_average,
        'plan-duration-average': row.plan_average,
        'policy-check-failures': row.policy_failures,
        'run-failures': row.failures,
        'workspace-kpis-runs-count': row.runs,
      },
    ]),
  );
}
