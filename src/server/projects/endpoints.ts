/** The endpoints of projects. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import {
  addProjectTagBindings,
  listEffectiveProjectTagBindings,
  listProjectTagBindings,
  patchProjectTagBindings,
  replaceProjectTagBindings,
} from './project-tag-bindings.ts';
import { createProject, deleteProject, listProjects, showProject, updateProject } from './projects.ts';

const COLLECTION = '/organizations/:organization_name/projects';
const BY_ID = '/projects/:project_id';

export const PROJECT_ENDPOINTS: readonly Endpoint[] = [
  on('GET', COLLECTION, listProjects),
  on('POST', COLLECTION, createProject),
  on('GET', BY_ID, showProject),
  on('PATCH', BY_ID, updateProject),
  on('DELETE', BY_ID, deleteProject),
  on('GET', `${BY_ID}/tag-bindings`, listProjectTagBindings),
  on('PATCH', `${BY_ID}/tag-bindings`, patchProjectTagBindings),
  on('GET', `${BY_ID}/effective-tag-bindings`, listEffectiveProjectTagBindings),
  on('GET', `${BY_ID}/relationships/tag-bindings`, listProjectTagBindings),
  on('POST', `${BY_ID}/relationships/tag-bindings`, addProjectTagBindings),
  on('PATCH', `${BY_ID}/relationships/tag-bindings`, replaceProjectTagBindings),
];
