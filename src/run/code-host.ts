/** Connects to the code host of a CI job: its API, and the provider of its OIDC tokens. */
import { type CodeHost, openCodeHost } from '../api/code-host.ts';
import { githubHeaders, gitlabHeaders } from '../api/code-host/comments.ts';
import type { CliHost } from './host.ts';
import type { HostPlace } from './pull-request.ts';

/** None of these tokens is printed or posted, also where a plan repeats one. */
export function keepTokens(tokenEnv: string | undefined, { env, secrets, fleet }: CliHost): void {
  const names = [tokenEnv ?? '', 'GITHUB_TOKEN', 'GITLAB_TOKEN', 'CI_JOB_TOKEN'];
  for (const value of [fleet?.apply?.codeHostToken, ...names.map((name) => env[name])])
    if (value?.trim()) secrets.keep(value.trim());
}

export interface CodeHostRun {
  readonly token: string;
  readonly host: CliHost;
  /** the end of the run */
  readonly signal: AbortSignal;
  /** the deadline of the run, in milliseconds since 1970 */
  readonly until: number;
}

/** The connection to the API of the code host; to be closed. */
export function connectToCodeHost(
  { url, service }: Pick<HostPlace, 'url' | 'service'>,
  run: CodeHostRun,
): CodeHost {
  return connect({ url, headers: service === 'github' ? githubHeaders : gitlabHeaders }, run);
}

/** The same to another address. @param place.address what messages call it */
export function connect(
  place: Pick<Parameters<typeof openCodeHost>[0], 'url' | 'headers' | 'address'>,
  { token, host, signal, until }: CodeHostRun,
): CodeHost {
  return openCodeHost({
    ...place,
    token,
    userAgent: `trueup/${host.version}`,
    env: host.env,
    signal,
    until,
    onWait: (message) => host.stderr.write(`${message}\n`),
    observer: host.observer,
    secrets: host.secrets,
    ...(host.retryPolicy === undefined ? {} : { retryPolicy: host.retryPolicy }),
  });
}
