/** What a fleet may apply by itself: the part `apply` of a repository in `fleet.yaml`. */
import picomatch from 'picomatch';
import { type Static, Type } from 'typebox';
import { closed, text } from '../../../manifest/schema/place-schemas.ts';
import { quoted } from '../../../model/quoted.ts';
import { codeHostApi, githubPlace, gitlabPlace, otherHost, repositoryIn } from './places.ts';

/** A variable that stacks may get. Those of the worker itself, which hold its database address and its logins, begin with TRUEUP_. */
export const grantedVariable = {
  pattern: '^(?!TRUEUP_)[A-Za-z_][A-Za-z0-9_]*$',
  patternErrorMessage: 'the name of an environment variable that does not begin with TRUEUP_',
};

export const stackPatterns = (description: string, example: readonly string[]) =>
  Type.Array(
    // Each pattern adds files: a pattern with "!" would add all files that it does not exclude.
    Type.String({ pattern: '^[^!]', patternErrorMessage: 'a pattern without "!" in front' }),
    { minItems: 1, description, examples: [example] },
  );

export const applySchema = Type.Object(
  {
    stacks: stackPatterns('Patterns of the stack files that workers apply, from the root of the repository', [
      'teams/*/trueup.yaml',
    ]),
    revertDrift: Type.Optional(
      Type.Boolean({
        description:
          'Whether drift alone starts an apply; false if not given. An apply that a commit starts reverts drift in any case',
      }),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(grantedVariable), Type.String(grantedVariable), {
        ...closed,
        description:
          'Environment variables that only applies get, in the place of those of "variables": their names for the stack, and the variables of the worker that hold the values',
        examples: [{ PLATFORM_TOKEN: 'PLATFORM_WRITE_TOKEN' }],
      }),
    ),
    files: Type.Optional(
      Type.Array(Type.String({ pattern: '^/', patternErrorMessage: 'an absolute path' }), {
        description: 'Files of the worker that only applies may read',
        examples: [['/run/secrets/platform-write-token']],
      }),
    ),
    github: Type.Optional(
      githubPlace(
        'Where pull requests are approved, on GitHub',
        'Repository of the pull requests; that of "url" of the repository if not given',
        'Token that may read pull requests, and write comments',
      ),
    ),
    gitlab: Type.Optional(
      gitlabPlace(
        'Where merge requests are approved, on GitLab',
        'Project of the merge requests; that of "url" of the repository if not given',
        'Token that may read merge requests, and write comments',
      ),
    ),
    author: Type.Optional(
      text(
        'Account whose comments show the plans that are approved; that of the token if not given',
        'github-actions[bot]',
      ),
    ),
  },
  {
    ...closed,
    description:
      'What workers apply by themselves, as "trueup ci apply" does: only approved plans. Nothing if not given',
  },
);

type ApplyDocument = Static<typeof applySchema>;

/** What workers may apply of one repository. */
export interface ApplySettings {
  /** @param path of the stack file, from the root of the repository */
  includes(path: string): boolean;
  readonly revertsDrift: boolean;
  /** variables of the worker, by the names that stacks know */
  readonly variables: ReadonlyMap<string, string>;
  readonly files: readonly string[];
  /** where pull requests are approved; undefined: only signatures approve */
  readonly codeHost:
    | {
        readonly is: 'github' | 'gitlab';
        /** of the API, without a trailing slash */
        readonly url: string;
        /** `owner/name`, or a project */
        readonly repository: string;
        /** name of the variable with the token */
        readonly secret: string;
        /** account whose comments show plans; undefined: that of the token */
        readonly author: string | undefined;
      }
    | undefined;
}

/** The parts of a repository in `fleet.yaml` that concern secrets and the code host. */
export interface NamedRepository {
  readonly name: string;
  readonly url: string;
  readonly variables?: readonly string[];
  readonly apply?: ApplyDocument;
}

/** The variables of the worker that stacks of a repository can read, in checks or in applies. */
export function readableVariables({ variables = [], apply }: Omit<NamedRepository, 'url'>): string[] {
  return [...variables, ...Object.values(apply?.variables ?? {})];
}

interface Mistake {
  readonly index: number;
  readonly message: string;
}

/** @returns a mistake about where pull requests are; undefined if there is none */
function placeMistake(
  { url, apply }: Pick<NamedRepository, 'url'> & { readonly apply: ApplyDocument },
  api: NonNullable<ReturnType<typeof codeHostApi>>,
): string | undefined {
  const other = otherHost(url, apply);
  if (other !== undefined) return `the repository ${other}`;
  const member = api.is === 'github' ? 'repository' : 'project';
  return (api.repository ?? repositoryIn(url)) === undefined
    ? `the address of the repository does not say where its pull requests are: add ${quoted(member)}`
    : undefined;
}

export function applyMistakes(repositories: readonly NamedRepository[]): Mistake[] {
  return repositories.flatMap(({ url, apply }, index) => {
    if (apply === undefined) return [];
    const wrong = (message: string): Mistake[] => [{ index, message }];
    if (apply.github !== undefined && apply.gitlab !== undefined)
      return wrong('pull requests are approved in one place: remove "github" or "gitlab"');
    const api = codeHostApi(apply);
    if (api === undefined)
      return apply.author === undefined
        ? []
        : wrong('"author" is an account of the code host: add "github" or "gitlab", or remove it');
    const granting = repositories.find((one) => readableVariables(one).includes(api.secret));
    if (granting !== undefined)
      return wrong(
        `the stacks of repository ${quoted(granting.name)} may use ${quoted(api.secret)}, so they could write comments that approve: use another variable`,
      );
    const message = placeMistake({ url, apply }, api);
    if (message !== undefined) return wrong(message);
    return [];
  });
}

export function applySettingsOf({ url, apply }: NamedRepository): ApplySettings | undefined {
  if (apply === undefined) return undefined;
  const { stacks, revertDrift = false, variables = {}, files = [] } = apply;
  const api = codeHostApi(apply);
  return {
    includes: picomatch([...stacks], { dot: true, flags: 's' }),
    revertsDrift: revertDrift,
    variables: new Map(Object.entries(variables)),
    files,
    codeHost: api && { ...api, repository: api.repository ?? repositoryIn(url) ?? '', author: apply.author },
  };
}
