/**
 * The body of a create or an update, read into typed values: undefined is absent, null is an explicit null. Only types are
 * checked here; workspace-settings.ts applies the rules. The attribute names of dialects are also translated here.
 */
import { badRequest, type PointedProblem } from '../kernel/documents.ts';
import {
  asObject,
  type BodyObject,
  isOfType,
  MemberReader,
  readResource,
  TEXT_LIMIT,
} from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { readTagNames } from './flat-tags.ts';
import { readTagBindings } from './tag-bindings.ts';
import { EXECUTION_MODES } from './workspace-record.ts';

type Maybe<T> = T | undefined;

/** Parsing time grows with the length, and real constraints are short. */
const ENGINE_VERSION_LIMIT = 255;

/** Entries are paths or patterns of paths; no real repository needs more or longer ones. */
const TRIGGER_LIMITS = { entries: 1000, characters: 4096 };

export type WorkspaceRequest = Readonly<ReturnType<typeof readWorkspaceRequest>>;
export type VcsRepoRequest = NonNullable<WorkspaceRequest['vcsRepo']>;

/**
 * Reads a body and adds its problems to `problems`. `id` is the workspace that is updated.
 * @throws ApiError 422 when it is not a workspace, 409 when it is another workspace
 */
export function readWorkspaceRequest(
  { edition, dialects: { workspaces: dialect } }: Pick<Services, 'edition' | 'dialects'>,
  body: unknown,
  problems: PointedProblem[],
  id?: string,
) {
  const { attributes, relationships } = readResource(body, 'workspaces', id);
  const read = new MemberReader(fromWireNames(attributes, dialect), '/data/attributes', problems);
  checkProject(relationships['project'], problems);
  return {
    name: read.name(),
    description: read.nullableText('description', TEXT_LIMIT),
    agentPoolId: emptyToNull(read.nullableText('agent-pool-id')),
    allowDestroyPlan: read.boolean('allow-destroy-plan'),
    assessmentsEnabled: edition.assessments ? read.boolean('assessments-enabled') : undefined,
    autoApply: read.boolean('auto-apply'),
    autoApplyRunTrigger: read.boolean('auto-apply-run-trigger'),
    autoDestroyAt: read.nullableText('auto-destroy-at'),
    autoDestroyActivityDuration: read.nullableText('auto-destroy-activity-duration'),
    inheritsProjectAutoDestroy: read.boolean('inherits-project-auto-destroy'),
    /** Null: inherit. */
    executionMode: read.nullableWord('execution-mode', EXECUTION_MODES),
    fileTriggersEnabled: read.boolean('file-triggers-enabled'),
    globalRemoteState: read.boolean('global-remote-state'),
    operations: read.boolean('operations'),
    projectRemoteState: dialect.sharesWithProject ? read.boolean('project-remote-state') : undefined,
    queueAllRuns: read.boolean('queue-all-runs'),
    sourceName: read.nullableText('source-name', TEXT_LIMIT),
    sourceUrl: read.nullableText('source-url', TEXT_LIMIT),
    speculativeEnabled: read.boolean('speculative-enabled'),
    structuredRunOutputEnabled: read.boolean('structured-run-output-enabled'),
    engineVersion: read.text('engine-version', ENGINE_VERSION_LIMIT),
    triggerPatterns: read.texts('trigger-patterns', TRIGGER_LIMITS),
    triggerPrefixes: read.texts('trigger-prefixes', TRIGGER_LIMITS),
    workingDirectory: emptyToNull(read.nullableText('working-directory', TEXT_LIMIT)),
    /** `true`: the workspace's own value is used; `false`: it is removed and inherited. */
    settingOverwrites: readOverwrites(read.nullableObject('setting-overwrites'), problems),
    vcsRepo: readVcsRepo(read.nullableObject('vcs-repo'), dialect, problems),
    tagBindings: readTagBindings(relationships['tag-bindings'], problems),
    /** Flat tags; only a create uses them. */
    tagNames: readTagNames(relationships['tags'], problems),
  };
}

/** Clients send "" or null for no value: for these attributes the two are the same. */
function emptyToNull(text: Maybe<string | null>): Maybe<string | null> {
  return text === '' ? null : text;
}

function readOverwrites(source: Maybe<BodyObject | null>, problems: PointedProblem[]) {
  const read = new MemberReader(source ?? {}, '/data/attributes/setting-overwrites', problems);
  return { executionMode: read.boolean('execution-mode'), agentPool: read.boolean('agent-pool') };
}

function readVcsRepo(sent: Maybe<BodyObject | null>, dialect: WorkspacesDialect, problems: PointedProblem[]) {
  if (sent === undefined || sent === null) return sent;
  const source = fromWireNames(sent, dialect);
  // The real service answers 400 if one of the two connections is an empty text and the other one is not set.
  const connections = ['oauth-token-id', 'vcs-app-installation-id'];
  const empty = connections.find((name) => source[name] === '');
  if (empty !== undefined && connections.every((name) => !source[name]))
    throw badRequest(`invalid ${wireName(empty, dialect).replaceAll('-', '_')}`);
  const read = new MemberReader(source, '/data/attributes/vcs-repo', problems);
  return {
    identifier: read.text('identifier', TEXT_LIMIT),
    branch: read.nullableText('branch', TEXT_LIMIT),
    ingressSubmodules: read.boolean('ingress-submodules'),
    oauthTokenId: emptyToNull(read.nullableText('oauth-token-id')),
    appInstallationId: emptyToNull(read.nullableText('vcs-app-installation-id')),
    tagsRegex: emptyToNull(read.nullableText('tags-regex', TEXT_LIMIT)),
  };
}

/**
 * The project that a body names; undefined if it names none. Callers check the access to this project before they check the body.
 */
export function namedProject(body: unknown): Maybe<string> {
  const relationships = asObject(asObject(asObject(body)?.['data'])?.['relationships']);
  return projectIdOf(relationships?.['project']);
}

function projectIdOf(relationship: unknown): Maybe<string> {
  const id = asObject(asObject(relationship)?.['data'])?.['id'];
  return typeof id === 'string' ? id : undefined;
}

function checkProject(relationship: unknown, problems: PointedProblem[]): void {
  if (relationship === undefined) return;
  const pointer = '/data/relationships/project/data';
  if (projectIdOf(relationship) === undefined) {
    problems.push({ detail: 'project must name a project by its id', pointer: `${pointer}/id` });
  } else if (!isOfType(asObject(asObject(relationship)?.['data']), 'projects')) {
    problems.push({ detail: 'type must be "projects"', pointer: `${pointer}/type` });
  }
}

// The names of a workspace's attributes in a dialect: in requests, answers and errors (wire/workspaces 1.1).
// Invariant: attributes are renamed only here. A name that the dialect does not have is ignored in a body, and left out of answers.

type Names = Pick<WorkspacesDialect, 'attributeNames'>;

/** Members of a body, with the names of the specification. */
export function fromWireNames(sent: BodyObject, { attributeNames }: Names): BodyObject {
  const dialectNames = Object.entries(attributeNames);
  if (dialectNames.length === 0) return sent;
  const unchanged = Object.entries(sent).filter(([name]) => !Object.hasOwn(attributeNames, name));
  const renamed = dialectNames.flatMap(([name, wireName]) =>
    Object.hasOwn(sent, wireName) ? [[name, sent[wireName]] as const] : [],
  );
  return Object.fromEntries([...unchanged, ...renamed]);
}

/** Members of a document, with the names of the dialect. */
export function inWireNames(members: BodyObject, dialect: Names): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [wireName(name, dialect), value]));
}

/** The dialect's name for an attribute of the specification. */
function wireName(name: string, { attributeNames }: Names): string {
  return attributeNames[name] ?? name;
}

/** A problem of a body, with the attribute names of the dialect. */
export function problemInWireNames(problem: PointedProblem, { attributeNames }: Names): PointedProblem {
  const renamed = (text: string): string =>
    Object.entries(attributeNames).reduce(
      (renamedText, [name, wire]) => renamedText.replaceAll(name, wire),
      text,
    );
  return { detail: renamed(problem.detail), pointer: renamed(problem.pointer) };
}
