/**
 * Receives the events of repositories at the `webhook-url` of a workspace's `vcs-repo`. A client that knows the URL can start runs,
 * so only callers who may queue runs see its last segment, the signature. Without the signature, the answer is 404.
 */
import type { FastifyInstance } from 'fastify';
import picomatch from 'picomatch';
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { notFound } from '../kernel/documents.ts';
import { newId } from '../kernel/identifiers.ts';
import { acceptJsonBodies, answerRefusal } from '../kernel/json-api.ts';
import { asObject, type BodyObject } from '../kernel/request-body.ts';
import { isSameMac, macOf } from '../kernel/served-data-file.ts';
import type { Services } from '../kernel/services.ts';
import type { Ingress } from './configuration-version-record.ts';
import { beginRun, serviceCause } from './run-life-cycle.ts';
import { tagExpression } from './vcs-settings.ts';
import { recordById, type VcsRepo, vcsRepoOf, type WorkspaceRecord } from './workspace-record.ts';

export const WEBHOOK_PREFIX = '/webhooks/vcs';

/** `origin` is `http://host:port`. */
export function webhookUrl(
  database: Database,
  origin: string,
  { id, mayQueueRuns }: { readonly id: string; readonly mayQueueRuns: boolean },
): string {
  const signature = mayQueueRuns ? `/${macOf(database, 'webhook', id).toString('base64url')}` : '';
  return `${origin}${WEBHOOK_PREFIX}/${id}${signature}`;
}

interface Delivery {
  Params: { id: string; signature: string };
}

/** Serves webhooks in `app`, a scope with the prefix. The answer is 202 with the started run, or with the reason for no run. */
export function serveWebhooks(app: FastifyInstance, services: Services): void {
  acceptJsonBodies(app);
  app.setErrorHandler(answerRefusal);
  app.route<Delivery>({
    method: 'POST',
    url: '/:id/:signature',
    onRequest: async ({ params }) => {
      const expected = macOf(services.database, 'webhook', params.id);
      if (!isSameMac(Buffer.from(params.signature, 'base64url'), expected)) throw notFound('Webhook');
    },
    handler: async ({ params, headers, body }, reply) => {
      const event = readRepositoryEvent(String(headers[EVENT_HEADER]), body);
      const answer = services.database.transaction(() => handleEvent(services, params.id, event));
      return reply.code(202).send(answer);
    },
  });
}

/** The header with the kind of an event. */
const EVENT_HEADER = 'x-github-event';

interface WebhookAnswer {
  readonly run: string | null;
  /** Why there is no run. */
  readonly reason?: string;
}

function handleEvent(
  services: Services,
  workspaceId: string,
  event: RepositoryEvent | undefined,
): WebhookAnswer {
  const workspace = recordById(services.database, workspaceId);
  if (workspace === undefined) throw notFound('Webhook');
  const reason = event === undefined ? 'this kind of event starts no run' : explainNoRun(workspace, event);
  return event === undefined || reason !== undefined
    ? { run: null, reason: reason ?? '' }
    : { run: beginRunFor(services, workspace, event) };
}

function beginRunFor(services: Services, workspace: WorkspaceRecord, event: RepositoryEvent): string {
  const { repository: source } = services.dialects.workspaces.runSources;
  const isSpeculative = event.kind === 'pull-request';
  const configurationVersionId = newId('cv');
  services.database.insert('configuration_versions', {
    id: configurationVersionId,
    workspace_id: workspace.id,
    status: 'uploaded',
    source: workspace.vcs_service_provider ?? source,
    speculative: Number(isSpeculative),
    provisional: 0,
    auto_queue_runs: 1,
    error_message: null,
    ingress_id: newId('ia'),
    ingress: JSON.stringify(event.ingress),
    created_by_id: null,
    created_at: services.now().toISOString(),
  });
  const { organization_id: organizationId } = workspace;
  const cause = serviceCause(services);
  recordEvent(cause, 'configuration_version.create', { ...workspace, id: configurationVersionId });
  return beginRun(services, {
    workspaceId: workspace.id,
    organizationId,
    cause,
    configurationVersionId,
    createdById: null,
    planOnly: isSpeculative,
    isDestroy: false,
    message: event.ingress['commit-message'] || `Queued by ${event.name}`,
    mayApply: true,
    source,
  });
}

// The events of a repository, and whether they start a run of a workspace (wire/workspaces 6.6). Events have the form of the most
// common repository host: pushes of branches and tags, and pull requests.

interface RepositoryEvent {
  readonly kind: 'branch' | 'tag' | 'pull-request';
  /** The branch or the tag; for a pull request, its target branch. */
  readonly name: string;
  /** The branch for workspaces that name no branch; empty when the event does not contain it. */
  readonly defaultBranch: string;
  /** Paths of the changed files; undefined when the event does not list them. */
  readonly files: readonly string[] | undefined;
  readonly ingress: Ingress;
}

/** The event in a body. Undefined for an event of another kind, or about a deleted branch or tag: it starts no run. */
function readRepositoryEvent(kind: string, body: unknown): RepositoryEvent | undefined {
  const event = asObject(body) ?? {};
  const repository = asObject(event['repository']) ?? {};
  const common = {
    defaultBranch: text(repository, 'default_branch'),
    identifier: text(repository, 'full_name'),
    'sender-username': text(asObject(event['sender']) ?? {}, 'login'),
  };
  if (kind === 'push') return readPush(event, common);
  return kind === 'pull_request' ? readPullRequest(event, common) : undefined;
}

interface CommonFields {
  readonly defaultBranch: string;
  readonly identifier: string;
  readonly 'sender-username': string;
}

function readPush(
  event: BodyObject,
  { defaultBranch, ...common }: CommonFields,
): RepositoryEvent | undefined {
  const [, refKind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(text(event, 'ref')) ?? [];
  if (refKind === undefined || event['deleted'] === true) return undefined;
  const head = asObject(event['head_commit']) ?? {};
  const isTag = refKind === 'tags';
  return {
    kind: isTag ? 'tag' : 'branch',
    name,
    defaultBranch,
    files: objectsIn(event['commits']).flatMap((commit) =>
      ['added', 'modified', 'removed'].flatMap((how) => textsIn(commit[how])),
    ),
    ingress: {
      ...common,
      ...(isTag ? { tag: name } : { branch: name }),
      'commit-sha': text(event, 'after'),
      'commit-message': text(head, 'message'),
      'commit-url': text(head, 'url'),
    },
  };
}

function readPullRequest(
  event: BodyObject,
  { defaultBranch, ...common }: CommonFields,
): RepositoryEvent | undefined {
  if (!['opened', 'reopened', 'synchronize'].includes(text(event, 'action'))) return undefined;
  const request = asObject(event['pull_request']) ?? {};
  const [head, base] = [asObject(request['head']) ?? {}, asObject(request['base']) ?? {}];
  const number = event['number'];
  return {
    kind: 'pull-request',
    name: text(base, 'ref'),
    defaultBranch,
    files: undefined,
    ingress: {
      ...common,
      branch: text(head, 'ref'),
      'commit-sha': text(head, 'sha'),
      'commit-message': text(request, 'title'),
      'commit-url': text(request, 'html_url'),
      'is-pull-request': true,
      ...(typeof number === 'number' ? { 'pull-request-number': number } : {}),
    },
  };
}

function text(source: BodyObject, name: string): string {
  const value = source[name];
  return typeof value === 'string' ? value : '';
}

function objectsIn(value: unknown): BodyObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== undefined) : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

// Whether an event starts a run in a workspace.

/** The limit of tag names; longer ones match no expression. */
const LONGEST_TAG = 255;

/** The reason why no run starts, as a text; undefined when one starts. */
function explainNoRun(workspace: WorkspaceRecord, event: RepositoryEvent): string | undefined {
  const repo = vcsRepoOf(workspace);
  const { identifier = '' } = event.ingress;
  if (repo === null) return 'the workspace has no repository';
  if (identifier !== '' && identifier.toLowerCase() !== repo.identifier.toLowerCase())
    return `the event comes from the repository ${identifier}`;
  if (workspace.effective_execution_mode === 'local') return 'the execution mode of the workspace is local';
  const branch = repo.branch || event.defaultBranch;
  if (event.kind !== 'tag' && branch !== '' && event.name !== branch)
    return `the workspace follows the branch ${branch}`;
  if (event.kind === 'pull-request')
    return workspace.speculative_enabled === 1 ? undefined : 'speculative plans are switched off';
  if (workspace.queue_all_runs === 0 && workspace.current_run_id === null)
    return 'queue-all-runs is false, and no run was queued before';
  return explainNoTrigger(workspace, repo, event);
}

function explainNoTrigger(
  workspace: WorkspaceRecord,
  { tagsRegex }: VcsRepo,
  { kind, name, files = [] }: RepositoryEvent,
): string | undefined {
  if (kind === 'tag') return matchesTag(tagsRegex, name) ? undefined : 'the tag does not match';
  if (tagsRegex !== null) return 'the workspace follows tags';
  return matchesFiles(workspace, files) ? undefined : 'no file that triggers runs was changed';
}

function matchesTag(expression: string | null, tag: string): boolean {
  return expression !== null && tag.length <= LONGEST_TAG && tagExpression(expression)?.test(tag) === true;
}

/** Patterns replace the working directory and the prefixes; without any of these, every file matches. */
function matchesFiles(workspace: WorkspaceRecord, files: readonly string[]): boolean {
  if (workspace.file_triggers_enabled === 0) return true;
  const patterns = JSON.parse(workspace.trigger_patterns) as string[];
  if (patterns.length > 0) {
    const matches = picomatch(patterns.map(relativeToRoot), { dot: true });
    return files.some((file) => matches(file));
  }
  const prefixes = JSON.parse(workspace.trigger_prefixes) as string[];
  const directory = workspace.working_directory ?? '';
  const watched = [...(directory === '' ? [] : [directory]), ...prefixes].map(relativeToRoot);
  if (watched.length === 0) return true;
  return files.some((file) =>
    watched.some((path) => path === '' || file === path || file.startsWith(`${path}/`)),
  );
}

function relativeToRoot(path: string): string {
  return path.replace(/^(?:\.?\/+)+/, '').replace(/\/+$/, '');
}
