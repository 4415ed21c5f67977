/**
 * When a workspace's resources are destroyed automatically: at an explicit time, or after a duration without activity.
 * Invariant: the explicit time and the duration are stored separately. An explicit time takes precedence; the time of the duration
 * is computed when it is read, so it is never outdated.
 */
import type { Database } from '../kernel/database.ts';
import type { PointedProblem } from '../kernel/documents.ts';
import { readTimestamp } from '../kernel/request-body.ts';
import { keepIfAbsent } from './execution-settings.ts';
import type { WorkspaceRecord, WorkspaceSettings } from './workspace-record.ts';
import type { WorkspaceRequest } from './workspace-request.ts';

const DURATION = /^[1-9]\d{0,3}[dh]$/;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

type AutoDestroySettings = Pick<
  WorkspaceSettings,
  'auto_destroy_at' | 'auto_destroy_activity_duration' | 'inherits_project_auto_destroy'
>;

interface AutoDestroyContext {
  /** The duration of the workspace's project; null when it has none. */
  readonly projectDuration: string | null;
  /** Whether an explicit time removes the duration that the workspace has or inherits. */
  readonly dateEndsDuration: boolean;
}

export function resolveAutoDestroy(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  context: AutoDestroyContext,
  problems: PointedProblem[],
): AutoDestroySettings {
  const duration = request.autoDestroyActivityDuration;
  if (typeof duration === 'string' && !DURATION.test(duration)) {
    problems.push({
      detail: 'auto-destroy-activity-duration must be a number of 1 to 9999 followed by d or h',
      pointer: '/data/attributes/auto-destroy-activity-duration',
    });
  }
  const { projectDuration, dateEndsDuration } = context;
  const setsDate = dateEndsDuration && typeof request.autoDestroyAt === 'string';
  const inherits = inheritsDuration(current, request, setsDate);
  if (inherits && typeof duration === 'string' && projectDuration !== null && duration !== projectDuration) {
    problems.push({
      detail: `auto-destroy-activity-duration must be the project's (${projectDuration}) unless inherits-project-auto-destroy is false`,
      pointer: '/data/attributes/auto-destroy-activity-duration',
    });
  }
  const returnsToProject = dateEndsDuration && request.inheritsProjectAutoDestroy === true;
  return {
    auto_destroy_at: keepIfAbsent(
      readMinute(request.autoDestroyAt, problems),
      returnsToProject ? null : current.auto_destroy_at,
    ),
    auto_destroy_activity_duration: keepIfAbsent(
      duration,
      setsDate ? null : current.auto_destroy_activity_duration,
    ),
    inherits_project_auto_destroy: Number(inherits),
  };
}

/**
 * Whether the workspace inherits the duration after the request. Without an explicit value, a duration or a time (see `setsDate`)
 * ends the inheritance, and a null duration starts it.
 */
function inheritsDuration(current: WorkspaceSettings, request: WorkspaceRequest, setsDate: boolean): boolean {
  const { inheritsProjectAutoDestroy: requested, autoDestroyActivityDuration: duration } = request;
  if (requested !== undefined) return requested;
  if (setsDate) return false;
  return duration === undefined ? current.inherits_project_auto_destroy === 1 : duration === null;
}

function readMinute(text: string | null | undefined, problems: PointedProblem[]): string | null | undefined {
  if (text === null || text === undefined) return text;
  const time = readTimestamp(text);
  if (time === undefined) {
    problems.push({
      detail: 'auto-destroy-at must be an ISO 8601 timestamp',
      pointer: '/data/attributes/auto-destroy-at',
    });
    return undefined;
  }
  return truncateToMinute(time);
}

function truncateToMinute(time: number): string {
  return new Date(Math.floor(time / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** The attributes of a workspace document. */
export function autoDestroyAttributes(record: WorkspaceRecord): Record<string, unknown> {
  const { project_auto_destroy_duration: projectDuration } = record;
  const inherits = projectDuration !== null && record.inherits_project_auto_destroy === 1;
  const duration = inherits ? projectDuration : record.auto_destroy_activity_duration;
  return {
    'auto-destroy-at': record.auto_destroy_at ?? computedTime(record.latest_change_at, duration),
    'auto-destroy-status': record.auto_destroy_status,
    'auto-destroy-activity-duration': duration,
    'inherits-project-auto-destroy': projectDuration === null ? null : inherits,
  };
}

function computedTime(lastActivity: string, duration: string | null): string | null {
  if (duration === null) return null;
  const hours = Number.parseInt(duration, 10) * (duration.endsWith('d') ? 24 : 1);
  return truncateToMinute(Date.parse(lastActivity) + hours * HOUR_MS);
}

/** SQL over `w` and `p`: the effective duration, and the same time as `computedTime`. */
const EFFECTIVE_DURATION = `CASE WHEN p.auto_destroy_activity_duration IS NOT NULL AND w.inherits_project_auto_destroy = 1
  THEN p.auto_destroy_activity_duration ELSE w.auto_destroy_activity_duration END`;
const COMPUTED_TIME = `strftime('%Y-%m-%dT%H:%M:00.000Z', w.latest_change_at, '+' ||
  (CAST(${EFFECTIVE_DURATION} AS INTEGER) * IIF(${EFFECTIVE_DURATION} LIKE '%d', 24, 1)) || ' hours')`;

/**
 * Workspaces whose auto-destroy time, `due`, has passed without a destroy run. This query runs before each request: with UNION
 * instead of UNION ALL, or without CROSS JOIN, SQLite would read all workspaces.
 */
export function dueWorkspaces(
  database: Database,
  now: Date,
): { readonly id: string; readonly due: string }[] {
  return database.all(
    `SELECT w.id, COALESCE(w.auto_destroy_at, ${COMPUTED_TIME}) AS due
     FROM workspaces w JOIN projects p ON p.id = w.project_id
     WHERE w.id IN (
         SELECT id FROM workspaces WHERE auto_destroy_at <= :now
         UNION ALL SELECT id FROM workspaces WHERE auto_destroy_activity_duration IS NOT NULL
         UNION ALL SELECT i.id FROM projects d CROSS JOIN workspaces i ON i.project_id = d.id
           WHERE d.auto_destroy_activity_duration IS NOT NULL)
       AND due <= :now AND due IS NOT w.destroyed_for`,
    { now: now.toISOString() },
  );
}
