/** The endpoints of runs, plans and applies. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import { createRun } from './create-run.ts';
import { listRunEvents, listRuns, showApply, showPlan, showRun } from './read-runs.ts';
import { applyRun, cancelRun, discardRun } from './run-actions.ts';

const BY_ID = '/runs/:run_id';

export const RUN_ENDPOINTS: readonly Endpoint[] = [
  on('POST', '/runs', createRun),
  on('GET', BY_ID, showRun),
  on('GET', `${BY_ID}/run-events`, listRunEvents),
  on('GET', '/workspaces/:workspace_id/runs', listRuns),
  on('POST', `${BY_ID}/actions/apply`, applyRun),
  on('POST', `${BY_ID}/actions/discard`, discardRun),
  on('POST', `${BY_ID}/actions/cancel`, cancelRun),
  on('GET', `${BY_ID}/plan`, showPlan),
  on('GET', `${BY_ID}/apply`, showApply),
  on('GET', '/plans/:plan_id', showPlan),
  on('GET', '/applies/:apply_id', showApply),
];
