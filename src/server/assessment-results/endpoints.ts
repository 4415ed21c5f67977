/** The endpoints of assessment results. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import {
  listAssessmentResults,
  showAssessmentResult,
  showCurrentAssessmentResult,
} from './assessment-results.ts';

const WORKSPACE = '/workspaces/:workspace_id';

export const ASSESSMENT_RESULT_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/assessment-results/:assessment_result_id', showAssessmentResult),
  on('GET', `${WORKSPACE}/assessment-results`, listAssessmentResults),
  on('GET', `${WORKSPACE}/current-assessment-result`, showCurrentAssessmentResult),
];
