/**
 * The body of a create or an update, read into typed values.
 * Invariant: three states stay apart for every attribute: undefined is absent, null is an explicit null, anything else
 * is a value. Only types are judged here; what values mean together is judged where they are settled.
 */
import { asObject, type BodyObject, MemberReader, readResource } from '../../json-api/body.ts';
import { badRequest, type PointedProblem } from '../../json-api/errors.ts';
import { readTagBindings, type TagBinding } from '../tags/tag-bindings.ts';
import { readTagNames } from '../tags/tag-names.ts';
import { EXECUTION_MODES, type ExecutionMode } from './workspace-record.ts';

type Maybe<T> = T | undefined;

export interface VcsRepoRequest {
  readonly identifier: Maybe<string>;
  readonly branch: Maybe<string | null>;
  readonly ingressSubmodules: Maybe<boolean>;
  readonly oauthTokenId: Maybe<string | null>;
  readonly appInstallationId: Maybe<string | null>;
  readonly tagsRegex: Maybe<string | null>;
}

export interface WorkspaceRequest {
  readonly name: Maybe<string>;
  readonly description: Maybe<string | null>;
  /** Empty text means none, like null. */
  readonly agentPoolId: Maybe<string | null>;
  readonly allowDestroyPlan: Maybe<boolean>;
  readonly assessmentsEnabled: Maybe<boolean>;
  readonly autoApply: Maybe<boolean>;
  readonly autoApplyRunTrigger: Maybe<boolean>;
  readonly autoDestroyAt: Maybe<string | null>;
  readonly autoDestroyActivityDuration: Maybe<string | null>;
  readonly inheritsProjectAutoDestroy: Maybe<boolean>;
  /** null: inherit. */
  readonly executionMode: Maybe<ExecutionMode | null>;
  readonly fileTriggersEnabled: Maybe<boolean>;
  readonly globalRemoteState: Maybe<boolean>;
  readonly operations: Maybe<boolean>;
  readonly queueAllRuns: Maybe<boolean>;
  readonly sourceName: Maybe<string | null>;
  readonly sourceUrl: Maybe<string | null>;
  readonly speculativeEnabled: Maybe<boolean>;
  readonly structuredRunOutputEnabled: Maybe<boolean>;
  readonly engineVersion: Maybe<string>;
  readonly triggerPatterns: Maybe<string[]>;
  readonly triggerPrefixes: Maybe<string[]>;
  readonly workingDirectory: Maybe<string | null>;
  /** `true`: the workspace's own value counts; `false`: drop it and inherit. */
  readonly settingOverwrites: { readonly executionMode: Maybe<boolean>; readonly agentPool: Maybe<boolean> };
  readonly vcsRepo: Maybe<VcsRepoRequest | null>;
  readonly projectId: Maybe<string>;
  readonly tagBindings: Maybe<TagBinding[]>;
  /** Flat tags; only a create takes them. */
  readonly tagNames: Maybe<string[]>;
}

/** Reads a body; what is wrong with it is added to `problems`. @throws ApiError 422 when it is no workspace at all. */
export function readWorkspaceRequest(body: unknown, problems: PointedProblem[]): WorkspaceRequest {
  const { attributes, relationships } = readResource(body, 'workspaces');
  const read = new MemberReader(attributes, '/data/attributes', problems);
  return {
    name: read.text('name'),
    description: read.nullableText('description'),
    agentPoolId: noneWhenEmpty(read.nullableText('agent-pool-id')),
    allowDestroyPlan: read.boolean('allow-destroy-plan'),
    assessmentsEnabled: read.boolean('assessments-enabled'),
    autoApply: read.boolean('auto-apply'),
    autoApplyRunTrigger: read.boolean('auto-apply-run-trigger'),
    autoDestroyAt: read.nullableText('auto-destroy-at'),
    autoDestroyActivityDuration: read.nullableText('auto-destroy-activity-duration'),
    inheritsProjectAutoDestroy: read.boolean('inherits-project-auto-destroy'),
    executionMode: read.nullableWord('execution-mode', EXECUTION_MODES),
    fileTriggersEnabled: read.boolean('file-triggers-enabled'),
    globalRemoteState: read.boolean('global-remote-state'),
    operations: read.boolean('operations'),
    queueAllRuns: read.boolean('queue-all-runs'),
    sourceName: read.nullableText('source-name'),
    sourceUrl: read.nullableText('source-url'),
    speculativeEnabled: read.boolean('speculative-enabled'),
    structuredRunOutputEnabled: read.boolean('structured-run-output-enabled'),
    engineVersion: read.text('engine-version'),
    triggerPatterns: read.texts('trigger-patterns'),
    triggerPrefixes: read.texts('trigger-prefixes'),
    workingDirectory: noneWhenEmpty(read.nullableText('working-directory')),
    settingOverwrites: readOverwrites(read.nullableObject('setting-overwrites'), problems),
    vcsRepo: readVcsRepo(read.nullableObject('vcs-repo'), problems),
    projectId: readProjectId(relationships['project'], problems),
    tagBindings: readTagBindings(relationships['tag-bindings'], problems),
    tagNames: readTagNames(relationships['tags'], problems),
  };
}

/** Clients send "" where they mean none: for these attributes the two are the same. */
function noneWhenEmpty(text: Maybe<string | null>): Maybe<string | null> {
  return text === '' ? null : text;
}

function readOverwrites(
  source: Maybe<BodyObject | null>,
  problems: PointedProblem[],
): WorkspaceRequest['settingOverwrites'] {
  const read = new MemberReader(source ?? {}, '/data/attributes/setting-overwrites', problems);
  return { executionMode: read.boolean('execution-mode'), agentPool: read.boolean('agent-pool') };
}

function readVcsRepo(
  source: Maybe<BodyObject | null>,
  problems: PointedProblem[],
): Maybe<VcsRepoRequest | null> {
  if (source === undefined || source === null) return source;
  // The real service answers these two with a plain 400: they come from clients that send what they should leave out.
  for (const name of ['oauth-token-id', 'vcs-app-installation-id']) {
    if (source[name] === '') throw badRequest(`invalid ${name.replaceAll('-', '_')}`);
  }
  const read = new MemberReader(source, '/data/attributes/vcs-repo', problems);
  return {
    identifier: read.text('identifier'),
    branch: read.nullableText('branch'),
    ingressSubmodules: read.boolean('ingress-submodules'),
    oauthTokenId: read.nullableText('oauth-token-id'),
    appInstallationId: read.nullableText('vcs-app-installation-id'),
    tagsRegex: noneWhenEmpty(read.nullableText('tags-regex')),
  };
}

function readProjectId(relationship: unknown, problems: PointedProblem[]): Maybe<string> {
  if (relationship === undefined) return undefined;
  const id = asObject(asObject(relationship)?.['data'])?.['id'];
  if (typeof id === 'string') return id;
  problems.push({
    detail: 'project must name a project by its id',
    pointer: '/data/relationships/project/data/id',
  });
  return undefined;
}
