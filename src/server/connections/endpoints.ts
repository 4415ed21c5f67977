/** The endpoints of agent pools, SSH keys, OAuth clients and OAuth tokens. */
import { type Endpoint, on, recordedRead } from '../json-api/endpoint.ts';
import { NAMED_RECORD_ENDPOINTS } from './named-records.ts';
import {
  createOauthClient,
  deleteOauthClient,
  listOauthClients,
  listOauthTokens,
  listTokensOfClient,
  showOauthClient,
  showOauthToken,
} from './oauth-clients.ts';

const ORGANIZATION = '/organizations/:organization_name';
const CLIENT = '/oauth-clients/:client_id';

export const CONNECTION_ENDPOINTS: readonly Endpoint[] = [
  ...NAMED_RECORD_ENDPOINTS,
  on('GET', `${ORGANIZATION}/oauth-clients`, listOauthClients),
  on('POST', `${ORGANIZATION}/oauth-clients`, createOauthClient),
  on('GET', CLIENT, showOauthClient),
  on('DELETE', CLIENT, deleteOauthClient),
  recordedRead(`${CLIENT}/oauth-tokens`, listTokensOfClient),
  recordedRead(`${ORGANIZATION}/oauth-tokens`, listOauthTokens),
  recordedRead('/oauth-tokens/:token_id', showOauthToken),
];
