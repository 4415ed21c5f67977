/**
 * Finds what access a change of a workspace grants or revokes, and how a renamed workspace is recognized. Pure; `before` is
 * undefined for a new workspace, `after` for a deleted one.
 */
import { isJsonObject } from '../../model/json.ts';
import type { Risk } from '../../model/guard.ts';
import type { RepositoryFields, WorkspaceFields } from './workspace-types.ts';

export function risk(
  before: WorkspaceFields | undefined,
  after: WorkspaceFields | undefined,
): readonly Risk[] {
  return [...sharing(before, after), ...repository(before, after)];
}

/** People who can push to another repository decide what runs with the credentials of the workspace. */
function repository(before: WorkspaceFields | undefined, after: WorkspaceFields | undefined): Risk[] {
  if (before === undefined || after === undefined) return [];
  const [was, is] = [identifierOf(before), identifierOf(after)];
  if (is === undefined || was === is) return [];
  const instead = was === undefined ? '' : ` instead of ${JSON.stringify(was)}`;
  const message = `runs execute what the repository ${JSON.stringify(is)} holds${instead}`;
  return [{ path: ['vcsRepo', 'identifier'], effect: 'widens', message }];
}

function identifierOf({ vcsRepo }: WorkspaceFields): string | undefined {
  const { identifier }: RepositoryFields = isJsonObject(vcsRepo) ? vcsRepo : {};
  return typeof identifier === 'string' ? identifier : undefined;
}

function sharing(before: WorkspaceFields | undefined, after: WorkspaceFields | undefined): readonly Risk[] {
  const [was, is] = [before?.globalRemoteState === true, after?.globalRemoteState === true];
  if (was === is || after === undefined) return [];
  const path = ['globalRemoteState'];
  return is
    ? [
        {
          path,
          effect: 'widens',
          message: 'every workspace of the organization may read the state',
          guard: 'global-sharing',
        },
      ]
    : [{ path, effect: 'narrows', message: 'only approved consumers may read the state' }];
}

/**
 * The repository, then what distinguishes workspaces of the same repository: deleting one and creating the other is likely a
 * rename. Undefined without a repository, because then nothing identifies the workspace.
 */
export function similarity({ vcsRepo, workingDirectory }: WorkspaceFields): readonly string[] | undefined {
  const { identifier, branch }: RepositoryFields = isJsonObject(vcsRepo) ? vcsRepo : {};
  if (typeof identifier !== 'string') return undefined;
  return [identifier.toLowerCase(), String(branch ?? ''), String(workingDirectory ?? '')];
}
