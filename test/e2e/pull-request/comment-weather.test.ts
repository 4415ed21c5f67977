/** The comment of a stack while the service limits rates, fails or redirects, and while other jobs write. */
import { describe, expect, it } from 'vitest';
import { bodyOf, openScene } from '../../support/code-host/comment-scene.ts';
import { openGithub } from '../../support/code-host/github.ts';
import { startTrueup } from '../../support/cli/process.ts';
import { writePlanOf } from '../../support/code-host/plan-files.ts';

describe('Rate limits', () => {
  const soon = () => String(Math.floor(Date.now() / 1000));

  it.each([
    [
      'the primary limit',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon() },
      'API rate limit exceeded for installation.',
    ],
    [
      'the primary limit',
      429,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon() },
      'API rate limit exceeded for installation.',
    ],
    ['a secondary limit', 403, { 'retry-after': '0' }, 'You have exceeded a secondary rate limit.'],
    [
      'a secondary limit',
      429,
      { 'retry-after': '0', 'x-ratelimit-remaining': '10' },
      'You have exceeded a secondary rate limit.',
    ],
  ])('make trueup comment wait: %s with %i', async (_, status, headers, message) => {
    const { github, post } = await openScene();
    for (const method of ['GET', 'POST'])
      github.once((asked) => (asked.method === method ? { status, headers, body: { message } } : undefined));
    await post(['kite']);
    expect(github.comments).toHaveLength(1);
  });

  it('are an error if the wait is longer than the rest of the run', async () => {
    const { github, folder, comment } = await openScene();
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3_000),
    };
    github.always(() => ({ status: 403, headers, body: { message: 'API rate limit exceeded' } }));
    const { code, err } = await comment(['--plan', await writePlanOf(folder, ['kite'])]);
    expect(code).toBe(1);
    expect(err).toMatch(/asks to wait for (2999|3000) s, and this run has \d+ s left; .* --timeout/);
    expect(github.asked).toHaveLength(1);
  });
});

describe('With concurrent changes or failures,', () => {
  it('two jobs at once leave one comment', async () => {
    const { github, folder, envOf } = await openScene();
    // Both jobs have read that there is no comment before either creates one.
    const waiting: (() => void)[] = [];
    const bothCreate = () =>
      new Promise<void>((go) => {
        waiting.push(go);
        if (waiting.length >= 2) for (const each of waiting) each();
      });
    github.gate(({ method, path }) => method === 'POST' && path.endsWith('/comments'), bothCreate);
    const env = await envOf({});
    const files = [await writePlanOf(folder, ['one']), await writePlanOf(folder, ['two'])];
    const ends = await Promise.all(
      files.map((plan) => startTrueup(['comment', '--plan', plan], { cwd: folder, env }).ended),
    );
    expect(ends.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(github.comments).toHaveLength(1);
    expect(
      github.asked.filter(({ method, path }) => path.endsWith('/7/comments') && method === 'POST').length,
    ).toBe(2);
    expect(bodyOf(github)).toMatch(/Toy\/acme\/(one|two)/);
  });

  it('a create that a gateway answers is looked up, and sent again only if it was not carried out', async () => {
    const { github, post, folder, comment } = await openScene();
    const badGateway = { status: 502, body: '<html>Bad Gateway</html>' };
    github.once(({ method }) => (method === 'POST' ? badGateway : undefined));
    await post(['kite']);
    expect(github.comments).toHaveLength(1);
    github.comments.splice(0);
    github.always(({ method }) => (method === 'POST' ? badGateway : undefined));
    const { code, err } = await comment(['--plan', await writePlanOf(folder, ['kite'])]);
    expect(code).toBe(1);
    expect(err).toContain('answered 502');
  });

  it('a list without the new comment does not lead to a second comment', async () => {
    const { github, post } = await openScene();
    github.always(({ method, path }) =>
      method === 'GET' && path.endsWith('/7/comments') ? { status: 200, body: [] } : undefined,
    );
    await post(['kite']);
    expect(github.comments).toHaveLength(1);
  });

  it('a comment that is deleted between the read and the update is created again', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    github.once(({ method }) => {
      if (method !== 'PATCH') return undefined;
      github.comments.splice(0);
      return { status: 404, body: { message: 'Not Found' } };
    });
    expect((await post(['ball'])).out).toContain('created');
    expect(github.comments).toHaveLength(1);
  });

  it('a comment that is listed but not found by an update counts as one without write access', async () => {
    const { github, post, folder, comment } = await openScene();
    await post(['kite']);
    const before = bodyOf(github);
    github.always(({ method }) =>
      method === 'PATCH' ? { status: 404, body: { message: 'Not Found' } } : undefined,
    );
    const plan = await writePlanOf(folder, ['ball']);
    const { code, out, err } = await comment(['--plan', plan]);
    expect(code).toBe(0);
    expect(out).toContain('Toy/acme/ball');
    expect(err).toContain('the comment was not posted, because the token has no rights');
    expect((await comment(['--plan', plan, '--must-post'])).code).toBe(1);
    const outdated = await comment(['--outdated', '--plan', plan, '--must-post']);
    expect(outdated.code).toBe(1);
    expect(outdated.err).toContain('an update does not find it');
    expect(github.comments.map(({ body }) => body)).toEqual([before]);
  });

  it('a newer plan is kept if the older comment for it is deleted', async () => {
    const { github, folder, post, comment } = await openScene();
    const made = { at: new Date(Date.now() - 60_000).toISOString(), commit: github.pull.head };
    await post(['old']);
    const [old] = github.comments.splice(0);
    await post(['newest']);
    github.comments.unshift(...(old === undefined ? [] : [old]));
    github.once(({ method }) => {
      if (method !== 'PATCH') return undefined;
      github.comments.shift();
      return { status: 404, body: { message: 'Not Found' } };
    });
    await comment(['--plan', await writePlanOf(folder, ['late'], { made })]);
    expect(github.comments).toHaveLength(1);
    expect(bodyOf(github)).toContain('Toy/acme/newest');
  });

  it('a create whose answer is lost does not lead to a second comment', async () => {
    const { github, post } = await openScene();
    github.once(({ method }) => (method === 'POST' ? { status: 0, cut: true } : undefined));
    await post(['kite']);
    expect(github.comments).toHaveLength(1);
  });

  it('duplicates of a job that was killed are removed, and the oldest stays', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    const [kept] = github.comments;
    github.comments.push({ id: 5000, body: bodyOf(github), author: 'github-actions[bot]' });
    await post(['ball']);
    expect(github.comments.map(({ id }) => id)).toEqual([kept?.id]);
    expect(bodyOf(github)).toContain('Toy/acme/ball');
  });

  it('a redirect is not followed', async () => {
    const { github, folder, comment } = await openScene();
    const elsewhere = await openGithub();
    github.always(({ path }) => ({
      status: 301,
      headers: { location: `${elsewhere.url}${path}` },
      body: '',
    }));
    const { code, err } = await comment(['--plan', await writePlanOf(folder, ['kite'])]);
    expect(code).toBe(1);
    expect(err).toContain('it redirects to');
    expect(err).toContain('--url');
    expect(elsewhere.asked).toEqual([]);
  });

  it('a list without an end is an error', async () => {
    const { github, folder, comment } = await openScene();
    const headers = { link: `<${github.url}/x?page=2>; rel="next"` };
    github.always(({ path }) =>
      path.endsWith('/comments') ? { status: 200, headers, body: [] } : undefined,
    );
    const { code, err } = await comment(['--plan', await writePlanOf(folder, ['kite'])]);
    expect(code).toBe(1);
    expect(err).toContain('a list without an end');
  });
});

it('trueup comment reports an unusable address or token, and never shows the token', async () => {
  const { github, folder, comment } = await openScene();
  const plan = await writePlanOf(folder, ['kite']);
  github.always(() => ({ status: 200, body: '<html><title>Sign in</title></html>' }));
  const stray = 'ghp_stray\ncharacters';
  for (const [args, env, message] of [
    [[], {}, 'without valid JSON: a page "Sign in"; check that the address of the API ("--url") leads'],
    [
      ['--url', github.url.replace('http:', 'https:')],
      {},
      'does not speak TLS; check whether the address of the API',
    ],
    [['--url', 'http://127.0.0.1:1'], {}, 'nothing listens at "127.0.0.1:1"; check the address of the API'],
    [['--token-env', 'BOT'], { BOT: stray }, 'check the token for stray characters'],
  ] as const) {
    const { code, out, err } = await comment(['--plan', plan, ...args], { env });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(message);
    expect(err).not.toContain('stray\n');
  }
});

it('trueup comment ends at its time limit', async () => {
  const { github, folder, comment } = await openScene();
  github.gate(
    () => true,
    () => new Promise(() => {}),
  );
  const { code, err } = await comment(['--plan', await writePlanOf(folder, ['kite']), '--timeout', '1s']);
  expect(code).toBe(1);
  expect(err).toContain('this run has reached its timeout of 1s; --timeout gives it more');
});
