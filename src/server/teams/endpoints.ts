/** The endpoints of teams, their accesses, and users. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import { TEAM_ACCESS_ENDPOINTS } from './team-access-endpoints.ts';
import {
  addTeamMembers,
  createTeam,
  deleteTeam,
  listTeams,
  removeTeamMembers,
  showTeam,
  updateTeam,
} from './teams.ts';
import { showUser } from './users.ts';

const COLLECTION = '/organizations/:organization_name/teams';
const BY_ID = '/teams/:team_id';

export const TEAM_ENDPOINTS: readonly Endpoint[] = [
  on('GET', COLLECTION, listTeams),
  on('POST', COLLECTION, createTeam),
  on('GET', BY_ID, showTeam),
  on('PATCH', BY_ID, updateTeam),
  on('DELETE', BY_ID, deleteTeam),
  on('POST', `${BY_ID}/relationships/users`, addTeamMembers),
  on('DELETE', `${BY_ID}/relationships/users`, removeTeamMembers),
  ...TEAM_ACCESS_ENDPOINTS,
  on('GET', '/users/:user_id', showUser),
];
