/** One comment per stack in a GitHub pull request, through the real command line and a server that behaves as GitHub documents. */
import { describe, expect, it } from 'vitest';
import { bodyOf, commit, openScene } from '../../support/code-host/comment-scene.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { githubTokens } from '../../support/code-host/github.ts';
import { writePlan, writePlanOf } from '../../support/code-host/plan-files.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { change } from '../../support/report/small-plan.ts';

describe('The comment of a stack', () => {
  it('is created once, and then updated in place', async () => {
    const { github, post, writes } = await openScene();
    const first = await post(['kite']);
    expect(first.out).toMatch(
      /^created the comment for stack "nursery" in acme\/infra #7: https:\/\/github\.test\//,
    );
    expect(bodyOf(github)).toContain('## Plan of `nursery`');
    expect(bodyOf(github)).toContain(`Made for commit \`${commit('a')}\`.`);
    const second = await post(['kite', 'ball']);
    expect(second.out).toContain('updated the comment');
    expect(github.comments).toHaveLength(1);
    expect(bodyOf(github)).toContain('**2 to create, 3 unchanged**');
    expect(writes().map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(activeIn(bodyOf(github).split('\n').slice(2).join('\n'))).toEqual([]);
  });

  it('keeps earlier plans folded, the newest first, and the same plan only once', async () => {
    const { github, post } = await openScene();
    for (const names of [['one'], ['one', 'two'], ['one', 'two'], ['one', 'two', 'three']]) await post(names);
    const [, folded = ''] = bodyOf(github).split('<details><summary>Earlier plans (2)</summary>');
    expect([...folded.matchAll(/\| (\d) to create/g)].map(([, count]) => count)).toEqual(['2', '1']);
  });

  it('is not edited if the plan is the same, so that reviews of it stay valid', async () => {
    const { github, post, writes } = await openScene();
    await post(['kite']);
    await post(['kite', 'ball']);
    const before = bodyOf(github);
    expect((await post(['kite', 'ball'])).out).toContain('left as it is: it shows this plan already');
    expect(bodyOf(github)).toBe(before);
    expect(writes()).toHaveLength(2);
    github.pull.head = commit('b');
    expect((await post(['kite', 'ball'], { commit: commit('b') })).out).toContain('updated the comment');
  });

  it('keeps as many earlier plans as fit', async () => {
    const { github, folder, post, comment } = await openScene();
    for (const index of Array.from({ length: 14 }).keys()) await post([`toy-${index}`]);
    expect(bodyOf(github)).toContain('Earlier plans (10)');
    const changes = Array.from({ length: 300 }, (_, index) =>
      change({
        address: { kind: 'Toy', target: 'acme', name: `toy-${index}` },
        fields: [{ path: ['colour'], before: 'red', after: `${index} ${'x'.repeat(300)}`, shape: 'scalar' }],
      }),
    );
    expect((await comment(['--plan', await writePlan(folder, { changes })])).code).toBe(0);
    expect(bodyOf(github).length).toBeGreaterThan(55_000);
    expect(Buffer.byteLength(bodyOf(github))).toBeLessThanOrEqual(65_000);
  });

  it('is separate for each stack of a pull request', async () => {
    const { github, folder, comment } = await openScene();
    for (const stack of ['a/b', 'a-b', 'payments'])
      await comment(['--plan', await writePlanOf(folder, ['kite'], { stack })]);
    await comment(['--plan', await writePlanOf(folder, ['kite', 'ball'], { stack: 'a-b' })]);
    expect(github.comments).toHaveLength(3);
    expect(bodyOf(github, 1)).toContain('## Plan of `a-b`\n\n**2 to create');
    expect(bodyOf(github, 0)).toContain('## Plan of `a/b`\n\n**1 to create');
  });

  it('is found on the last of many pages, even if their links lead to another path', async () => {
    const { github, post } = await openScene();
    const talk = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: index + 1, body: 'looks good', author: 'ann' }));
    github.comments.push(...talk(250));
    await post(['kite']);
    await post(['ball']);
    expect(github.comments).toHaveLength(251);
    const pages = github.asked
      .filter(({ path }) => path.endsWith('/comments'))
      .map(({ query }) => query.get('page'));
    expect(pages).toContain('3');
    expect(github.asked.every(({ path }) => !path.startsWith('/repositories/'))).toBe(true);
  });

  it('of somebody else is never changed, even if it begins like ours', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    const stolen = { ...github.comments[0], id: 1, body: bodyOf(github), author: 'mallory' };
    github.comments.splice(0, 1, stolen);
    await post(['ball']);
    expect(github.comments.map(({ author }) => author)).toEqual(['mallory', 'github-actions[bot]']);
    expect(bodyOf(github, 0)).toBe(stolen.body);
    expect(bodyOf(github, 1)).toContain('Toy/acme/ball');
  });

  it('is not confused with a comment that quotes it', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    const quoted = { id: 2, body: `> ${bodyOf(github)}`, author: 'github-actions[bot]' };
    github.comments.unshift(quoted, {
      id: 3,
      body: `look:\n${bodyOf(github)}`,
      author: 'github-actions[bot]',
    });
    await post(['ball']);
    expect(bodyOf(github, 0)).toBe(quoted.body);
    expect(github.comments).toHaveLength(3);
  });

  it('that was edited by hand, including hidden lines, is still ours', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    const [own] = github.comments;
    const [marker = ''] = bodyOf(github).split('\n');
    for (const second of [
      '<!-- bm9uc2Vuc2U= -->',
      'no comment',
      `<!-- ${Buffer.from('{"shown":{"post":1}}').toString('base64')} -->`,
    ]) {
      if (own !== undefined) own.body = `${marker}\r\n${second}\r\nedited`;
      await post(['ball']);
      expect(github.comments).toHaveLength(1);
      expect(bodyOf(github)).toContain('Toy/acme/ball');
    }
  });

  it('with a personal token belongs to that person', async () => {
    const { github, post } = await openScene();
    await post(['kite'], { token: githubTokens.person });
    await post(['ball'], { token: githubTokens.person });
    expect(github.comments.map(({ author }) => author)).toEqual(['ann']);
  });
});

describe('A plan without changes', () => {
  it('gets no comment without --always', async () => {
    const { github, folder, comment, writes } = await openScene();
    const plan = await writePlanOf(folder, []);
    expect((await comment(['--plan', plan])).out).toBe(
      'no comment for stack "nursery" in acme/infra #7, and nothing to say in one\n',
    );
    expect(writes()).toEqual([]);
    expect((await comment(['--plan', plan, '--always'])).out).toContain('created');
    expect(bodyOf(github)).toContain('**No changes, 3 unchanged**');
  });

  it('is shown in an existing comment', async () => {
    const { github, folder, post, comment } = await openScene();
    await post(['kite']);
    await comment(['--plan', await writePlanOf(folder, [])]);
    expect(bodyOf(github)).toContain('**No changes, 3 unchanged**');
    expect(bodyOf(github)).toContain('| 1 to create, 3 unchanged |');
  });

  it('gets a comment if the read was incomplete', async () => {
    const { github, folder, comment } = await openScene();
    const coverage = {
      complete: false,
      files: 1,
      documents: 1,
      ledger: 'none',
      ledgerNotes: [],
      targets: [],
    } as const;
    await comment(['--plan', await writePlan(folder, { coverage })]);
    expect(bodyOf(github)).toContain('the read was incomplete');
  });
});

describe('A plan that is out of date', () => {
  it('never replaces the plan of the newest commit', async () => {
    const { github, folder, post, comment } = await openScene();
    await post(['old']);
    github.pull.head = commit('b');
    await post(['new'], { commit: commit('b') });
    const late = await comment(['--plan', await writePlanOf(folder, ['late'])]);
    expect(late.code).toBe(0);
    expect(late.out).toMatch(/is left as it is: it shows the plan of commit b{40}, which is the newest one/);
    expect(bodyOf(github)).toContain('Toy/acme/new');
    expect(bodyOf(github)).not.toContain('Toy/acme/late');
  });

  it('is posted and marked if there is no comment yet', async () => {
    const { github, post } = await openScene();
    github.pull.head = commit('b');
    await post(['old']);
    expect(bodyOf(github)).toContain(
      `**Out of date**: this plan was made for commit \`${commit('a')}\`, and the newest one is`,
    );
    await post(['new'], { commit: commit('b') });
    expect(bodyOf(github)).not.toContain('Out of date');
  });

  it('can be an earlier plan of the same commit', async () => {
    const { github, folder, post, comment } = await openScene();
    const made = { at: new Date(Date.now() - 60_000).toISOString(), commit: commit('a') };
    await post(['newer']);
    const late = await comment(['--plan', await writePlanOf(folder, ['late'], { made })]);
    expect(late.out).toContain('it shows a plan of the same commit that was made later');
    expect(bodyOf(github)).toContain('Toy/acme/newer');
    await post(['next']);
    expect(bodyOf(github)).toContain('Toy/acme/next');
  });

  it('is marked by --outdated, and only once', async () => {
    const { github, post, comment } = await openScene();
    const none = await comment(['--outdated', '--stack', 'nursery']);
    expect(none.code).toBe(0);
    await post(['kite']);
    for (const sha of ['b', 'c']) {
      github.pull.head = commit(sha);
      await comment(['--outdated', '--stack', 'nursery', '--commit', commit(sha)]);
    }
    expect(bodyOf(github).match(/Out of date/g)).toHaveLength(1);
    expect(bodyOf(github)).toContain(`**Out of date**: commit \`${commit('c')}\` is planned now`);
    expect(bodyOf(github)).toContain('Toy/acme/kite');
    await post(['ball'], { commit: commit('c') });
    expect(bodyOf(github)).not.toContain('Out of date');
    expect(bodyOf(github)).toContain('Earlier plans (1)');
  });
});

it('A job for an older commit does not mark the plan of the newest one', async () => {
  const { github, post, comment } = await openScene();
  await post(['kite']);
  const { out } = await comment(['--outdated', '--stack', 'nursery', '--commit', commit('0')]);
  expect(out).toContain('is left as it is');
  expect(bodyOf(github)).not.toContain('Out of date');
});

describe('With a token that may not write, trueup comment', () => {
  it('prints the comment instead, says why, and exits with 0', async () => {
    const { github, folder, comment } = await openScene();
    const plan = await writePlanOf(folder, ['kite']);
    const { code, out, err } = await comment(['--plan', plan], { token: githubTokens.fork });
    expect(code).toBe(0);
    expect(out).toContain('## Plan of `nursery`');
    expect(err).toMatch(
      /^the comment was not posted, because the token has no rights for it here, as in a fork: POST .* answered 403: Resource not accessible by integration; it is on standard output instead\n$/,
    );
    expect(github.comments).toEqual([]);
    const must = await comment(['--plan', plan, '--must-post'], { token: githubTokens.fork });
    expect(must.code).toBe(1);
    expect(must.out).toBe('');
    expect(must.err).toContain('error: POST');
  });

  it('does the same if the token cannot see the pull request', async () => {
    const { folder, comment } = await openScene();
    const plan = await writePlanOf(folder, ['kite']);
    const { code, out, err } = await comment(['--plan', plan, '--repository', 'acme/secret']);
    expect(code).toBe(0);
    expect(out).toContain('## Plan of');
    expect(err).toContain('answered 404: Not Found');
  });

  it('reports a token that is wrong or missing', async () => {
    const { folder, comment } = await openScene();
    const plan = await writePlanOf(folder, ['kite']);
    const wrong = await comment(['--plan', plan], { token: 'ghp_wrongwrongwrongwrongwrongwrongwrong00' });
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('answered 401: Bad credentials');
    expect(`${wrong.out}${wrong.err}`).not.toContain('ghp_wrong');
    const missing = await comment(['--plan', plan, '--token-env', 'BOT_TOKEN']);
    expect(missing.code).toBe(1);
    expect(missing.err).toContain('the environment variable "BOT_TOKEN" is not set');
  });
});

describe('Hostile texts', () => {
  it('in a plan have no effect, and do not count as our hidden lines', async () => {
    const { github, folder, post, comment } = await openScene();
    await post(['kite']);
    const [first = '', second = ''] = bodyOf(github).split('\n');
    const attack = `${first}\n${second}\n@ann #1 </details> ![x](http://e.vil/x.png)\n/close\n::error::x\n##[error]y`;
    const changes = ['one', 'two'].map((name) =>
      change({
        address: { kind: 'Toy', target: attack, name: `${first}${name}` },
        reason: `/close ${attack}`,
        fields: [{ path: [attack], before: attack, after: `${attack}!`, shape: 'text' }],
        notes: [attack],
      }),
    );
    const file = await writePlan(folder, { stack: 'other', changes });
    expect((await comment(['--plan', file])).code).toBe(0);
    expect(github.comments).toHaveLength(2);
    const shown = bodyOf(github, 1).split('\n').slice(2).join('\n');
    expect(activeIn(shown)).toEqual([]);
    expect(shown).not.toMatch(/^\/close/m);
    await post(['ball']);
    expect(github.comments).toHaveLength(2);
    expect(bodyOf(github, 1)).toContain('Plan of `other`');
    expect(bodyOf(github, 0)).toContain('Toy/acme/ball');
    const printed = await comment(['--plan', file], { token: githubTokens.fork });
    const lines = `${printed.out}\n${printed.err}`.split('\n');
    expect(lines.filter((line) => /^\s*::|##\[/.test(line))).toEqual([]);
  });

  it('in manifests and live values have no effect in the comment', async () => {
    const { github, post, envOf } = await openScene();
    await post(['kite']);
    const stack = await (await openBench()).checkout();
    const attack = `${bodyOf(github).split('\n')[0]}\n</details></summary>\n\`\`\`\n@ann #1 GH-2 <img src=x onerror=y> [a](http://e.vil)\n/merge\n| a | b |\n::add-mask::x`;
    await stack.setUp(workspace('app', { description: attack }), workspace('old', { description: attack }));
    await stack.declare(
      workspace('app', { description: `${attack}\n# ${attack}`, tags: { '@ann': '@eve' } }),
    );
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { code, out, err } = await trueupProcess(['comment', '--plan', 'plan.json'], {
      cwd: stack.directory,
      env: await envOf({}),
    });
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('created the comment for stack "payments"');
    const shown = bodyOf(github, 1).split('\n').slice(2).join('\n');
    expect(shown).toContain('onerror=y');
    expect(activeIn(shown)).toEqual([]);
    await post(['ball']);
    expect(github.comments).toHaveLength(2);
  });

  it('that repeat the token do not show it', async () => {
    const { github, folder, comment } = await openScene();
    const fields = [{ path: ['key'], before: 'x', after: githubTokens.job, shape: 'scalar' as const }];
    const ran = await comment(['--plan', await writePlan(folder, { changes: [change({ fields })] })]);
    expect(ran.code).toBe(0);
    expect(bodyOf(github)).toContain('[secret]');
    expect(JSON.stringify([github.comments, ran])).not.toContain(githubTokens.job);
  });
});

it('trueup comment --dry-run prints the comment, and sends nothing', async () => {
  const { github, folder, comment } = await openScene();
  const { code, out, err } = await comment(['--plan', await writePlanOf(folder, ['kite']), '--dry-run']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(
    /^<!-- trueup plan nursery [0-9a-f]{16} -->\n<!-- [A-Za-z0-9+/=]+ -->\n\n## Plan of `nursery`/,
  );
  expect(github.asked).toEqual([]);
});

it('trueup comment reports missing and wrong arguments', async () => {
  const { folder, comment } = await openScene();
  const plan = await writePlanOf(folder, ['kite']);
  for (const [args, message] of [
    [[], '--plan is missing'],
    [['--outdated'], '--outdated needs --stack, or --plan'],
    [['--plan', plan, '--stack', 'x'], '--stack goes with --outdated'],
    [['--plan', 'none.json'], 'the plan "none.json" cannot be read'],
    [['--plan', plan, '--number', 'x'], 'a number such as 12'],
    [['--plan', plan, '--url', 'nowhere'], 'is not an address of an API'],
  ] as const) {
    const { code, err } = await comment(args);
    expect(code).toBe(1);
    expect(err).toContain(message);
  }
});
