/** Schemas that several parts of `fleet.yaml` share: variables of the worker, addresses, and the code host of a repository. */
import { Type } from 'typebox';
import { closed, text } from '../../../manifest/schema/place-schemas.ts';
import { quoted } from '../../../model/quoted.ts';

/** A variable that holds a secret of the worker. */
export const workerSecret = (description: string, example = 'ISSUES_TOKEN') =>
  Type.Object(
    {
      env: Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        patternErrorMessage: 'the name of an environment variable',
        description: 'Environment variable of the worker. Stacks never get it',
        examples: [example],
      }),
    },
    { ...closed, description },
  );

export const address = (description: string, example: string) =>
  Type.String({
    format: 'uri',
    pattern: '^https?://',
    patternErrorMessage: `an address such as ${example}`,
    description,
    examples: [example],
  });

/** @param content description of the repository, such as `Repository of the issues` */
export const githubPlace = (description: string, content: string, token: string) =>
  Type.Object(
    {
      url: Type.Optional(
        address(
          'Address of the API; https://api.github.com if not given',
          'https://github.example.com/api/v3',
        ),
      ),
      repository: Type.Optional(
        Type.String({
          pattern: '^[^/\\s]+/[^/\\s]+$',
          patternErrorMessage: 'a repository as owner/name',
          description: content,
          examples: ['acme/infra'],
        }),
      ),
      token: workerSecret(token),
    },
    { ...closed, description },
  );

export const gitlabPlace = (description: string, content: string, token: string) =>
  Type.Object(
    {
      url: Type.Optional(
        address(
          'Address of the API; https://gitlab.com/api/v4 if not given',
          'https://gitlab.example.com/api/v4',
        ),
      ),
      project: Type.Optional(text(content, 'acme/infra')),
      token: workerSecret(token),
    },
    { ...closed, description },
  );

/** `owner/name` in the address of a git repository: `https://host/owner/name.git` or `git@host:owner/name.git`. */
export function repositoryIn(url: string): string | undefined {
  const path = /^(?:https?|ssh):\/\//.test(url)
    ? URL.canParse(url)
      ? new URL(url).pathname
      : ''
    : (/^[\w.-]+@[\w.-]+:(.+)$/.exec(url)?.[1] ?? '');
  const place = path.replace(/^\/+/, '').replace(/(\.git)?\/*$/, '');
  return place.includes('/') ? place : undefined;
}

interface CodeHostPlace {
  readonly github?: (Place & { readonly repository?: string }) | undefined;
  readonly gitlab?: (Place & { readonly project?: string }) | undefined;
}

interface Place {
  readonly url?: string;
  readonly token: { readonly env: string };
}

/** The API of a code host, without a slash at its end; undefined if none is given. */
export function codeHostApi({ github, gitlab }: CodeHostPlace) {
  const given = github ?? gitlab;
  if (given === undefined) return undefined;
  const is = github === undefined ? ('gitlab' as const) : ('github' as const);
  const defaultUrl = is === 'github' ? 'https://api.github.com' : 'https://gitlab.com/api/v4';
  return {
    is,
    url: (given.url ?? defaultUrl).replace(/\/+$/, ''),
    repository: github?.repository ?? gitlab?.project,
    secret: given.token.env,
  };
}

/** @returns the end of a message, if the repository is not at the host of the default API; undefined if it is, or "url" is given */
export function otherHost(repository: string, place: CodeHostPlace): string | undefined {
  const host = hostIn(repository);
  const defaultHost = place.github === undefined ? 'gitlab.com' : 'github.com';
  if ((place.github ?? place.gitlab)?.url !== undefined || host === undefined || host === defaultHost)
    return undefined;
  return `is at ${quoted(host)}: add "url", the address of the API there`;
}

/** The host of the address of a git repository; undefined for a path. */
function hostIn(url: string): string | undefined {
  if (/^(?:https?|ssh):\/\//.test(url)) return URL.canParse(url) ? new URL(url).hostname : undefined;
  return /^[\w.-]+@([\w.-]+):/.exec(url)?.[1];
}
