/** The endpoints of configuration versions. */
import { type Endpoint, on, recordedRead } from '../json-api/endpoint.ts';
import { createConfigurationVersion } from './create-configuration-version.ts';
import {
  listConfigurationVersions,
  showConfigurationVersion,
  showIngressAttributes,
} from './read-configuration-versions.ts';

const OF_WORKSPACE = '/workspaces/:workspace_id/configuration-versions';
const BY_ID = '/configuration-versions/:configuration_version_id';

export const CONFIGURATION_VERSION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', OF_WORKSPACE, listConfigurationVersions),
  on('POST', OF_WORKSPACE, createConfigurationVersion),
  recordedRead(BY_ID, showConfigurationVersion),
  on('GET', `${BY_ID}/ingress-attributes`, showIngressAttributes),
];
