/** The types that the files of this kind share: a declared, prepared, live and recorded workspace. */
import type { Tags } from '../../api/workspaces/tag-bindings.ts';
import type { Json } from '../../model/json.ts';
import type { CompareContext, Named } from '../../model/kind-specs.ts';
import type { CallContext } from '../../model/kind-calls.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import type { DesiredResource, LiveResource } from '../../model/resource.ts';
import type { WorkspaceSpec } from './schema.ts';

/** The fields of the spec with values that were not validated: of a live, recorded or canonical workspace. */
export type WorkspaceFields = Named<WorkspaceSpec>;

export type RepositoryFields = Named<NonNullable<WorkspaceSpec['vcsRepo']>>;

/** The fields that the read computes; all others are attributes as they were returned. */
type ComputedFields = {
  readonly agentPoolId?: string | null;
  readonly settingOverwrites?: { readonly executionMode: boolean; readonly agentPool: boolean };
  readonly vcsRepo?: RepositoryFields | null;
  readonly projectId?: string;
  readonly sshKeyId?: string | null;
  readonly lock?: LiveLock | null;
  readonly dataRetentionPolicy?: RetentionPolicy | null;
};

type LiveLock = { readonly reason: Json };

export type RetentionPolicy = NonNullable<WorkspaceSpec['dataRetentionPolicy']>;

/** With the name, which is compared as well: in the service it can differ from the manifest's. */
export type LiveSpec = Omit<WorkspaceFields, keyof ComputedFields> &
  ComputedFields & { readonly name?: string };

/** Whether a workspace is locked, and the holder and reason of the lock. */
export type LockFacts = {
  readonly locked?: boolean;
  /** a user, a team or a run; null if the service does not return it */
  readonly lockedBy?: { readonly type: Json; readonly id: Json } | null;
  readonly lockedReason?: Json;
};

export type WorkspaceFacts = LockFacts & {
  /** the list lacks it, and it was found by its id: what comes with the list was not read for it */
  readonly unlisted?: true;
  readonly resourceCount?: Json;
  readonly globalRemoteState?: boolean;
  /** whether it inherits its duration from its project; null: the service does not report it, as for a project without one */
  readonly inheritsAutoDestroy?: boolean | null;
  /** the result of the last scheduled destroy, such as `destroyed` */
  readonly autoDestroyStatus?: string;
  /** the direct tags without the ownership tag; absent if they were not read */
  readonly direct?: Tags;
  /** the tags of its project that it inherits; absent if they were not read */
  readonly inheritedTags?: Tags;
  /** number of direct tags, the ownership tag included; the limit is ten */
  readonly tagCount?: number;
  /** as returned, which an update repeats; null if the service does not return it */
  readonly assessmentsEnabled?: Json;
  readonly assessmentsEnforced?: boolean;
  /** false if the service has no safe delete; with `plainDeletes` the target allows a plain one */
  readonly hasSafeDelete?: false;
  readonly plainDeletes?: boolean;
  /** why a plain delete may lose a state of it; null if there is none to lose; absent if it was not checked */
  readonly stateAtRisk?: string | null;
  /** the effective execution mode and agent pool, the workspace's own or inherited */
  readonly effectiveMode?: string;
  readonly agentPool?: string;
  /**
   * If the service reports every mode as inherited: `proved` if the mode is certainly the workspace's own, `unknown` if the default
   * that it would inherit could not be read
   */
  readonly ownMode?: 'proved' | 'unknown';
  /** the default that the workspace would inherit, if it was read */
  readonly inheritedMode?: string;
  /**
   * The service derives `fileTriggersEnabled` from the lists of triggers: `proved` by the response to a write, `likely` if all
   * workspaces match that
   */
  readonly fileTriggersDerived?: 'proved' | 'likely';
  /** the service stores flat tags case-sensitively: some workspace has one in upper case */
  readonly keepsTagCase?: true;
  /** the execution mode that it has, or will inherit after the plan; null if unknown */
  readonly modeAfter?: string | null;
};

export type DeclaredWorkspace = DesiredResource<WorkspaceSpec>;
export type LiveWorkspace = LiveResource<LiveSpec, WorkspaceFacts>;

/** The declared spec after `prepare`: the lock may be the live one, and a replaced connection is null. */
export type PreparedWorkspace = Omit<WorkspaceSpec, 'vcsRepo' | 'lock'> & {
  readonly vcsRepo?: RepositoryFields | null;
  readonly lock?: { readonly reason?: Json } | null;
};

export type WorkspaceRecord = LedgerRecord<WorkspaceFields>;
/** What is known about a declared workspace before the plan. */
export interface KnownWorkspace {
  readonly live: LiveWorkspace | undefined;
  readonly record: WorkspaceRecord | undefined;
}

export type WorkspaceComparison = CompareContext<WorkspaceSpec, LiveWorkspace>;
export type WorkspaceContext = CallContext<WorkspaceSpec, LiveWorkspace, PreparedWorkspace>;

/** Live values that replace the returned ones in the comparison, with notes about them. */
export interface PreparedLive {
  /** by field */
  readonly live: WorkspaceFields;
  readonly notes: readonly string[];
}

/** No returned value is replaced. */
export const asReturned: PreparedLive = { live: {}, notes: [] };
