import { describe, expect, it } from 'vitest';
import { findPullRequest, jobCommit, pullRequestLink } from '../../../src/run/pull-request.ts';

const github = {
  GITHUB_ACTIONS: 'true',
  GITHUB_API_URL: 'https://ghe.acme.test/api/v3/',
  GITHUB_REPOSITORY: 'acme/infra',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_SHA: 'merge',
  GITHUB_WORKFLOW: 'plan',
  GITHUB_RUN_NUMBER: '12',
  GITHUB_RUN_ATTEMPT: '3',
};

const gitlab = {
  GITLAB_CI: 'true',
  CI_API_V4_URL: 'https://gitlab.acme.test/api/v4',
  CI_PROJECT_ID: '77',
  CI_MERGE_REQUEST_IID: '3',
  CI_COMMIT_SHA: 'pushed',
  CI_PIPELINE_ID: '100',
  CI_JOB_ID: '1000',
};

describe('the pull request of a job', () => {
  it('is read from the event of GitHub Actions, or else from the ref', () => {
    const place = { service: 'github', url: 'https://ghe.acme.test/api/v3', repository: 'acme/infra' };
    expect(findPullRequest({}, github, { number: 8 })).toMatchObject({
      ...place,
      number: 8,
      tokenEnv: 'GITHUB_TOKEN',
    });
    expect(findPullRequest({}, github, {})).toMatchObject({ ...place, number: 7 });
    expect(() => findPullRequest({}, { ...github, GITHUB_REF: 'refs/heads/main' }, {})).toThrow(
      /belongs to no pull request/,
    );
  });

  it('is in the target project of GitLab CI, even in a fork', () => {
    const place = { service: 'gitlab', url: gitlab.CI_API_V4_URL, number: 3, tokenEnv: 'GITLAB_TOKEN' };
    expect(findPullRequest({}, gitlab, {})).toMatchObject({ ...place, repository: '77' });
    const fork = { ...gitlab, CI_MERGE_REQUEST_PROJECT_ID: '5' };
    expect(findPullRequest({}, fork, {})).toMatchObject({
      ...place,
      repository: '5',
      tokenMayBeMissing: true,
    });
    expect(() => findPullRequest({}, { ...gitlab, CI_MERGE_REQUEST_IID: '' }, {})).toThrow(/--number/);
  });

  it('is taken from flags before variables of the job', () => {
    const flags = { url: 'http://localhost:1/', number: 1, tokenEnv: 'BOT' };
    expect(findPullRequest({ ...flags, service: 'gitlab', project: 'a/b' }, github, { number: 8 })).toEqual({
      ...{ service: 'gitlab', url: 'http://localhost:1', repository: 'a/b', number: 1 },
      ...{ tokenEnv: 'BOT', tokenMayBeMissing: false },
    });
  });

  it.each([
    [{}, {}, /not a job of GitHub Actions or GitLab CI/],
    [{ service: 'gitlab' as const, project: '5', number: 1 }, {}, /--url/],
    [{ service: 'gitlab' as const, url: 'https://g.test/api/v4', number: 1 }, {}, /--project/],
    [{ service: 'github' as const, number: 1 }, {}, /--repository owner\/name/],
    [{ repository: 'infra' }, github, /--repository owner\/name/],
    [{ repository: '../..' }, github, /--repository owner\/name/],
    [{ repository: 'acme/..' }, github, /--repository owner\/name/],
    [{ url: 'ftp://g.test' }, github, /"ftp:\/\/g.test" is not an address/],
  ])('is an error that names the missing flag if it is not known: %j', (flags, env, message) => {
    expect(() => findPullRequest(flags, env, {})).toThrow(message);
  });
});

describe('the commit of a job', () => {
  it('is never the merge commit that CI makes for the job', () => {
    expect(jobCommit(github, { commit: 'head' })).toBe('head');
    expect(jobCommit(github, {})).toBeUndefined();
    const merged = { ...gitlab, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'head' };
    expect(jobCommit(merged, {})).toBe('head');
    expect(jobCommit(gitlab, {})).toBe('pushed');
    expect(jobCommit({}, {})).toBeUndefined();
  });
});

it('The link to the pull request is known from variables of a CI job, and other jobs have none', () => {
  const github = {
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'acme/infra',
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_REF: 'refs/pull/12/merge',
  };
  expect(pullRequestLink(github, {})).toEqual({
    name: 'acme/infra#12',
    url: 'https://github.example/acme/infra/pull/12',
  });
  const gitlab = {
    GITLAB_CI: 'true',
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_PROJECT_PATH: 'acme/infra',
    CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.example/acme/infra',
  };
  expect(pullRequestLink(gitlab, {})).toEqual({
    name: 'acme/infra!7',
    url: 'https://gitlab.example/acme/infra/-/merge_requests/7',
  });
  expect(pullRequestLink({ ...github, GITHUB_REF: 'refs/heads/main' }, {})).toBeUndefined();
  expect(pullRequestLink({}, { number: 1 })).toBeUndefined();
});
