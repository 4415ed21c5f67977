/** The files that plan and apply the stacks of a repository in a CI. docs/guides/ci.md explains them. */
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

/** The workflow of GitHub that plans; if it is there, it plans and its neighbour applies every stack of the repository. */
export const planWorkflow = '.github/workflows/trueup.yml';

/** The one beside it, which applies. */
export const applyWorkflow = '.github/workflows/trueup-apply.yml';

/** @param token of the stack; absent for the embedded service. @returns none where there is to be no CI */
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

/** The examples name the variable API_TOKEN. A token that is in no variable needs none. */
function withToken(text: string, token: SecretSource | undefined): string {
  if (token !== undefined && 'env' in token) return text.replaceAll('API_TOKEN', () => token.env);
  return text.replace(/^ {8}env:\n(?: {10}.*\n)+|^# - API_TOKEN: .*\n/gm, '');
}

/** What the jobs need and the files do not have, one line each. */
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
