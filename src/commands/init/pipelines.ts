/** The CI files that plan and apply the stacks of a repository. docs/guides/ci.md explains them. */
import type { SecretSource } from '../../model/stack.ts';
import { pinFolder } from '../../run/editor-schemas.ts';
import { ciTexts } from './ci-files.ts';

export const ciNames = ['github', 'gitlab', 'none'] as const;
export type Ci = (typeof ciNames)[number];

interface Pipeline {
  /** relative to the root of the repository, with slashes */
  readonly path: string;
  readonly text: string;
  /** what it is for, as a clause */
  readonly about: string;
}

/** The GitHub workflow that plans. If it exists, it plans every stack of the repository, and the workflow beside it applies them. */
export const planWorkflow = '.github/workflows/trueup.yml';

/** The GitHub workflow that applies. */
export const applyWorkflow = '.github/workflows/trueup-apply.yml';

/** @param token of the stack; absent for the embedded service. @returns an empty list without a CI */
export function pipelinesOf(ci: Ci, token: SecretSource | undefined): readonly Pipeline[] {
  const textOf = (path: keyof typeof ciTexts) => withToken(ciTexts[path], token);
  switch (ci) {
    case 'github':
      return [
        {
          path: planWorkflow,
          text: textOf('examples/ci/github/pull-request.yml'),
          about: 'plans each pull request',
        },
        {
          path: applyWorkflow,
          text: textOf('examples/ci/github/apply.yml'),
          about: 'applies what was approved, after the merge',
        },
        {
          path: '.github/actions/trueup/action.yml',
          text: ciTexts['action.yml'],
          about: 'the action that both use',
        },
      ];
    case 'gitlab':
      return [
        {
          path: '.gitlab-ci.yml',
          text: textOf('examples/ci/gitlab/.gitlab-ci.yml'),
          about: 'plans each merge request, and applies what was approved after the merge',
        },
      ];
    case 'none':
      return [];
  }
}

/** Replaces the variable API_TOKEN of the examples; removes it if the token is not in a variable. */
function withToken(text: string, token: SecretSource | undefined): string {
  if (token !== undefined && 'env' in token) return text.replaceAll('API_TOKEN', () => token.env);
  return text.replace(/^ {8}env:\n(?: {10}.*\n)+|^# - API_TOKEN: .*\n/gm, '');
}

/** What a person has to add for the jobs, because the files do not have it; one line each. */
export function neededBy(ci: Ci, token: SecretSource | undefined): readonly string[] {
  if (ci === 'none') return [];
  const pinned = `trueup in ${pinFolder}: see the guide "CI" (docs/guides/ci.md), "Install trueup"`;
  return [pinned, ...(ci === 'gitlab' ? [projectToken] : []), ...tokensOf(ci, token)];
}

const projectToken =
  'GITLAB_TOKEN: a masked variable with a token of the project, with the scope "api", for the notes';

function tokensOf(ci: Exclude<Ci, 'none'>, token: SecretSource | undefined): readonly string[] {
  if (token === undefined) return [];
  if ('file' in token) return ['the file that the stack names for the token, in each job'];
  const { env } = token;
  return ci === 'github'
    ? [
        `${env}_READ_ONLY: a secret of the repository, with a token that may only read`,
        `${env}: a secret of the environment "trueup-apply", which only the branch main may use, with a token that may write`,
      ]
    : [
        `${env}: a masked variable with a token that may only read, and a protected one for the environment "production" with a token that may write`,
      ];
}
