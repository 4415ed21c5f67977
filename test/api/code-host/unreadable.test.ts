/**
 * Reads for approvals when the code host fails, redirects or returns something unexpected: for any failed request,
 * nothing counts as a "yes".
 */
import { describe, expect, it } from 'vitest';
import { CodeHostError, type PullRequests, type Pushes } from '../../../src/api/code-host/pull-requests.ts';
import { WireError } from '../../../src/model/http.ts';
import type { ApiDouble, GivenAnswer } from '../../support/code-host/api-double.ts';
import { openGithubScene, openGitlabScene, sha } from '../../support/code-host/approval-scene.ts';
import { githubTokens } from '../../support/code-host/github.ts';

type Method = (pullRequests: PullRequests, number: number) => Promise<unknown>;

const pullRequest = (number: number) => ({
  ...{ number, author: 'ann', head: sha('a'), branch: `change-${number}`, base: 'main' },
  to: number === 7 ? 'acme/infra' : '5',
  from: number === 7 ? 'acme/infra' : '5',
  createdAt: new Date().toISOString(),
});

const methods: Readonly<Record<string, Method>> = {
  ofCommit: (all) => all.ofCommit(sha('1'), 'main'),
  get: (all, number) => all.get(number),
  commits: (all, number) => all.commits(pullRequest(number)),
  commit: (all) => all.commit(sha('a')),
  pushes: (all, number) => all.pushes(pullRequest(number), [sha('a')]),
  reviews: (all, number) => all.reviews(pullRequest(number)),
  comments: (all, number) => all.comments(pullRequest(number)),
  labels: (all, number) => all.labels(pullRequest(number)),
  labelChangedAt: (all) => all.labelChangedAt('trueup-ack/deletes'),
  isBot: (all) => all.isBot('bob'),
  permission: (all) => all.permission('bob'),
  keys: (all) => all.keys('bob'),
  isProtected: (all) => all.isProtected('main'),
  isMember: (all) => all.isMember('acme/platform', 'bob'),
  runApprovals: (all) => all.runApprovals({ id: 500, environment: 'production' }),
};

/** An error; or, for a 404, a value that says "no" or "not known". */
function isClosed(result: unknown, name: string, { status }: GivenAnswer): boolean {
  if (result instanceof CodeHostError || result instanceof WireError) return true;
  if (status !== 404) return false;
  if (name === 'keys') return Array.isArray(result) && result.length === 0;
  if (name === 'isProtected') return result === undefined;
  if (name === 'pushes') return (result as Pushes).is === 'unknown';
  return (name === 'permission' && result === 'none') || (name === 'isMember' && result === false);
}

async function openGithubPlace() {
  const { state, pull, post, reader, github } = await openGithubScene();
  post();
  state.review(pull, { by: 'bob' });
  state.label(pull, 'trueup-ack/deletes', 'bob');
  state.merge(pull, { by: 'ann', commits: [sha('1')] });
  state.teams.set('acme/platform', new Map([['bob', 'active']]));
  state.approveRun(state.startRun({ id: 500, commit: sha('1'), by: 'ann' }), {
    by: 'bob',
    environment: 'production',
  });
  return { double: github as ApiDouble, reader, number: 7 };
}

async function openGitlabPlace() {
  const { state, request, post, reader, gitlab } = await openGitlabScene();
  post();
  state.approve(request, 'bob');
  state.label(request, 'trueup-ack/deletes', 'bob');
  state.merge(request, { commits: [sha('1')] });
  state.groups.set('acme/platform', new Map([['bob', 30]]));
  const about = { job: 500, pipeline: 50, environment: 'production', commit: sha('1'), triggeredBy: 'ann' };
  state.approveDeployment(state.deploy(about), 'bob');
  return { double: gitlab as ApiDouble, reader, number: 3 };
}

const places = { GitHub: openGithubPlace, GitLab: openGitlabPlace };

const failures: Readonly<Record<string, GivenAnswer>> = {
  'is forbidden': { status: 403, body: { message: 'Forbidden' } },
  'is not found': { status: 404, body: { message: 'Not Found' } },
  fails: { status: 500, body: { message: 'Oops' } },
  'is redirected': { status: 307, headers: { location: 'http://127.0.0.1:9/elsewhere' } },
  'was moved': {
    status: 301,
    headers: { location: '/repositories/43' },
    body: { message: 'Moved Permanently' },
  },
  'is answered with no JSON': { status: 200, body: '<html>login</html>' },
  'is answered with nothing': { status: 200, body: 'null' },
  'is answered with an object without members': { status: 200, body: {} },
  'is answered with a list of such objects': { status: 200, body: [{}] },
  'is answered with a list of nothing': { status: 200, body: [null] },
  'is cut off': { status: 200, cut: true },
};

describe.each(Object.entries(places))('%s', (_, openPlace) => {
  it.each(Object.keys(methods))('%s fails closed, for any failed request and any failure', async (name) => {
    const method = methods[name] ?? (async () => undefined);
    const { double, reader, number } = await openPlace();
    await method(reader(), number);
    const paths = [...new Set(double.asked.splice(0).map(({ path }) => path))];
    expect(paths.length).toBeGreaterThan(0);
    let [failing, answer] = ['', {} as GivenAnswer];
    double.always(({ path }) => (path === failing ? answer : undefined));
    for (const [path, says] of paths.flatMap((one) =>
      Object.keys(failures).map((how) => [one, how] as const),
    )) {
      failing = path;
      answer = failures[says] ?? answer;
      const result = await method(reader(), number).catch((error: unknown) => error);
      expect(isClosed(result, name, answer), `${path} ${says}: ${JSON.stringify(result)}`).toBe(true);
    }
  });

  it.each(['commits', 'reviews', 'comments', 'labels', 'ofCommit'])(
    '%s refuses a list without an end',
    async (name) => {
      const { double, reader, number } = await openPlace();
      double.always(({ query }) =>
        query.has('page')
          ? {
              status: 200,
              body: [],
              headers: { 'x-next-page': '1', link: '<http://127.0.0.1/?page=1>; rel="next"' },
            }
          : undefined,
      );
      const read = methods[name]?.(reader(), number);
      // GitLab has its reviews in one object.
      if (name === 'reviews' && number === 3) await expect(read).rejects.toThrow('/versions');
      await expect(read).rejects.toThrow('the list has no end');
    },
  );

  it('a request without a response ends with the run', async () => {
    const { double, reader, number } = await openPlace();
    const run = new AbortController();
    double.always(() => {
      run.abort(new Error('the run reached its time limit'));
      return { status: 200, silent: true };
    });
    await expect(reader(run.signal).reviews(pullRequest(number))).rejects.toThrow(WireError);
  });
});

it('a list without an end is given up', async () => {
  const { double, reader, number } = await openGithubPlace();
  double.always(({ query }) => {
    const link = `<http://127.0.0.1/?page=${Number(query.get('page')) + 1}>; rel="next"`;
    return { status: 200, body: [], headers: { link } };
  });
  await expect(reader().reviews(pullRequest(number))).rejects.toThrow('the list has no end');
});

it('a log of pushes without an end names no pusher', async () => {
  const { double, reader, number } = await openGithubPlace();
  double.always(() => ({
    status: 200,
    body: [{ ref: `refs/heads/change-${number}`, after: sha('a'), actor: { login: 'ann' } }],
    headers: { link: '<http://127.0.0.1/?after=again>; rel="next"' },
  }));
  expect(await reader().pushes(pullRequest(number), [])).toMatchObject({ is: 'unknown' });
});

it('a response about another pull request is refused', async () => {
  const { double, reader } = await openGithubPlace();
  double.always(({ path }) => (path.endsWith('/pulls/8') ? { status: 200, body: { number: 7 } } : undefined));
  await expect(reader().get(8)).rejects.toThrow('another pull request');
});

it('GraphQL errors are errors, although their status is 200', async () => {
  const { double, reader } = await openGithubPlace();
  double.always(() => ({ status: 200, body: { data: { repository: null }, errors: [{ message: 'no' }] } }));
  await expect(reader().labelChangedAt('trueup-ack/deletes')).rejects.toThrow('it has errors');
});

it('an unknown state of a review is refused, because it might be a "no"', async () => {
  const { github, state, pull, reader } = await openGithubScene();
  state.review(pull, { by: 'bob', state: 'REVOKED' });
  expect(github.url).toContain('127.0.0.1');
  await expect(reader().reviews(pullRequest(7))).rejects.toThrow('"REVOKED"');
});

it('the owner of a token is unknown if the code host does not report it', async () => {
  expect(await (await openGithubScene()).reader().self()).toBeUndefined();
  expect(await (await openGithubScene(githubTokens.person)).reader().self()).toBe('ann');
  expect(await (await openGitlabScene()).reader().self()).toBe('project_5_bot_1');
});

it('a redirect is not followed, and the token is not sent elsewhere', async () => {
  const elsewhere = await openGithubScene();
  const { double, reader, number } = await openGithubPlace();
  double.always(({ path }) => ({ status: 302, headers: { location: `${elsewhere.github.url}${path}` } }));
  await expect(reader().get(number)).rejects.toThrow('answered 302');
  expect(elsewhere.github.asked).toEqual([]);
});
