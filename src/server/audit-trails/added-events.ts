/**
 * Events that a seed or the admin API adds to a trail, because the service cannot cause them itself, and every kind of event
 * with what it carries. The actor is an existing user or the service. Source: wire/audit-trails 3.
 */
import { randomUUID } from 'node:crypto';
import { insertEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { anything, type Check, flag, listOf, object, oneOf, text, time } from '../kernel/shape-checks.ts';

/** As a seed and the admin API tell it. */
export interface AddedEvent {
  readonly type: string;
  readonly action: string;
  /** The id of what it happened to; one is made up where it is left out. */
  readonly resource?: string;
  /** Default: now. */
  readonly at?: string | Date;
  /** The username of who did it; without it the service did. */
  readonly by?: string;
  /** The username of who acted in that user's name. */
  readonly 'impersonated-by'?: string;
  readonly 'request-id'?: string;
  /** What the kind carries beyond the standard members. */
  readonly meta?: Readonly<Record<string, unknown>> | null;
}

const uuid: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value))
    problems.push(`${path} must be a UUID`);
};

const members = object(
  {
    type: text,
    action: text,
    resource: text,
    at: time,
    by: text,
    'impersonated-by': text,
    'request-id': uuid,
    meta: anything,
  },
  ['type', 'action'],
);

/** Checks one event; adds to `problems` what is wrong with it. */
export const addedEvent: Check = (value, path, problems) => {
  const known = problems.length;
  members(value, path, problems);
  if (problems.length > known) return;
  const event = value as AddedEvent;
  if (event['impersonated-by'] !== undefined && event.by === undefined)
    problems.push(`${path}${path === '' ? '' : '.'}impersonated-by needs by: somebody acts in a user's name`);
  checkKind(event, path, problems);
};

/** Somebody whom an event names is not there. */
export class UnknownActorError extends Error {
  override readonly name = 'UnknownActorError';

  constructor(username: string) {
    super(`an event of the audit trail names the user "${username}", who is not there`);
  }
}

/** Puts a checked event into the trail of an organization. @returns its id @throws UnknownActorError */
export function addEvent(database: Database, organizationId: string, event: AddedEvent, now: Date): string {
  const actorId = event.by === undefined ? SERVICE_ITSELF.userId : userId(database, event.by);
  const impersonator = event['impersonated-by'];
  return insertEvent(
    database,
    {
      organizationId,
      actor: {
        userId: actorId,
        username: event.by ?? SERVICE_ITSELF.username,
        impersonatorId: impersonator === undefined ? undefined : userId(database, impersonator),
        ...(event.by === undefined ? { isService: true } : {}),
      },
      requestId: event['request-id'],
      resource: { id: event.resource ?? randomUUID(), type: event.type, action: event.action },
      meta: event.meta,
    },
    event.at === undefined ? now : new Date(event.at),
  );
}

/** @throws UnknownActorError */
function userId(database: Database, username: string): string {
  const row = database.get<{ id: string }>('SELECT id FROM users WHERE username = :username', { username });
  if (row === undefined) throw new UnknownActorError(username);
  return row.id;
}

// Every kind of event that the trail knows, by type and action, with what it carries beyond the standard members: what is
// put in by a seed or by the admin API is held against it.
// Sources: wire/audit-trails 3.1 and 3.2; 3.3 says which names are this service's own.

/** What `resource.meta` may hold. */
type Meta = Check;

/** Null, or a map of anything: the standard of events without fields of their own. */
const anyMap: Meta = (value, path, problems) => {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return;
  problems.push(`${path} must be a map, or null`);
};

const wholeNumber: Check = (value, path, problems) => {
  if (!Number.isSafeInteger(value)) problems.push(`${path} must be a whole number`);
};

const positive: Check = (value, path, problems) => {
  if (!Number.isSafeInteger(value) || Number(value) < 1)
    problems.push(`${path} must be a whole number greater than 0`);
};

/** Unlike a name, it may be empty. */
const anyText: Check = (value, path, problems) => {
  if (typeof value !== 'string') problems.push(`${path} must be a text`);
};

const textOrNull: Check = (value, path, problems) => {
  if (value !== null) anyText(value, path, problems);
};

type Fields = Readonly<Record<string, Check>>;

/** These members, all of them and no others. */
function exactly(...groups: readonly Fields[]): Meta {
  const fields = Object.assign({}, ...groups) as Fields;
  return object(fields, Object.keys(fields));
}

const RUN_AND_WORKSPACE: Fields = {
  run: exactly({ id: text, message: anyText }),
  workspace: exactly({ id: text, name: text }),
};

const POLICY_CHECK: Fields = { comment: textOrNull, ...RUN_AND_WORKSPACE };

const POLICY_RESULTS: Fields = {
  result: listOf((value, path, problems) => anyMap(value ?? undefined, path, problems)),
  passed: wholeNumber,
  total_failed: wholeNumber,
  hard_failed: wholeNumber,
  soft_failed: wholeNumber,
  advisory_failed: wholeNumber,
  duration_ms: wholeNumber,
  policy_engine: anyText,
};

const ACTOR: Fields = { actor: text };

const TASK: Fields = {
  task_name: text,
  task_category: text,
  task_url: text,
  task_enabled: flag,
  task_hmac_key_present: flag,
};

const TASK_RESULT: Fields = {
  task_result_status: text,
  task_result_url: anyText,
  task_result_message: anyText,
  workspace: text,
  workspace_id: text,
  run_id: text,
  run_created_at: time,
  run_created_by: text,
  run_message: anyText,
  run_is_speculative: flag,
  workspace_task_id: text,
  workspace_task_stage: text,
  workspace_task_enforcement: text,
  organization_task: text,
  organization_task_id: text,
  organization_task_url: text,
};

const WORKSPACE_TASK: Fields = {
  task_enforcement_level: text,
  task_stage: text,
  workspace: text,
  workspace_id: text,
  organization_task: text,
  organization_task_id: text,
};

type Kinds = Readonly<Record<string, Meta>>;

function plain(...actions: readonly string[]): Kinds {
  return each(actions, anyMap);
}

function each(actions: readonly string[], meta: Meta): Kinds {
  return Object.fromEntries(actions.map((action) => [action, meta]));
}

const MADE = ['create', 'update', 'destroy'] as const;

const TEAM_ACCESS: Kinds = {
  ...each(['add_team', 'update_team_permissions'], exactly({ team: text, permissions: text })),
  remove_team: exactly({ team: text }),
};

/** By type, then by action. */
const EVENT_KINDS: Readonly<Record<string, Kinds>> = {
  agent: plain('destroy'),
  agent_pool: plain(...MADE),
  authentication_token: plain('create', 'show', 'destroy'),
  configuration_version: plain('show', 'download', 'create', 'upload'),
  data_retention_policy: {
    ...plain('create', 'update'),
    destroy: exactly({ delete_older_than_n_days: positive, organization: text, organization_id: text }),
  },
  notification_configuration: plain(...MADE, 'enable'),
  oauth_client: plain(...MADE),
  oauth_token: plain('index', 'show', 'update', 'destroy'),
  organization: plain(...MADE),
  organization_task: {
    ...each(['create', 'destroy'], exactly(TASK)),
    update: exactly(TASK, { task_hmac_key_changed: flag }),
  },
  organization_user: plain(...MADE),
  policy: plain('update', 'destroy'),
  policy_check: {
    ...plain('override'),
    queued: exactly(POLICY_CHECK),
    ...each(['passed', 'soft_failed', 'hard_failed', 'errored'], exactly(POLICY_CHECK, POLICY_RESULTS)),
    ...each(['overridden', 'canceled', 'force_canceled'], exactly(POLICY_CHECK, ACTOR)),
  },
  policy_config: plain('create'),
  policy_evaluation: each(
    ['queue', 'run', 'pass', 'fail', 'override', 'error', 'cancel', 'force_cancel'],
    exactly({ comment: textOrNull, payload: exactly(RUN_AND_WORKSPACE) }, ACTOR),
  ),
  policy_set: plain('destroy'),
  policy_version: plain('create'),
  project: { ...plain(...MADE), ...TEAM_ACCESS },
  registry_module: { ...plain('update', 'destroy'), destroy_version: exactly({ version: wholeNumber }) },
  registry_provider: plain('create', 'destroy'),
  registry_provider_platform: plain('create', 'destroy'),
  registry_provider_version: plain('create', 'destroy'),
  run: plain('create', 'plan', 'apply', 'cancel', 'force_cancel', 'discard', 'force_execute'),
  run_trigger: plain('create', 'destroy'),
  saml_configuration: plain(...MADE, 'enable', 'disable'),
  ssh_key: plain('index', 'show', ...MADE),
  stack: plain('create'),
  state_version: plain(
    ...['index', 'show', 'create', 'upload'],
    ...['soft_delete_backing_data', 'restore_backing_data', 'permanently_delete_backing_data'],
  ),
  task_result: { callback: exactly(TASK_RESULT) },
  task_stage: plain('override'),
  team: { ...plain(...MADE), ...each(['add_member', 'remove_member'], exactly({ user: text })) },
  user: plain('index'),
  var: plain('index', 'show', ...MADE),
  vcs_repo: plain('create'),
  workspace: { ...plain(...MADE, 'lock', 'unlock', 'force_unlock'), ...TEAM_ACCESS },
  workspace_comment: { create: exactly({ resource: text }) },
  workspace_task: each(MADE, exactly(WORKSPACE_TASK)),
};

/** Adds what is wrong with the type, the action and what the event of that kind carries; `path` is where the event stands. */
export function checkKind(
  event: { readonly type?: unknown; readonly action?: unknown; readonly meta?: unknown },
  path: string,
  problems: string[],
): void {
  const at = (member: string) => (path === '' ? member : `${path}.${member}`);
  const known = problems.length;
  oneOf(...Object.keys(EVENT_KINDS))(event.type, at('type'), problems);
  if (problems.length > known) return;
  const actions = EVENT_KINDS[String(event.type)] ?? {};
  oneOf(...Object.keys(actions))(event.action, at('action'), problems);
  if (problems.length > known) return;
  actions[String(event.action)]?.(event.meta ?? null, at('meta'), problems);
}
