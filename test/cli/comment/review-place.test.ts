import { describe, expect, it } from 'vitest';
import { findReview, originOf } from '../../../src/cli/comment/review-place.ts';

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
  it('of GitHub Actions comes from the event, else from the ref', () => {
    const place = { service: 'github', url: 'https://ghe.acme.test/api/v3', repository: 'acme/infra' };
    expect(findReview({}, github, { number: 8 })).toMatchObject({
      ...place,
      number: 8,
      tokenEnv: 'GITHUB_TOKEN',
    });
    expect(findReview({}, github, {})).toMatchObject({ ...place, number: 7 });
    expect(findReview({}, { ...github, GITHUB_REF: 'refs/heads/main' }, {})).toMatch(
      /belongs to no pull request/,
    );
  });

  it('of GitLab CI is that of the project into which it is merged, also in a fork', () => {
    const place = { service: 'gitlab', url: gitlab.CI_API_V4_URL, number: 3, tokenEnv: 'GITLAB_TOKEN' };
    expect(findReview({}, gitlab, {})).toMatchObject({ ...place, repository: '77' });
    const fork = { ...gitlab, CI_MERGE_REQUEST_PROJECT_ID: '5' };
    expect(findReview({}, fork, {})).toMatchObject({ ...place, repository: '5', tokenMayLack: true });
    expect(findReview({}, { ...gitlab, CI_MERGE_REQUEST_IID: '' }, {})).toMatch(/--number/);
  });

  it('is what flags say, whatever the job says', () => {
    const flags = { url: 'http://localhost:1/', number: 1, tokenEnv: 'BOT' };
    expect(findReview({ ...flags, service: 'gitlab', project: 'a/b' }, github, { number: 8 })).toEqual({
      ...{ service: 'gitlab', url: 'http://localhost:1', repository: 'a/b', number: 1 },
      ...{ tokenEnv: 'BOT', tokenMayLack: false },
    });
  });

  it.each([
    [{}, {}, /no job of GitHub Actions or GitLab CI/],
    [{ service: 'gitlab' as const, project: '5', number: 1 }, {}, /--url/],
    [{ service: 'gitlab' as const, url: 'https://g.test/api/v4', number: 1 }, {}, /--project/],
    [{ service: 'github' as const, number: 1 }, {}, /--repository owner\/name/],
    [{ repository: 'infra' }, github, /--repository owner\/name/],
    [{ repository: '../..' }, github, /--repository owner\/name/],
    [{ repository: 'acme/..' }, github, /--repository owner\/name/],
    [{ url: 'ftp://g.test' }, github, /"ftp:\/\/g.test" is no address/],
  ])('that is not known is an error that says what to name: %j', (flags, env, message) => {
    expect(findReview(flags, env, {})).toMatch(message);
  });
});

describe('the commit of a plan', () => {
  it('is never a merge that was made for the job', () => {
    expect(originOf({}, github, { commit: 'head' })).toEqual({
      commit: 'head',
      run: { series: 'plan', number: 12, attempt: 3 },
    });
    expect(originOf({}, github, {})).not.toHaveProperty('commit');
    const merged = { ...gitlab, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'head' };
    expect(originOf({}, merged, {})).toMatchObject({ commit: 'head', run: { number: 100, attempt: 1000 } });
    expect(originOf({}, gitlab, {})).toMatchObject({ commit: 'pushed' });
    expect(originOf({ commit: 'said' }, gitlab, {})).toMatchObject({ commit: 'said' });
  });
});
