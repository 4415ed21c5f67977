/**
 * The schema of a seed, and its TypeScript types from the same source.
 * Invariant: a seed only adds. Each item is written into a data file once, and no seed changes it again.
 * Ids are optional; omitted ids are derived from the names, so they are the same in every database.
 */
import { type Static, type TProperties, Type } from 'typebox';
import { addedEventSchema } from '../workspaces/audit-event-schema.ts';
import { CAPABILITIES } from '../cluster-auth/policy-rules.ts';
import { anyText, closed, count, description, flag, shortName, text, time } from '../kernel/schema-parts.ts';
import { NAME_LIMIT } from '../kernel/request-body.ts';
import { CONFIGURATION_STATUSES } from '../workspaces/configuration-version-record.ts';
import { GRANTABLE_PERMISSIONS } from '../workspaces/permissions.ts';
import { RUN_STATUSES } from '../workspaces/run-record.ts';
import { VARIABLE_CATEGORIES } from '../workspaces/variables.ts';
import { EXECUTION_MODES } from '../workspaces/workspace-record.ts';

const { Optional } = Type;

/** An object with only these members. */
function members<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, closed);
}

const executionMode = Type.Enum(EXECUTION_MODES);
const stateStatus = Type.Enum(['pending', 'finalized']);
const tagBindings = Type.Unsafe<Record<string, string>>({
  type: 'object',
  propertyNames: { format: 'tag-key' },
  additionalProperties: { type: 'string', format: 'tag-value' },
});
/** Seconds, or `90m`, `1h30m`, `7d`. */
const duration = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  minimum: 0,
  maximum: Math.floor(Number(2n ** 63n) / 1e9),
  minLength: 1,
  format: 'duration',
});

const tokenMembers = {
  token: text,
  description: Optional(text),
  /** From this time on the token is unknown. */
  'expires-at': Optional(time),
};
const apiToken = members(tokenMembers);
const userToken = members({
  ...tokenMembers,
  /** The username of the user who impersonates the token's user. */
  'impersonated-by': Optional(text),
});

const user = members({
  username: text,
  email: Optional(text),
  token: Optional(text),
  /** More tokens, and those that expire. */
  tokens: Optional(Type.Array(userToken)),
});

const named = members({ name: shortName, id: Optional(text) });

const vcsConnection = members({
  id: text,
  name: Optional(shortName),
  /** Default `github`. */
  'service-provider': Optional(text),
  /** Default `https://github.com`. */
  'http-url': Optional(text),
});

const project = members({
  name: shortName,
  id: Optional(text),
  description: Optional(description),
  'default-execution-mode': Optional(executionMode),
  'default-agent-pool': Optional(text),
  'auto-destroy-activity-duration': Optional(text),
  /** The project's workspaces inherit them. If given, the project has exactly these. */
  'tag-bindings': Optional(tagBindings),
});

/** The team `owners` always owns the organization, independently of its flags. */
const team = members({
  name: shortName,
  token: Optional(text),
  tokens: Optional(Type.Array(apiToken)),
  members: Optional(Type.Array(text)),
  'manage-workspaces': Optional(flag),
  'read-workspaces': Optional(flag),
  'manage-projects': Optional(flag),
  /** By project name. */
  'project-access': Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { enum: ['read', 'write', 'maintain', 'admin'] },
    }),
  ),
  /** By workspace name: a level, or a list of single permissions (`can-lock`). */
  'workspace-access': Optional(
    Type.Unsafe<Record<string, string | readonly string[]>>({
      type: 'object',
      additionalProperties: {
        if: { type: 'array' },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: 'array', items: { enum: GRANTABLE_PERMISSIONS } },
        else: { enum: ['read', 'plan', 'write', 'admin'] },
      },
    }),
  ),
});

const run = members({
  status: Type.Unsafe<string>({ enum: RUN_STATUSES }),
  id: Optional(text),
  'plan-duration': Optional(count),
  'apply-duration': Optional(count),
  'failed-policy-check': Optional(flag),
  message: Optional(text),
  'is-destroy': Optional(flag),
  'plan-only': Optional(flag),
  /** The id of one of the workspace's configuration versions. */
  'configuration-version': Optional(text),
  'resource-additions': Optional(count),
  'resource-changes': Optional(count),
  'resource-destructions': Optional(count),
});

const output = members({ name: text, value: Type.Unknown(), sensitive: Optional(flag) });

const stateVersion = members({
  id: Optional(text),
  /** Default: its place in the list, from 1. */
  serial: Optional(count),
  lineage: Optional(text),
  /** Default `finalized`. */
  status: Optional(stateStatus),
  intermediate: Optional(flag),
  'resource-count': Optional(count),
  outputs: Optional(Type.Array(output)),
});

const configurationVersion = members({
  id: Optional(text),
  /** Default `uploaded`. */
  status: Optional(Type.Enum(CONFIGURATION_STATUSES)),
  /** Default `api`. */
  source: Optional(text),
  speculative: Optional(flag),
  'error-message': Optional(text),
  'ingress-attributes': Optional(
    members({
      branch: Optional(text),
      'commit-sha': Optional(text),
      'commit-message': Optional(text),
      'commit-url': Optional(text),
      identifier: Optional(text),
      'sender-username': Optional(text),
      tag: Optional(text),
      'is-pull-request': Optional(flag),
      'pull-request-number': Optional(count),
    }),
  ),
});

const variable = members({
  key: text,
  id: Optional(text),
  value: Optional(anyText),
  description: Optional(text),
  /** Default `engine`. */
  category: Optional(Type.Enum(VARIABLE_CATEGORIES)),
  hcl: Optional(flag),
  sensitive: Optional(flag),
});

const assessmentResult = members({
  id: Optional(text),
  drifted: Optional(flag),
  /** Default true. */
  succeeded: Optional(flag),
  'error-message': Optional(text),
});

/** A workspace with records that the API cannot create. It is created with defaults; its id is its identity. */
const workspace = members({
  name: Type.String({ maxLength: NAME_LIMIT, format: 'workspace-name' }),
  id: Optional(text),
  project: Optional(text),
  'resource-count': Optional(count),
  /** Adds an intermediate state version with this status, newer than the others: `pending` blocks an unlock. */
  'intermediate-state-version': Optional(stateStatus),
  /** Newest last. The last that is finalized and not intermediate is the current one. */
  'state-versions': Optional(Type.Array(stateVersion)),
  /** Newest last. The last that is uploaded and not speculative is the current one. */
  'configuration-versions': Optional(Type.Array(configurationVersion)),
  /** Newest last; the last one is the current run. */
  runs: Optional(Type.Array(run)),
  /** The id of the run that holds the lock. It is created if it is not among `runs`. */
  'locked-by-run': Optional(text),
  tags: Optional(Type.Array(Type.String({ format: 'tag-name' }))),
  'tag-bindings': Optional(tagBindings),
  'global-remote-state': Optional(flag),
  'source-name': Optional(description),
  vars: Optional(Type.Array(variable)),
  /** Newest last; the last one is the current result. */
  'assessment-results': Optional(Type.Array(assessmentResult)),
  /** Markdown. */
  readme: Optional(text),
  /** The outcome of the last auto-destroy. */
  'auto-destroy-status': Optional(text),
});

const organization = members({
  name: shortName,
  email: Optional(text),
  /** The organization's own API token. */
  token: Optional(text),
  tokens: Optional(Type.Array(apiToken)),
  /** A token that reads the organization's audit trail and may do nothing else. */
  'audit-trails-token': Optional(text),
  /** Past events, of any kind that the audit trail knows. */
  'audit-events': Optional(Type.Array(addedEventSchema)),
  'default-execution-mode': Optional(executionMode),
  /** The name of one of the agent pools below. */
  'default-agent-pool': Optional(text),
  'allow-force-delete-workspaces': Optional(flag),
  'assessments-enforced': Optional(flag),
  /** The value of `global-remote-state` for workspaces that are created without it. */
  'global-remote-state-default': Optional(flag),
  /** Without days, the policy deletes nothing. */
  'data-retention-policy': Optional(members({ 'delete-older-than-n-days': Optional(count) })),
  /** Users who belong to the organization without any team. */
  members: Optional(Type.Array(text)),
  projects: Optional(Type.Array(project)),
  'agent-pools': Optional(Type.Array(named)),
  'ssh-keys': Optional(Type.Array(named)),
  'oauth-tokens': Optional(Type.Array(vcsConnection)),
  'vcs-app-installations': Optional(Type.Array(vcsConnection)),
  teams: Optional(Type.Array(team)),
  workspaces: Optional(Type.Array(workspace)),
});

const policy = members({
  name: Type.String({ minLength: 1, format: 'policy-name' }),
  rules: Type.Array(members({ path: text, capabilities: Type.Array(Type.Enum(CAPABILITIES)) })),
});

const serviceToken = members({
  token: text,
  name: Optional(text),
  /** `root` may do everything and needs no policy of that name; `default` allows operations of a token on itself. */
  policies: Type.Array(text),
  /** Default `service`; `batch` tokens are neither renewed nor revoked. */
  type: Optional(Type.Enum(['service', 'batch'])),
  /** How long it lives, counted from the seeding. Default: it does not expire. */
  ttl: Optional(duration),
  /** The time of its end, instead of `ttl`. */
  'expires-at': Optional(time),
  /** The lifetime after each renewal. */
  period: Optional(duration),
  /** The maximum lifetime, counted from the seeding; no renewal extends it. */
  'explicit-max-ttl': Optional(duration),
  /** How often it may be used; 0 means no limit. */
  'num-uses': Optional(count),
  /** Addresses and blocks from which it may be used. */
  'bound-cidrs': Optional(Type.Array(Type.String({ format: 'address-block' }))),
  /** Default: true for a service token that expires. */
  renewable: Optional(flag),
  meta: Optional(Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: text })),
});

export const seedSchema = members({
  organizations: Optional(Type.Array(organization)),
  users: Optional(Type.Array(user)),
  /** Paths of cluster-auth mounts below `auth/`, for example `kubernetes`. */
  mounts: Optional(Type.Array(Type.String({ format: 'mount-path' }))),
  /** Released engine versions, in addition to those of every data file. */
  releases: Optional(Type.Array(Type.String({ format: 'release' }))),
  policies: Optional(Type.Array(policy)),
  'service-tokens': Optional(Type.Array(serviceToken)),
});

type ReadOnly<T> = T extends readonly (infer Item)[]
  ? readonly ReadOnly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
    : T;

export type Seed = ReadOnly<Static<typeof seedSchema>>;
export type OrganizationSeed = ReadOnly<Static<typeof organization>>;
export type UserSeed = ReadOnly<Static<typeof user>>;
export type UserTokenSeed = ReadOnly<Static<typeof userToken>>;
export type TokenSeed = ReadOnly<Static<typeof apiToken>>;
export type NamedSeed = ReadOnly<Static<typeof named>>;
export type VcsConnectionSeed = ReadOnly<Static<typeof vcsConnection>>;
export type ProjectSeed = ReadOnly<Static<typeof project>>;
export type TeamSeed = ReadOnly<Static<typeof team>>;
export type WorkspaceSeed = ReadOnly<Static<typeof workspace>>;
export type RunSeed = ReadOnly<Static<typeof run>>;
export type StateVersionSeed = ReadOnly<Static<typeof stateVersion>>;
export type OutputSeed = ReadOnly<Static<typeof output>>;
export type ConfigurationVersionSeed = ReadOnly<Static<typeof configurationVersion>>;
export type VariableSeed = ReadOnly<Static<typeof variable>>;
export type AssessmentResultSeed = ReadOnly<Static<typeof assessmentResult>>;
export type PolicySeed = ReadOnly<Static<typeof policy>>;
export type ServiceTokenSeed = ReadOnly<Static<typeof serviceToken>>;
