/**
 * What a change of a workspace opens or closes, and what makes two workspaces look like one that was renamed. Pure;
 * `before` undefined is a new workspace, `after` undefined a deleted one.
 */
import { isJsonObject } from '../../model/json/json.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { RepositoryFields, WorkspaceFields } from './workspace-types.ts';

export function risk(
  before: WorkspaceFields | undefined,
  after: WorkspaceFields | undefined,
): readonly Risk[] {
  const [was, is] = [before?.globalRemoteState === true, after?.globalRemoteState === true];
  if (was === is || after === undefined) return [];
  const path = ['globalRemoteState'];
  return is
    ? [
        {
          path,
          effect: 'widens',
          says: 'every workspace of the organization may read the state',
          guard: 'global-sharing',
        },
      ]
    : [{ path, effect: 'narrows', says: 'only approved consumers may read the state' }];
}

/**
 * The repository, then what tells apart workspaces of one repository: a delete of one and a create of the other is
 * likely a rename (rule 26). Undefined: without a repository there is nothing to go by.
 */
export function similarity({ vcsRepo, workingDirectory }: WorkspaceFields): readonly string[] | undefined {
  const { identifier, branch }: RepositoryFields = isJsonObject(vcsRepo) ? vcsRepo : {};
  if (typeof identifier !== 'string') return undefined;
  return [identifier.toLowerCase(), String(branch ?? ''), String(workingDirectory ?? '')];
}
