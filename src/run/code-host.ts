/** Connects to the code host of a CI job: its API, and the provider of its OIDC tokens. */
import { githubHeaders, gitlabHeaders } from '../api/code-host/comments.ts';
import { type CodeHost, openCodeHost } from '../api/code-host.ts';
import { messageOf } from '../model/error-message.ts';
import { memberOf } from '../model/json.ts';
import type { CliHost } from './host.ts';
import type { HostPlace } from './pull-request.ts';
import { jwtRequest, readSecret, secretStop, sourceToShow } from './read-secret.ts';

/** Redacts the tokens for the code host in all that is printed or posted, even if a plan contains one. */
export function keepTokens(tokenEnv: string | undefined, { env, secrets, fleet }: CliHost): void {
  const names = [tokenEnv ?? '', 'GITHUB_TOKEN', 'GITLAB_TOKEN', 'CI_JOB_TOKEN'];
  for (const value of [fleet?.apply?.codeHostToken, ...names.map((name) => env[name])])
    if (value?.trim()) secrets.keep(value.trim());
}

interface CodeHostRun {
  readonly token: string;
  readonly host: CliHost;
  /** the end of the run */
  readonly signal: AbortSignal;
  /** the deadline of the run, in milliseconds since 1970 */
  readonly until: number;
}

/** Opens a connection to the API of the code host. The caller closes it. */
export function connectToCodeHost(
  { url, service }: Pick<HostPlace, 'url' | 'service'>,
  run: CodeHostRun,
): CodeHost {
  return connect({ url, headers: service === 'github' ? githubHeaders : gitlabHeaders }, run);
}

/** The same for any address. @param place.address its name in messages */
function connect(
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

interface JwtRequest extends Omit<CodeHostRun, 'token'> {
  readonly audience: string;
  /** what the JWT is for: `the JWT that target "prod" logs in with` */
  readonly what: string;
}

const hint =
  'in GitHub Actions the job needs "permissions: { id-token: write }", which a job of a fork never gets';

/** Requests a new JWT with each call, because one is valid for only a few minutes. @throws CommandStop when the provider gives none */
export async function requestJobJwt({ audience, what, ...about }: JwtRequest): Promise<string> {
  const { host } = about;
  const [url, token] = await Promise.all([read(jwtRequest.url, host), read(jwtRequest.token, host)]).catch(
    (error: unknown) => {
      throw secretStop(`${what} cannot be requested: ${messageOf(error)}; ${hint}`, error);
    },
  );
  host.secrets.keep(token, sourceToShow(jwtRequest.token));
  const { parentUrl, path } = placeOf(url, audience);
  const place = {
    url: parentUrl,
    headers: { accept: 'application/json' },
    address: sourceToShow(jwtRequest.url),
  };
  const provider = connect(place, { ...about, token });
  try {
    const { status, body, words } = await provider.send({ method: 'GET', path, repeatable: true });
    const jwt = memberOf(body, 'value');
    if (status !== 200 || typeof jwt !== 'string' || jwt === '')
      throw new Error(`the OIDC provider answered ${status}${words === '' ? '' : `: ${words}`}`);
    return host.secrets.keep(jwt, 'the OIDC token of this job');
  } catch (error) {
    throw secretStop(`${what} was not given: ${messageOf(error)}; ${hint}`, error);
  } finally {
    await provider.close();
  }
}

function read(source: { readonly env: string }, { env }: CliHost): Promise<string> {
  return readSecret(source, { env, directory: '' });
}

/** Splits the address of the OIDC provider for a request. @throws CommandStop for an address where others could read the token */
function placeOf(text: string, audience: string): { readonly parentUrl: string; readonly path: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOfThisMachine = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  if (url === undefined || !(url.protocol === 'https:' || (url.protocol === 'http:' && isOfThisMachine)))
    throw secretStop(
      `${sourceToShow(jwtRequest.url)} holds no https address, so nothing was sent to it; leave it as GitHub Actions sets it`,
    );
  url.searchParams.set('audience', audience);
  const end = url.pathname.lastIndexOf('/');
  return {
    parentUrl: `${url.origin}${url.pathname.slice(0, end)}`,
    path: `${url.pathname.slice(end)}${url.search}`,
  };
}
