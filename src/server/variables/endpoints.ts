/** The endpoints of variables. */
import { type Endpoint, on, recordedRead } from '../json-api/endpoint.ts';
import { createVariable, deleteVariable, listVariables, showVariable, updateVariable } from './variables.ts';

const OF_WORKSPACE = '/workspaces/:workspace_id/vars';
const BY_ID = `${OF_WORKSPACE}/:variable_id`;

export const VARIABLE_ENDPOINTS: readonly Endpoint[] = [
  recordedRead(OF_WORKSPACE, listVariables),
  on('POST', OF_WORKSPACE, createVariable),
  recordedRead(BY_ID, showVariable),
  on('PATCH', BY_ID, updateVariable),
  on('DELETE', BY_ID, deleteVariable),
];
