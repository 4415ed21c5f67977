/** One note per stack in a GitLab merge request, through the real command line and a server that behaves as GitLab documents. */
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { gitlabJob, gitlabTokens, openGitlab } from '../../support/code-host/gitlab.ts';
import { writePlanOf } from '../../support/code-host/plan-files.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function openScene() {
  const gitlab = await openGitlab();
  const folder = temporaryFolder();
  const run = (args: readonly string[], env = gitlabJob(gitlab)) =>
    trueup(['comment', ...args], { cwd: folder, env });
  const post = async (names: readonly string[]) => {
    const ran = await run(['--plan', await writePlanOf(folder, names)]);
    expect([ran.code, ran.err]).toEqual([0, '']);
    return ran.out;
  };
  return { gitlab, folder, run, post };
}

it('trueup comment creates a note in GitLab, and then updates it among many notes and system notes', async () => {
  const { gitlab, post } = await openScene();
  gitlab.notes.push(
    ...Array.from({ length: 230 }, (_, index) => ({
      id: index + 1,
      body: 'merged',
      author: 'project_5_bot_1',
      system: true as const,
    })),
  );
  expect(await post(['kite'])).toBe('created the comment for stack "nursery" in 5 !3: 301\n');
  expect(await post(['ball'])).toContain('updated the comment');
  expect(gitlab.notes).toHaveLength(231);
  expect(gitlab.notes.at(-1)?.body).toContain('Toy/acme/ball');
  expect(gitlab.asked.some(({ query }) => query.get('page') === '3')).toBe(true);
});

it('trueup comment never changes a note of somebody else', async () => {
  const { gitlab, post } = await openScene();
  await post(['kite']);
  const copied = { id: 1, body: gitlab.notes[0]?.body ?? '', author: 'eve' };
  gitlab.notes.unshift(copied);
  await post(['ball']);
  expect(gitlab.notes.map(({ author }) => author)).toEqual(['eve', 'project_5_bot_1']);
  expect(gitlab.notes[1]?.body).toContain('Toy/acme/ball');
});

it('trueup comment prints the note if the token may not write, or if a pipeline has no token', async () => {
  const { gitlab, folder, run } = await openScene();
  const plan = await writePlanOf(folder, ['kite']);
  const { GITLAB_TOKEN: _, ...without } = gitlabJob(gitlab);
  for (const [env, why] of [
    [gitlabJob(gitlab, gitlabTokens.reader), 'answered 403: 403 Forbidden'],
    [gitlabJob(gitlab, 'glpat-revokedrevokedrevoked'), 'answered 401: 401 Unauthorized'],
    [without, '"GITLAB_TOKEN" is not set'],
  ] as const) {
    const { code, out, err } = await run(['--plan', plan], env);
    expect([code, err]).toEqual([0, expect.stringContaining(why)]);
    expect(out).toContain('## Plan of `nursery`');
    expect((await run(['--plan', plan, '--must-post'], env)).code).toBe(1);
  }
  expect(gitlab.notes).toEqual([]);
  expect(gitlab.asked.every(({ headers }) => headers['job-token'] === undefined)).toBe(true);
});

it('trueup comment waits for a rate limit of GitLab', async () => {
  const { gitlab, post } = await openScene();
  for (const method of ['GET', 'POST'])
    gitlab.once((asked) =>
      asked.method === method
        ? { status: 429, headers: { 'retry-after': '0' }, body: 'Retry later' }
        : undefined,
    );
  await post(['kite']);
  expect(gitlab.notes).toHaveLength(1);
});

it('trueup comment creates no second note after a fault of the service', async () => {
  const { gitlab, post } = await openScene();
  gitlab.once(({ method }) => (method === 'POST' ? { status: 0, cut: true } : undefined));
  gitlab.once(({ method }) => (method === 'PUT' ? { status: 502, body: 'Bad Gateway' } : undefined));
  await post(['kite']);
  await post(['ball']);
  expect(gitlab.notes).toHaveLength(1);
});
