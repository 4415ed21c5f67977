/** Opens the reader of pull requests that belongs to a code host. */
import type { CodeHost } from '../code-host.ts';
import { githubPullRequests } from './github.ts';
import { gitlabPullRequests } from './gitlab.ts';
import type { PullRequests } from './pull-requests.ts';
import { Reading } from './reading.ts';

interface CodeHostRepository {
  readonly service: 'github' | 'gitlab';
  /** `owner/name`, or the id or path of a project */
  readonly repository: string;
}

/** Sends nothing itself: only the methods of the result do. */
export function openPullRequests({ service, repository }: CodeHostRepository, host: CodeHost): PullRequests {
  return service === 'github'
    ? githubPullRequests(new Reading(host, 'GitHub'), repository)
    : gitlabPullRequests(new Reading(host, 'GitLab'), repository);
}
