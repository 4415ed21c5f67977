/** The endpoints of state versions and their outputs. */
import { type Endpoint, on, recordedRead } from '../json-api/endpoint.ts';
import { createStateVersion } from './create-state-version.ts';
import { listCurrentOutputs, listOutputs, showOutput } from './outputs.ts';
import {
  findStateVersions,
  listStateVersions,
  showCurrentStateVersion,
  showStateVersion,
} from './read-state-versions.ts';

const WORKSPACE = '/workspaces/:workspace_id';
const BY_ID = '/state-versions/:state_version_id';

export const STATE_VERSION_ENDPOINTS: readonly Endpoint[] = [
  recordedRead(`${WORKSPACE}/state-versions`, listStateVersions),
  on('POST', `${WORKSPACE}/state-versions`, createStateVersion),
  recordedRead(`${WORKSPACE}/current-state-version`, showCurrentStateVersion),
  on('GET', `${WORKSPACE}/current-state-version-outputs`, listCurrentOutputs),
  recordedRead('/state-versions', findStateVersions),
  recordedRead(BY_ID, showStateVersion),
  on('GET', `${BY_ID}/outputs`, listOutputs),
  on('GET', '/state-version-outputs/:output_id', showOutput),
];
