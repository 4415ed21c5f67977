/**
 * The link to a repository and the triggers of its runs.
 * Invariants: a link has exactly one connection, an OAuth token or an app installation. At most one of trigger-prefixes,
 * trigger-patterns and tags-regex is populated: a request with two of them is refused, a request with one clears the others.
 * An empty list also clears the other list.
 */
import type { PointedProblem } from '../kernel/documents.ts';
import { keepIfAbsent } from './execution-settings.ts';
import { type VcsRepo, vcsRepoOf, type WorkspaceSettings } from './workspace-record.ts';
import type { VcsRepoRequest, WorkspaceRequest } from './workspace-request.ts';

interface VcsContext {
  /** Whether an app installation may be linked now. */
  readonly takesAppInstallation: boolean;
  /** Whether trigger-patterns are refused together with file-triggers-enabled: false. */
  readonly patternsNeedFileTriggers: boolean;
  oauthTokenExists(id: string): boolean;
  appInstallationExists(id: string): boolean;
}

const REPOSITORY = /^[^\s/]+(\/[^\s/]+)+$/;
const AT = '/data/attributes/vcs-repo';

type VcsSettings = Pick<
  WorkspaceSettings,
  'vcs_repo' | 'trigger_prefixes' | 'trigger_patterns' | 'file_triggers_enabled'
>;

export function resolveVcs(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  context: VcsContext,
  problems: PointedProblem[],
): VcsSettings {
  const before = vcsRepoOf(current);
  const repo = resolveRepository(before, request.vcsRepo, context, problems);
  checkTriggers(repo, request, context, problems);
  const populated = firstPopulatedTrigger(request);
  const { triggerPrefixes: prefixes, triggerPatterns: patterns } = request;
  const resolvedRepo =
    repo !== null && populated !== undefined && populated !== 'regex' ? { ...repo, tagsRegex: null } : repo;
  return {
    vcs_repo: resolvedRepo === null ? null : JSON.stringify(resolvedRepo),
    trigger_prefixes: resolveTriggers(
      prefixes,
      current.trigger_prefixes,
      patterns !== undefined || populated === 'regex',
    ),
    trigger_patterns: resolveTriggers(
      patterns,
      current.trigger_patterns,
      prefixes !== undefined || populated === 'regex',
    ),
    file_triggers_enabled: resolveFileTriggers(current, request, populated),
  };
}

function resolveRepository(
  before: VcsRepo | null,
  request: VcsRepoRequest | null | undefined,
  context: VcsContext,
  problems: PointedProblem[],
): VcsRepo | null {
  if (request === undefined) return before;
  if (request === null) return null;
  const repo: VcsRepo = {
    identifier: request.identifier ?? before?.identifier ?? '',
    branch: request.branch === undefined ? (before?.branch ?? '') : (request.branch ?? ''),
    ingressSubmodules: request.ingressSubmodules ?? before?.ingressSubmodules ?? false,
    tagsRegex: keepIfAbsent(request.tagsRegex, before?.tagsRegex ?? null),
    ...resolveConnection(before, request),
  };
  checkRepo(repo, request, context, problems);
  return repo;
}

/** A new connection replaces the other one. */
function resolveConnection(
  before: VcsRepo | null,
  request: VcsRepoRequest,
): Pick<VcsRepo, 'oauthTokenId' | 'appInstallationId'> {
  if (typeof request.oauthTokenId === 'string') {
    return { oauthTokenId: request.oauthTokenId, appInstallationId: null };
  }
  if (typeof request.appInstallationId === 'string') {
    return { oauthTokenId: null, appInstallationId: request.appInstallationId };
  }
  return {
    oauthTokenId: before?.oauthTokenId ?? null,
    appInstallationId: before?.appInstallationId ?? null,
  };
}

function checkRepo(
  repo: VcsRepo,
  request: VcsRepoRequest,
  context: VcsContext,
  problems: PointedProblem[],
): void {
  const refuse = (name: string, detail: string): void => {
    problems.push({ detail, pointer: `${AT}/${name}` });
  };
  if (!REPOSITORY.test(repo.identifier)) {
    refuse(
      'identifier',
      repo.identifier === '' ? 'identifier is required' : 'identifier must have the form :org/:repo',
    );
  }
  if (typeof request.tagsRegex === 'string' && tagExpression(request.tagsRegex) === undefined) {
    refuse('tags-regex', `"${request.tagsRegex}" is not a regular expression`);
  }
  checkConnection(repo, request, context, refuse);
}

/** Flags and group names in the syntax of other languages, which are also accepted. */
const FOREIGN_FLAGS = /\(\?[a-zA-Z-]+\)/g;
const FOREIGN_GROUP_NAMES = /\(\?P</g;

/** The expression that tags must match; undefined for an invalid text. */
export function tagExpression(text: string): RegExp | undefined {
  try {
    return new RegExp(text.replaceAll(FOREIGN_FLAGS, '').replaceAll(FOREIGN_GROUP_NAMES, '(?<'));
  } catch {
    return undefined;
  }
}

function checkConnection(
  repo: VcsRepo,
  request: VcsRepoRequest,
  context: VcsContext,
  refuse: (name: string, detail: string) => void,
): void {
  const givesApp = typeof request.appInstallationId === 'string';
  if (givesApp && !context.takesAppInstallation) {
    refuse('vcs-app-installation-id', 'vcs-app-installation-id can only be given on update');
  } else if (givesApp && typeof request.oauthTokenId === 'string') {
    refuse('vcs-app-installation-id', 'vcs-app-installation-id is not allowed together with oauth-token-id');
  } else if (repo.oauthTokenId === null && repo.appInstallationId === null) {
    refuse('oauth-token-id', 'oauth-token-id is required');
  }
  // Only a connection in the request is checked: a link whose token was deleted can still change its branch.
  const { oauthTokenId, appInstallationId } = request;
  if (typeof oauthTokenId === 'string' && !context.oauthTokenExists(oauthTokenId)) {
    refuse('oauth-token-id', `The OAuth token "${oauthTokenId}" does not belong to the organization`);
  }
  if (typeof appInstallationId === 'string' && !context.appInstallationExists(appInstallationId)) {
    refuse(
      'vcs-app-installation-id',
      `The app installation "${appInstallationId}" does not belong to the organization`,
    );
  }
}

type TriggerKind = 'prefixes' | 'patterns' | 'regex';

/** The kinds of trigger that the request populates. */
function populatedTriggers(request: WorkspaceRequest): TriggerKind[] {
  return [
    ...(request.triggerPrefixes?.length ? ['prefixes' as const] : []),
    ...(request.triggerPatterns?.length ? ['patterns' as const] : []),
    ...(request.vcsRepo?.tagsRegex ? ['regex' as const] : []),
  ];
}

function firstPopulatedTrigger(request: WorkspaceRequest): TriggerKind | undefined {
  return populatedTriggers(request)[0];
}

function resolveTriggers(requested: readonly string[] | undefined, current: string, clears: boolean): string {
  if (requested !== undefined) return JSON.stringify(requested);
  return clears ? '[]' : current;
}

/** Runs start from tags or from files, not from both: setting a tag expression turns the file triggers off. */
function resolveFileTriggers(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  populated: TriggerKind | undefined,
): number {
  if (request.fileTriggersEnabled !== undefined) return Number(request.fileTriggersEnabled);
  return populated === 'regex' ? 0 : current.file_triggers_enabled;
}

const ATTRIBUTE_OF: Readonly<Record<TriggerKind, string>> = {
  prefixes: 'trigger-prefixes',
  patterns: 'trigger-patterns',
  regex: 'vcs-repo/tags-regex',
};

function checkTriggers(
  repo: VcsRepo | null,
  request: WorkspaceRequest,
  { patternsNeedFileTriggers }: VcsContext,
  problems: PointedProblem[],
): void {
  const [first, second] = populatedTriggers(request);
  if (first !== undefined && second !== undefined) {
    problems.push({
      detail: `${nameOf(second)} must not be given together with ${nameOf(first)}`,
      pointer: `/data/attributes/${ATTRIBUTE_OF[second]}`,
    });
  }
  if (patternsNeedFileTriggers && first === 'patterns' && request.fileTriggersEnabled === false) {
    problems.push({
      detail: 'trigger-patterns must not be given together with file-triggers-enabled false',
      pointer: '/data/attributes/trigger-patterns',
    });
  }
  const clearsRegex = first === 'prefixes' || first === 'patterns';
  if (request.fileTriggersEnabled === true && repo?.tagsRegex && !clearsRegex) {
    problems.push({
      detail: 'file-triggers-enabled must not be true while tags-regex is set',
      pointer: '/data/attributes/file-triggers-enabled',
    });
  }
}

function nameOf(trigger: TriggerKind): string {
  return ATTRIBUTE_OF[trigger].replace('vcs-repo/', '');
}
