/**
 * What a seed may say: the YAML's own shape, key by key.
 * Invariant: a seed only adds. Each of its things is put into a data file once, and is never touched by a seed again.
 * Ids may be given; those left out follow from the names, so they are the same in every database.
 */
import type { AddedEvent } from '../audit-trails/added-events.ts';
import type { CONFIGURATION_STATUSES, Ingress } from '../workspaces/configuration-version-record.ts';
import type { PolicyRule } from '../cluster-auth/policy-rules.ts';
import type { VARIABLE_CATEGORIES } from '../workspaces/variables.ts';
import type { ExecutionMode } from '../workspaces/workspace-record.ts';

export interface Seed {
  readonly organizations?: readonly OrganizationSeed[];
  readonly users?: readonly UserSeed[];
  /** Paths of cluster-auth mounts below `auth/`, for example `kubernetes`. */
  readonly mounts?: readonly string[];
  readonly policies?: readonly PolicySeed[];
  readonly 'service-tokens'?: readonly ServiceTokenSeed[];
  /** Engine versions that are released, beside those that every data file knows. */
  readonly releases?: readonly string[];
}

export interface UserSeed {
  readonly username: string;
  readonly email?: string;
  readonly token?: string;
  /** More tokens, and those that expire. */
  readonly tokens?: readonly UserTokenSeed[];
}

/** An API token. */
export interface TokenSeed {
  readonly token: string;
  readonly description?: string;
  /** An ISO 8601 time; YAML reads an unquoted one as a date. From then on the token is unknown. */
  readonly 'expires-at'?: string | Date;
}

export interface UserTokenSeed extends TokenSeed {
  /** The username of who uses the token in the name of its user. */
  readonly 'impersonated-by'?: string;
}

export interface PolicySeed {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

export interface ServiceTokenSeed {
  readonly token: string;
  readonly name?: string;
  /** `root` may do everything and needs no policy of that name; `default` is what a token may do about itself. */
  readonly policies: readonly string[];
  /** Default `service`; `batch` tokens are neither renewed nor revoked. */
  readonly type?: 'service' | 'batch';
  /** How long it lives from the seeding on: seconds, or `90m`, `1h30m`, `7d`. Without it, for ever. */
  readonly ttl?: string | number;
  /** When it ends, as a time (`2030-01-31T12:00:00Z`), in place of `ttl`. */
  readonly 'expires-at'?: string | Date;
  /** Each renewal gives it this time again. */
  readonly period?: string | number;
  /** From the seeding on, whatever renewals ask for. */
  readonly 'explicit-max-ttl'?: string | number;
  /** How often it may be used; 0 is any number of times. */
  readonly 'num-uses'?: number;
  /** Addresses and blocks from which it may be used. */
  readonly 'bound-cidrs'?: readonly string[];
  /** Default: whether it is a service token that ends. */
  readonly renewable?: boolean;
  readonly meta?: Readonly<Record<string, string>>;
}

export interface OrganizationSeed {
  readonly name: string;
  readonly email?: string;
  /** The organization's own API token. */
  readonly token?: string;
  readonly tokens?: readonly TokenSeed[];
  /** A token that reads the organization's audit trail and may do nothing else. */
  readonly 'audit-trails-token'?: string;
  /** What happened before: of any kind that the audit trail knows. */
  readonly 'audit-events'?: readonly AddedEvent[];
  readonly 'default-execution-mode'?: ExecutionMode;
  /** The name of one of the agent pools below. */
  readonly 'default-agent-pool'?: string;
  readonly 'allow-force-delete-workspaces'?: boolean;
  readonly 'assessments-enforced'?: boolean;
  /** What `global-remote-state` is for workspaces created without it. */
  readonly 'global-remote-state-default'?: boolean;
  readonly 'data-retention-policy'?: RetentionPolicySeed;
  /** Users who belong to the organization without any team. */
  readonly members?: readonly string[];
  readonly projects?: readonly ProjectSeed[];
  readonly 'agent-pools'?: readonly NamedSeed[];
  readonly 'ssh-keys'?: readonly NamedSeed[];
  readonly 'oauth-tokens'?: readonly VcsConnectionSeed[];
  readonly 'vcs-app-installations'?: readonly VcsConnectionSeed[];
  readonly teams?: readonly TeamSeed[];
  readonly workspaces?: readonly WorkspaceSeed[];
}

/** Without `delete-older-than-n-days` the policy is to delete nothing. */
interface RetentionPolicySeed {
  readonly 'delete-older-than-n-days'?: number;
}

export interface NamedSeed {
  readonly name: string;
  readonly id?: string;
}

export interface ProjectSeed extends NamedSeed {
  readonly description?: string;
  readonly 'default-execution-mode'?: ExecutionMode;
  readonly 'default-agent-pool'?: string;
  readonly 'auto-destroy-activity-duration'?: string;
  /** The project's workspaces inherit these. When given, they are all of the project's. */
  readonly 'tag-bindings'?: Readonly<Record<string, string>>;
}

export interface VcsConnectionSeed {
  readonly id: string;
  readonly name?: string;
  /** Default `github`. */
  readonly 'service-provider'?: string;
  /** Default `https://github.com`. */
  readonly 'http-url'?: string;
}

/** The team `owners` owns the organization, whatever else is said of it. */
export interface TeamSeed {
  readonly name: string;
  readonly token?: string;
  readonly tokens?: readonly TokenSeed[];
  readonly members?: readonly string[];
  readonly 'manage-workspaces'?: boolean;
  readonly 'read-workspaces'?: boolean;
  readonly 'manage-projects'?: boolean;
  /** By project name: `read`, `write`, `maintain` or `admin`. */
  readonly 'project-access'?: Readonly<Record<string, string>>;
  /** By workspace name: a level (`read`, `plan`, `write`, `admin`), or a list of single permissions (`can-lock`). */
  readonly 'workspace-access'?: Readonly<Record<string, string | readonly string[]>>;
}

/** A workspace with what the API cannot make. It is created with defaults; its id is its identity. */
export interface WorkspaceSeed {
  readonly name: string;
  readonly id?: string;
  readonly project?: string;
  readonly 'resource-count'?: number;
  /** An intermediate state version of this status exists, newer than the others: `pending` keeps an unlock waiting. */
  readonly 'intermediate-state-version'?: 'pending' | 'finalized';
  /** Newest last. The last that is finalized and not intermediate is the current one. */
  readonly 'state-versions'?: readonly StateVersionSeed[];
  /** Newest last. The last that is uploaded and not speculative is the current one. */
  readonly 'configuration-versions'?: readonly ConfigurationVersionSeed[];
  /** Newest last; the last one is the current run. */
  readonly runs?: readonly RunSeed[];
  /** The id of the run that holds the lock. One that is not among the runs is made. */
  readonly 'locked-by-run'?: string;
  readonly tags?: readonly string[];
  readonly 'tag-bindings'?: Readonly<Record<string, string>>;
  readonly 'global-remote-state'?: boolean;
  readonly 'source-name'?: string;
  readonly vars?: readonly VariableSeed[];
  /** Newest last; the last one is the current result. */
  readonly 'assessment-results'?: readonly AssessmentResultSeed[];
  /** Markdown. */
  readonly readme?: string;
  /** What became of the last destruction by time. */
  readonly 'auto-destroy-status'?: string;
}

export interface StateVersionSeed {
  readonly id?: string;
  /** Default: its place in the list, from 1. */
  readonly serial?: number;
  readonly lineage?: string;
  /** Default `finalized`. */
  readonly status?: 'pending' | 'finalized';
  readonly intermediate?: boolean;
  readonly 'resource-count'?: number;
  readonly outputs?: readonly OutputSeed[];
}

export interface OutputSeed {
  readonly name: string;
  /** Anything that YAML can say. */
  readonly value: unknown;
  readonly sensitive?: boolean;
}

export interface ConfigurationVersionSeed {
  readonly id?: string;
  /** Default `uploaded`. */
  readonly status?: (typeof CONFIGURATION_STATUSES)[number];
  /** Default `api`. */
  readonly source?: string;
  readonly speculative?: boolean;
  readonly 'error-message'?: string;
  readonly 'ingress-attributes'?: Ingress;
}

export interface VariableSeed {
  readonly key: string;
  readonly id?: string;
  readonly value?: string;
  readonly description?: string;
  /** Default `engine`. */
  readonly category?: (typeof VARIABLE_CATEGORIES)[number];
  readonly hcl?: boolean;
  readonly sensitive?: boolean;
}

export interface AssessmentResultSeed {
  readonly id?: string;
  readonly drifted?: boolean;
  /** Default true. */
  readonly succeeded?: boolean;
  readonly 'error-message'?: string;
}

export interface RunSeed {
  /** One of `RUN_STATUSES`. */
  readonly status: string;
  readonly id?: string;
  readonly 'plan-duration'?: number;
  readonly 'apply-duration'?: number;
  readonly 'failed-policy-check'?: boolean;
  readonly message?: string;
  readonly 'is-destroy'?: boolean;
  readonly 'plan-only'?: boolean;
  /** The id of one of the workspace's configuration versions. */
  readonly 'configuration-version'?: string;
  readonly 'resource-additions'?: number;
  readonly 'resource-changes'?: number;
  readonly 'resource-destructions'?: number;
}
