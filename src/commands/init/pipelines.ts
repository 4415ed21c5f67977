/** The files that plan a stack in the pull requests of a CI. docs/guides/ci.md explains them. */
import { quoted } from '../../model/quoted.ts';
import type { SecretSource } from '../../model/stack.ts';
import { shellWord } from '../../report/view/printable.ts';
import { pinFolder } from '../../run/editor-schemas.ts';

export const ciNames = ['github', 'gitlab', 'none'] as const;
export type Ci = (typeof ciNames)[number];

interface Pipeline {
  /** relative to the root of the repository, with slashes */
  readonly path: string;
  readonly text: string;
}

interface PipelineInput {
  /** of the stack */
  readonly name: string;
  /** the directory of the stack below the root, with slashes; empty for the root itself */
  readonly below: string;
  /** absent for the embedded service */
  readonly token: SecretSource | undefined;
}

/** Undefined where there is to be no CI. */
export function pipelineOf(ci: Ci, input: PipelineInput): Pipeline | undefined {
  switch (ci) {
    case 'github':
      return { path: `.github/workflows/${workflowName(input)}.yml`, text: githubText(input) };
    case 'gitlab':
      return { path: '.gitlab-ci.yml', text: gitlabText(input) };
    case 'none':
      return undefined;
  }
}

/** Several stacks of a repository have a workflow each. */
function workflowName({ name, below }: PipelineInput): string {
  return below === '' ? 'trueup' : `trueup-${name}`;
}

function variableOf({ token }: PipelineInput): string | undefined {
  return token !== undefined && 'env' in token ? token.env : undefined;
}

/** What the pipeline needs and does not have by itself, as comments. */
function needs(input: PipelineInput, variable: string): string {
  const { token } = input;
  const lines = [
    `# Plans the stack in each request for a change, and posts the plan as a comment. It needs:`,
    `# - trueup in ${pinFolder}, with its package.json and package-lock.json committed`,
    ...(variableOf(input) === undefined ? [] : [`# - ${variable}; a read-only token is enough`]),
    ...(token !== undefined && 'file' in token
      ? ['# - the file with the token that the stack names; a read-only token is enough']
      : []),
    '# It only plans. The job that applies needs a token that may write, and an approved plan: docs/guides/ci.md of trueup describes it.',
  ];
  return lines.join('\n');
}

/** A command as a YAML value: in quotes where a plain one would end early, or mean something else. */
function line(command: string): string {
  return /^[\w ./'@%+,=-]+$/.test(command) ? command : JSON.stringify(command);
}

/**
 * Why no CI file can name this folder, as a clause; undefined when one can. The platform replaces expressions before the shell sees its
 * quotes, and a control character would end the line.
 */
export function pipelineProblem(ci: Ci, below: string): string | undefined {
  if (ci === 'none') return undefined;
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(below)) return 'holds a control character';
  return ci === 'github' && below.includes('${{')
    ? `holds ${quoted('${{')}, which begins an expression in a workflow`
    : undefined;
}

const folder = ['$PWD', pinFolder, 'node_modules', '.bin'].join('/');
const addToPath = `echo ${JSON.stringify(folder)} >> "$GITHUB_PATH"`;
const extendPath = `export PATH=${JSON.stringify(`${folder}:$PATH`)}`;

function githubText(input: PipelineInput): string {
  const { name, below } = input;
  const variable = variableOf(input);
  const path = below === '' ? '' : ` ${shellWord(below)}`;
  const env =
    variable === undefined ? '' : `        env:\n          ${variable}: \${{ secrets.${variable} }}\n`;
  return `${needs(input, `the secret ${variable} of the repository`)}
name: ${workflowName(input)}
on: pull_request
permissions:
  contents: read
  pull-requests: write
concurrency:
  group: ${workflowName(input)}-\${{ github.event.pull_request.number }}
  cancel-in-progress: true
jobs:
  plan:
    runs-on: ubuntu-latest
    env:
      GITHUB_TOKEN: \${{ github.token }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm ci --prefix ${pinFolder}
      - run: ${addToPath}
      - run: trueup comment --outdated --stack ${name}
      - run: ${line(`trueup plan${path} --format github --out plan.json`)}
${env}      - if: \${{ always() && hashFiles('plan.json') != '' }}
        run: trueup comment --plan plan.json
      - uses: actions/upload-artifact@v4
        with:
          name: ${workflowName(input)}-plan
          path: plan.json
`;
}

function gitlabText(input: PipelineInput): string {
  const { name, below } = input;
  const path = below === '' ? '' : ` ${shellWord(below)}`;
  return `${needs(input, `${variableOf(input)} as a masked variable of the project`)}
# - GITLAB_TOKEN as a masked variable of the project, for the comment
plan:
  image: node:24
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - npm ci --prefix ${pinFolder}
    - ${extendPath}
    - trueup comment --outdated --stack ${name}
    - ${line(`trueup plan${path} --out plan.json`)}
  after_script:
    - if [ -f plan.json ]; then ${pinFolder}/node_modules/.bin/trueup comment --plan plan.json; fi
  artifacts:
    paths: [plan.json]
`;
}
