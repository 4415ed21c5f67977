import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runOnThisMachine } from '../support/cli/run-on-this-machine.ts';

describe('the identity of a run', () => {
  it('is unique on a laptop', () => {
    const one = runOnThisMachine({ USER: 'ann' });
    expect(one).toMatchObject({ who: 'ann', where: hostname(), pid: process.pid });
    expect(one).not.toHaveProperty('attempt');
    expect(runOnThisMachine({ USER: 'ann' }).id).not.toBe(one.id);
  });

  it('has the user of the system if the environment names none', () => {
    expect(runOnThisMachine({}).who).not.toBe('');
  });

  it.each([
    [
      {
        GITHUB_RUN_ID: '771',
        GITHUB_RUN_ATTEMPT: '2',
        GITHUB_JOB: 'apply',
        GITHUB_REPOSITORY: 'acme/infra',
        GITHUB_SERVER_URL: 'https://git.example.com',
        GITHUB_ACTOR: 'ann',
        USER: 'runner',
      },
      {
        id: 'github/acme/infra/771/apply',
        attempt: 2,
        who: 'ann',
        url: 'https://git.example.com/acme/infra/actions/runs/771',
      },
    ],
    [
      {
        CI_PIPELINE_ID: '12',
        CI_JOB_ID: '400',
        CI_JOB_NAME: 'apply',
        CI_PROJECT_PATH: 'acme/infra',
        CI_JOB_URL: 'https://git.example.com/-/jobs/400',
        GITLAB_USER_LOGIN: 'ann',
      },
      {
        id: 'gitlab/acme/infra/12/apply',
        attempt: 400,
        who: 'ann',
        url: 'https://git.example.com/-/jobs/400',
      },
    ],
    [
      { BUILD_ID: '9', JOB_NAME: 'infra', BUILD_URL: 'https://ci.example.com/9', USER: 'jenkins' },
      { id: 'build/infra/9', who: 'jenkins', url: 'https://ci.example.com/9' },
    ],
    [
      { TRUEUP_RUN_ID: 'nightly', GITHUB_RUN_ID: '771', TRUEUP_ACTOR: 'the night' },
      { id: 'run:nightly', sole: true, who: 'the night' },
    ],
  ])('comes from variables in CI: %o', (env, known) => {
    const { pidNamespace: _, ...identity } = runOnThisMachine(env);
    expect(identity).toEqual({ ...known, where: hostname(), pid: process.pid });
  });

  it.runIf(process.platform === 'linux')('has the PID namespace, in which the PID is unique', () => {
    const { pidNamespace } = runOnThisMachine({});
    expect(pidNamespace).toMatch(/^[0-9a-f-]{36}\/\d+$/);
    expect(runOnThisMachine({}).pidNamespace).toBe(pidNamespace);
  });

  it('has no attempt in a CI that does not count attempts', () => {
    expect(runOnThisMachine({ GITHUB_RUN_ID: '771', GITHUB_RUN_ATTEMPT: 'x' })).not.toHaveProperty('attempt');
  });
});
