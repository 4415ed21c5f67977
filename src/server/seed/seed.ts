/**
 * What a seed may say: the YAML's own shape, key by key.
 * Invariant: a seed only adds. Each of its things is put into a data file once, and is never touched by a seed again.
 * Ids may be given; those left out follow from the names, so they are the same in every database.
 */
import type { PolicyRule } from '../identity/service-policies.ts';
import type { ExecutionMode } from '../workspaces/document/workspace-record.ts';

export interface Seed {
  readonly organizations?: readonly OrganizationSeed[];
  readonly users?: readonly UserSeed[];
  /** Paths of cluster-auth mounts below `auth/`, for example `kubernetes`. */
  readonly mounts?: readonly string[];
  readonly policies?: readonly PolicySeed[];
  readonly 'service-tokens'?: readonly ServiceTokenSeed[];
}

export interface UserSeed {
  readonly username: string;
  readonly email?: string;
  readonly token?: string;
}

export interface PolicySeed {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

export interface ServiceTokenSeed {
  readonly token: string;
  readonly name?: string;
  /** `root` may do everything and needs no policy of that name. */
  readonly policies: readonly string[];
}

export interface OrganizationSeed {
  readonly name: string;
  readonly email?: string;
  /** The organization's own API token. */
  readonly token?: string;
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
export interface RetentionPolicySeed {
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
  /** An intermediate state version of this status exists: `pending` keeps an unlock waiting. */
  readonly 'intermediate-state-version'?: 'pending' | 'finalized';
  /** Newest last; the last one is the current run. */
  readonly runs?: readonly RunSeed[];
  /** The id of the run that holds the lock. */
  readonly 'locked-by-run'?: string;
  readonly tags?: readonly string[];
  readonly 'tag-bindings'?: Readonly<Record<string, string>>;
  readonly 'global-remote-state'?: boolean;
  readonly 'source-name'?: string;
}

export interface RunSeed {
  readonly status: string;
  readonly id?: string;
  readonly 'plan-duration'?: number;
  readonly 'apply-duration'?: number;
  readonly 'failed-policy-check'?: boolean;
}
