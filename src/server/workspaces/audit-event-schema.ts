/**
 * Every kind of audit event, by type and action, with the schema of its meta; and the schema of an event that a seed or the
 * admin API adds. Only schemas are exported: the build replaces this file with their JSON.
 * Sources: wire/audit-trails 3.1 and 3.2; 3.3 says which names are this service's own.
 */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { anyText, closed, flag, positive, text, time, wholeNumber } from '../kernel/schema-parts.ts';

type Kinds = Readonly<Record<string, TSchema>>;

const anyMap = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const anyMeta = Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] });
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });

/** An object with exactly these members. */
function exactly(...groups: readonly TProperties[]): TSchema {
  return Type.Object(Object.assign({}, ...groups) as TProperties, closed);
}

const RUN_AND_WORKSPACE = {
  run: exactly({ id: text, message: anyText }),
  workspace: exactly({ id: text, name: text }),
};

const POLICY_CHECK = { comment: textOrNull, ...RUN_AND_WORKSPACE };

const POLICY_RESULTS = {
  result: Type.Array(anyMap),
  passed: wholeNumber,
  total_failed: wholeNumber,
  hard_failed: wholeNumber,
  soft_failed: wholeNumber,
  advisory_failed: wholeNumber,
  duration_ms: wholeNumber,
  policy_engine: anyText,
};

const ACTOR = { actor: text };

const TASK = {
  task_name: text,
  task_category: text,
  task_url: text,
  task_enabled: flag,
  task_hmac_key_present: flag,
};

const TASK_RESULT = {
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

const WORKSPACE_TASK = {
  task_enforcement_level: text,
  task_stage: text,
  workspace: text,
  workspace_id: text,
  organization_task: text,
  organization_task_id: text,
};

function withAnyMeta(...actions: readonly string[]): Kinds {
  return withMeta(actions, anyMeta);
}

function withMeta(actions: readonly string[], meta: TSchema): Kinds {
  return Object.fromEntries(actions.map((action) => [action, meta]));
}

const WRITE_ACTIONS = ['create', 'update', 'destroy'] as const;

const TEAM_ACCESS: Kinds = {
  ...withMeta(['add_team', 'update_team_permissions'], exactly({ team: text, permissions: text })),
  remove_team: exactly({ team: text }),
};

/** By type, then by action. */
export const EVENT_KINDS: Readonly<Record<string, Kinds>> = {
  agent: withAnyMeta('destroy'),
  agent_pool: withAnyMeta(...WRITE_ACTIONS),
  authentication_token: withAnyMeta('create', 'show', 'destroy'),
  configuration_version: withAnyMeta('show', 'download', 'create', 'upload'),
  data_retention_policy: {
    ...withAnyMeta('create', 'update'),
    destroy: exactly({ delete_older_than_n_days: positive, organization: text, organization_id: text }),
  },
  notification_configuration: withAnyMeta(...WRITE_ACTIONS, 'enable'),
  oauth_client: withAnyMeta(...WRITE_ACTIONS),
  oauth_token: withAnyMeta('index', 'show', 'update', 'destroy'),
  organization: withAnyMeta(...WRITE_ACTIONS),
  organization_task: {
    ...withMeta(['create', 'destroy'], exactly(TASK)),
    update: exactly(TASK, { task_hmac_key_changed: flag }),
  },
  organization_user: withAnyMeta(...WRITE_ACTIONS),
  policy: withAnyMeta('update', 'destroy'),
  policy_check: {
    ...withAnyMeta('override'),
    queued: exactly(POLICY_CHECK),
    ...withMeta(['passed', 'soft_failed', 'hard_failed', 'errored'], exactly(POLICY_CHECK, POLICY_RESULTS)),
    ...withMeta(['overridden', 'canceled', 'force_canceled'], exactly(POLICY_CHECK, ACTOR)),
  },
  policy_config: withAnyMeta('create'),
  policy_evaluation: withMeta(
    ['queue', 'run', 'pass', 'fail', 'override', 'error', 'cancel', 'force_cancel'],
    exactly({ comment: textOrNull, payload: exactly(RUN_AND_WORKSPACE) }, ACTOR),
  ),
  policy_set: withAnyMeta('destroy'),
  policy_version: withAnyMeta('create'),
  project: { ...withAnyMeta(...WRITE_ACTIONS), ...TEAM_ACCESS },
  registry_module: {
    ...withAnyMeta('update', 'destroy'),
    destroy_version: exactly({ version: wholeNumber }),
  },
  registry_provider: withAnyMeta('create', 'destroy'),
  registry_provider_platform: withAnyMeta('create', 'destroy'),
  registry_provider_version: withAnyMeta('create', 'destroy'),
  run: withAnyMeta('create', 'plan', 'apply', 'cancel', 'force_cancel', 'discard', 'force_execute'),
  run_trigger: withAnyMeta('create', 'destroy'),
  saml_configuration: withAnyMeta(...WRITE_ACTIONS, 'enable', 'disable'),
  ssh_key: withAnyMeta('index', 'show', ...WRITE_ACTIONS),
  stack: withAnyMeta('create'),
  state_version: withAnyMeta(
    ...['index', 'show', 'create', 'upload'],
    ...['soft_delete_backing_data', 'restore_backing_data', 'permanently_delete_backing_data'],
  ),
  task_result: { callback: exactly(TASK_RESULT) },
  task_stage: withAnyMeta('override'),
  team: {
    ...withAnyMeta(...WRITE_ACTIONS),
    ...withMeta(['add_member', 'remove_member'], exactly({ user: text })),
  },
  user: withAnyMeta('index'),
  var: withAnyMeta('index', 'show', ...WRITE_ACTIONS),
  variable_set: withAnyMeta(...WRITE_ACTIONS),
  vcs_repo: withAnyMeta('create'),
  workspace: { ...withAnyMeta(...WRITE_ACTIONS, 'lock', 'unlock', 'force_unlock'), ...TEAM_ACCESS },
  workspace_comment: { create: exactly({ resource: text }) },
  workspace_task: withMeta(WRITE_ACTIONS, exactly(WORKSPACE_TASK)),
};

/** The schema of `meta` depends on type and action: see `EVENT_KINDS`. */
export const addedEventSchema = Type.Object(
  {
    type: Type.Unsafe<string>({ enum: Object.keys(EVENT_KINDS) }),
    action: text,
    resource: Type.Optional({ ...text, description: 'The id of the changed resource. Default: a new id' }),
    at: Type.Optional({ ...time, description: 'Default: now' }),
    by: Type.Optional({ ...text, description: 'The username of the actor. Default: the service itself' }),
    'impersonated-by': Type.Optional({
      ...text,
      description: 'The username of the user who impersonates the actor',
    }),
    'request-id': Type.Optional(Type.String({ format: 'uuid' })),
    meta: Type.Optional(anyMeta),
  },
  closed,
);

export type AddedEvent = Readonly<Static<typeof addedEventSchema>>;
