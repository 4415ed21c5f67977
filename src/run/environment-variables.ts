/**
 * Every environment variable that trueup itself reads, for its users. Those that a stack names, such as in `token: { env: NAME }`,
 * are not listed. `npm run reference` writes docs/reference/environment.md from this file.
 */

import { dialects } from '../api/dialects.ts';
import type { ClientSettings } from '../model/stack.ts';

interface VariableGroup {
  readonly title: string;
  /** one or two full sentences about the group */
  readonly about: string;
  /** by name: what trueup does with it, in at most two full sentences */
  readonly variables: Readonly<Record<string, string>>;
}

export const environmentVariables: readonly VariableGroup[] = [
  {
    title: 'Stores',
    about: 'Addresses of databases. A stack can name another variable or a file.',
    variables: {
      TRUEUP_LEDGER_URL:
        'Address of the PostgreSQL database of the ledger, with "ledger: postgres" in the stack.',
      TRUEUP_AUDIT_URL:
        'Address of the PostgreSQL database of the audit archive, with "audit: { archive: postgres }" in the stack or "--to postgres".',
      TRUEUP_FLEET_URL: 'Address of the PostgreSQL database of a fleet.',
      TRUEUP_FLEET_METRICS_TOKEN:
        'Bearer token with which the metrics of the whole fleet can be read from "trueup fleet serve".',
    },
  },
  {
    title: 'Checks of a fleet',
    about: 'A worker of a fleet sets them for the process that checks a stack. Do not set them yourself.',
    variables: {
      TRUEUP_FLEET_CHECK:
        'Name of the repository of the stack: the process asks its worker when requests may start.',
      TRUEUP_FLEET_TARGETS: 'Addresses that the stack may connect to.',
    },
  },
  {
    title: 'Who runs it',
    about:
      'The lock and the history record who made an apply, and in which CI job. All attempts of one job share an id, so that a repeated job can continue an interrupted apply.',
    variables: {
      TRUEUP_ACTOR:
        'Who runs trueup. Without it: GITHUB_ACTOR, GITLAB_USER_LOGIN, USER, or the user of the process.',
      TRUEUP_RUN_ID:
        'Id of the CI job, for a CI that trueup does not know. Set it to a value that only one job at a time has, and that a repeated job has again.',
      USER: 'Who runs trueup, outside of CI.',
      BUILD_ID: 'Id of the job, in a CI that sets it and none of the others.',
      BUILD_URL: 'Page of the job, recorded with BUILD_ID.',
      JOB_NAME: 'Name of the job, part of its id with BUILD_ID.',
    },
  },
  {
    title: 'Terminal',
    about: 'The option "--color" overrides all of them.',
    variables: {
      NO_COLOR: 'No colours, if it is not empty. It overrides FORCE_COLOR.',
      FORCE_COLOR: 'Colours also where the output is not a terminal, unless it is empty or "0".',
      TERM: '"dumb" turns off colours, links and the line of progress.',
      CI: 'Set in most CIs: turns off links and the line of progress, unless it is empty, "0" or "false". "trueup doctor" then reports what a job without TRUEUP_RUN_ID lacks.',
      FORCE_HYPERLINK:
        '"1" makes names links in a terminal that trueup does not know, "0" turns links off. Without it: WT_SESSION, TERM_PROGRAM, VTE_VERSION and TERM.',
      TERM_PROGRAM: 'Name of a terminal that may show links.',
      TERM_PROGRAM_VERSION: 'Its version: older ones show no links.',
      VTE_VERSION: 'Terminal that shows links, from 5001.',
      WT_SESSION: 'Set by Windows Terminal, which shows links.',
    },
  },
  {
    title: 'Finding faults',
    about: 'For a CI job whose command line is not at hand.',
    variables: {
      TRUEUP_TRACE: 'The same as "--trace" for each command that sends requests, unless it is empty or "0".',
    },
  },
  {
    title: 'Start',
    about: 'Compiled code is kept beside the program, so that the next start is faster.',
    variables: {
      NODE_COMPILE_CACHE: 'Of Node: the folder of compiled code, in place of "dist/compiled" of the package.',
      NODE_DISABLE_COMPILE_CACHE: 'Of Node: "1" keeps no compiled code.',
    },
  },
  {
    title: 'Signatures',
    about: 'For "trueup approve".',
    variables: {
      SSH_AUTH_SOCK: 'Socket of ssh-agent, whose keys can sign approvals.',
    },
  },
  {
    title: 'Proxy',
    about:
      'The proxy for requests to services. Names in lower case (https_proxy) override those in upper case. Addresses of this machine never use a proxy.',
    variables: {
      HTTPS_PROXY: 'Proxy for services with an https address.',
      HTTP_PROXY: 'Proxy for services with an http address.',
      NO_PROXY: 'Hosts that are reached without a proxy, separated by commas.',
    },
  },
  {
    title: 'Git',
    about:
      'trueup runs git with the environment of the process, but git and ssh never ask a question. Variables that git sets for its hooks, such as GIT_DIR, and variables that turn on a trace are ignored.',
    variables: {
      GIT_ASKPASS: 'A program of yours that answers questions of git for a login.',
      SSH_ASKPASS:
        'A program of yours that answers questions of ssh. Without it ssh fails instead of asking.',
    },
  },
  {
    title: 'A first stack',
    about:
      'Only "trueup init" reads these, as the command lines of the services do. It uses a token for the address that it belongs to, and for no other.',
    variables: {
      ...Object.assign({}, ...[...dialects.values()].map(({ client }) => client && clientVariables(client))),
      HOME: 'The home directory, in which the command lines of the services keep tokens, and ssh keeps keys.',
      USERPROFILE: 'The home directory, if HOME is not set.',
    },
  },
  {
    title: 'GitHub Actions',
    about:
      'GitHub Actions sets these variables. Flags of "trueup comment" override those about the pull request.',
    variables: {
      GITHUB_ACTIONS: '"true" makes trueup escape output that GitHub would read as a workflow command.',
      GITHUB_TOKEN: 'Token with which "trueup comment" writes, unless "--token-env" names another variable.',
      GITHUB_API_URL: 'Address of the API that "trueup comment" uses.',
      GITHUB_SERVER_URL: 'Address of the web pages to which reports and the history link.',
      GITHUB_REPOSITORY: 'The repository, for the comment, for links, and for the id of the job.',
      GITHUB_REF: 'The number of the pull request, or the protected branch for "trueup ci apply".',
      GITHUB_EVENT_NAME:
        '"pull_request" means that a job of a fork gets no secrets. "pull_request_target" makes "trueup ci plan" read the pull request from git objects, and "push" compare with the commit before.',
      GITHUB_EVENT_PATH:
        'File with the event: the number and the commits of the pull request, the merge group or the push.',
      GITHUB_WORKSPACE: 'Folder of the checkout. Annotations name files relative to it.',
      GITHUB_STEP_SUMMARY: 'File to which "--format github" appends the report.',
      GITHUB_OUTPUT: 'File to which "--format github" writes the outputs of the step.',
      GITHUB_ACTOR: 'Who started the job.',
      GITHUB_RUN_ID: 'Part of the id of the job.',
      GITHUB_RUN_ATTEMPT: 'Attempt of the job.',
      GITHUB_JOB: 'Part of the id of the job.',
      ACTIONS_ID_TOKEN_REQUEST_URL:
        'Address of the OIDC provider, for a target with "jwt: { oidc: … }". It is set in jobs with "permissions: { id-token: write }".',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'Token that is sent to that address only. It is set in the same jobs.',
    },
  },
  {
    title: 'GitLab CI',
    about:
      'GitLab CI sets these variables. Flags of "trueup comment" override those about the merge request.',
    variables: {
      GITLAB_CI: '"true" means that this is a job of GitLab CI.',
      GITLAB_TOKEN: 'Token with which "trueup comment" writes, unless "--token-env" names another variable.',
      CI_JOB_TOKEN: 'Never used to write. trueup knows it only to keep it out of reports.',
      CI_API_V4_URL: 'Address of the API that "trueup comment" uses.',
      CI_PROJECT_ID: 'The project, if the job is of no merge request.',
      CI_PROJECT_PATH: 'Part of the id of the job.',
      CI_PROJECT_DIR: 'Folder of the checkout. Annotations name files relative to it.',
      CI_MERGE_REQUEST_IID: 'The number of the merge request.',
      CI_MERGE_REQUEST_PROJECT_ID: 'The project of the merge request, also for a pipeline of a fork.',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: 'The project of the source branch: another one is a fork.',
      CI_COMMIT_REF_PROTECTED: '"false" means that the job gets no protected variables.',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'The branch with whose newest commit "trueup ci plan" compares.',
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: 'That commit, where GitLab names it.',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: 'The commit to compare with, if that one is not known.',
      CI_PIPELINE_SOURCE: '"push" means that "trueup ci plan" compares with the commit before the push.',
      CI_COMMIT_BEFORE_SHA: 'That commit.',
      CI_COMMIT_BRANCH: 'The branch of a push, for "trueup ci".',
      CI_MERGE_REQUEST_PROJECT_PATH: 'Name of the project of the merge request, in reports.',
      CI_MERGE_REQUEST_PROJECT_URL: 'Address of the project of the merge request, for links.',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'The commit of the merge request.',
      CI_COMMIT_SHA: 'The commit, if CI_MERGE_REQUEST_SOURCE_BRANCH_SHA is not set.',
      GITLAB_USER_LOGIN: 'Who started the job.',
      CI_PIPELINE_ID: 'Part of the id of the job.',
      CI_JOB_NAME: 'Part of the id of the job.',
      CI_JOB_ID: 'Attempt of the job.',
      CI_JOB_URL: 'Page of the job, recorded in the history.',
    },
  },
];

function clientVariables({ addresses, hosts, token, namespace, hostToken }: ClientSettings) {
  const first = addresses[0] ?? '';
  const describe = (names: readonly string[], text: string) => names.map((name) => [name, text] as const);
  return Object.fromEntries([
    ...describe(addresses, 'Address of the service.'),
    ...describe(hosts, 'Host name of the service, without a scheme.'),
    [token, `Token for the service at ${first}.`],
    ...(namespace === undefined ? [] : [[namespace, 'Namespace of the secrets service.'] as const]),
    ...(hostToken === undefined
      ? []
      : [[hostToken, 'Token for one host: "_" in HOST is a dot, and "__" a hyphen.'] as const]),
  ]);
}
