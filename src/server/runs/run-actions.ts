/**
 * POST /runs/:run_id/actions/apply, discard and cancel: 202, or 409 where the run does not stand so.
 * To apply is also a 503 while a state version that would become current is pending.
 * Invariant: what a run's document calls possible is what its actions take.
 */
import { ACCEPTED, type ApiAnswer, type ApiRequest } from '../json-api/endpoint.ts';
import { conflict } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { requireStateHasCome } from '../state-versions/state-version-record.ts';
import { requireOwned } from '../workspaces/owned-record.ts';
import { lockForRun } from '../workspaces/run-lock.ts';
import { recordRunEvent } from './run-event.ts';
import { finishRun } from './run-life-cycle.ts';
import { possibleActions, type RunRow, runById } from './run-record.ts';

export function applyRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-confirmable');
  requireStateHasCome(services.database, { workspaceId: run.workspace_id, runId: run.id });
  // An admin may have forced the lock off, and somebody else may hold it now.
  if (!lockForRun(services, run.workspace_id, run.id))
    throw conflict('The workspace is locked by somebody else');
  recordRunEvent(services, run, 'apply', request);
  finishRun(services, run, 'applied');
  return ACCEPTED;
}

export function discardRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-discardable');
  recordRunEvent(services, run, 'discard', request);
  finishRun(services, run, 'discarded');
  return ACCEPTED;
}

export function cancelRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-cancelable');
  recordRunEvent(services, run, 'cancel', request);
  finishRun(services, run, 'canceled');
  return ACCEPTED;
}

/** @throws ApiError 404 without the right to apply, 409 when the run does not allow this now */
function requireRun(
  services: Services,
  request: ApiRequest,
  possible: string,
): RunRow & { organization_id: string } {
  const found = runById(services.database, request.params['run_id'] ?? '');
  const access = { what: 'Run', permission: 'can-queue-apply' } as const;
  const { record, workspace } = requireOwned(services, request, found, access);
  if (possibleActions(record)[possible] !== true)
    throw conflict(`The run is ${record.status}: this cannot be done`);
  return { ...record, organization_id: workspace.organization_id };
}
