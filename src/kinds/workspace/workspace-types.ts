/** The types that the parts of this kind hand to each other: a workspace as it is declared, prepared, live and recorded. */
import type { Json } from '../../model/json/json.ts';
import type { CallContext, CompareContext } from '../../model/kind/kind.ts';
import type { Named } from '../../model/kind/spec-types.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { Tags } from '../../services/workspaces/bound-tags.ts';
import type { WorkspaceSpec } from './schema.ts';

/** The fields of a workspace that is live, recorded or in canonical form. */
export type WorkspaceFields = Named<WorkspaceSpec>;

export type RepositoryFields = Named<NonNullable<WorkspaceSpec['vcsRepo']>>;

/** Attributes are as they were answered; what the reader puts together itself has the type that it gives it. */
type MadeByReader = {
  readonly agentPoolId?: string | null;
  readonly settingOverwrites?: { readonly executionMode: boolean; readonly agentPool: boolean };
  readonly vcsRepo?: RepositoryFields | null;
  readonly projectId?: string;
  readonly sshKeyId?: string | null;
  readonly lock?: LiveLock | null;
  readonly dataRetentionPolicy?: RetentionPolicy | null;
};

export type LiveLock = { readonly reason: Json };

export type RetentionPolicy = NonNullable<WorkspaceSpec['dataRetentionPolicy']>;

/** The name is compared as well: in the service it can be another one than the manifest's. */
export type LiveSpec = Omit<WorkspaceFields, keyof MadeByReader> & MadeByReader & { readonly name?: string };

/** Whether it is locked, and what the service tells of that. */
export type LockFacts = {
  readonly locked?: boolean;
  /** of a user, a team or a run; null where nothing is told */
  readonly lockedBy?: { readonly type: Json; readonly id: Json } | null;
  readonly lockedReason?: Json;
};

export type WorkspaceFacts = LockFacts & {
  readonly resourceCount?: Json;
  readonly globalRemoteState?: boolean;
  readonly inheritsAutoDestroy?: boolean;
  /** what is there beside the claim; absent where it was not read */
  readonly direct?: Tags;
  /** how many of the ten places are taken, that of the claim included */
  readonly tagCount?: number;
  readonly assessmentsEnforced?: boolean;
};

export type LiveWorkspace = LiveResource<LiveSpec, WorkspaceFacts>;

/** What `prepare` makes of what is declared: the lock may be the live one, and a connection that another one replaces is null. */
export type PreparedWorkspace = Omit<WorkspaceSpec, 'vcsRepo' | 'lock'> & {
  readonly vcsRepo?: RepositoryFields | null;
  readonly lock?: { readonly reason?: Json } | null;
};

export type WorkspaceRecord = LedgerRecord<WorkspaceFields>;
export type WorkspaceMeeting = CompareContext<WorkspaceSpec, LiveWorkspace>;
export type WorkspaceContext = CallContext<WorkspaceSpec, LiveWorkspace, PreparedWorkspace>;
