/**
 * Receives the events of repositories at the `webhook-url` of a workspace's `vcs-repo`. Whoever knows the URL can start runs, so
 * only callers who may queue runs see all of it; without its last segment it answers 404.
 */
import type { FastifyInstance } from 'fastify';
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { notFound } from '../kernel/documents.ts';
import { newId } from '../kernel/identifiers.ts';
import { acceptJsonBodies, answerRefusal } from '../kernel/json-api.ts';
import { isSameMac, macOf } from '../kernel/served-data-file.ts';
import type { Services } from '../kernel/services.ts';
import { beginRun, byItself } from './run-life-cycle.ts';
import { readRepositoryEvent, type RepositoryEvent, whyNoRun } from './vcs-events.ts';
import { recordById, type WorkspaceRecord } from './workspace-record.ts';

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

/** Makes `app`, a scope with the prefix, receive events: 202 with the run that was started, or why there is none. */
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
      const answer = services.database.transaction(() => takeEvent(services, params.id, event));
      return reply.code(202).send(answer);
    },
  });
}

/** The header with the kind of an event. */
const EVENT_HEADER = 'x-github-event';

interface Taken {
  readonly run: string | null;
  /** Why there is no run. */
  readonly reason?: string;
}

function takeEvent(services: Services, workspaceId: string, event: RepositoryEvent | undefined): Taken {
  const workspace = recordById(services.database, workspaceId);
  if (workspace === undefined) throw notFound('Webhook');
  const reason = event === undefined ? 'this kind of event starts no run' : whyNoRun(workspace, event);
  return event === undefined || reason !== undefined
    ? { run: null, reason: reason ?? '' }
    : { run: beginRunOf(services, workspace, event) };
}

function beginRunOf(services: Services, workspace: WorkspaceRecord, event: RepositoryEvent): string {
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
  const cause = byItself(services);
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
