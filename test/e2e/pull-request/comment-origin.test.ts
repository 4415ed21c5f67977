/** Which comment is updated, and which commit it names for its plan: trueup trusts nothing that the service does not confirm. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommentState } from '../../../src/approvals/hidden-lines.ts';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { planFileOf } from '../../support/cli/two-clones.ts';
import { bodyOf, commit, openScene } from '../../support/code-host/comment-scene.ts';
import { githubTokens } from '../../support/code-host/github.ts';
import { writePlanOf } from '../../support/code-host/plan-files.ts';
import { git } from '../../support/ledger/git-remote.ts';

/** Changes the hidden line of a comment, as an attacker with the same account can. */
function forgeState(body: string, forge: (state: CommentState) => object): string {
  const [marker = '', hidden = '', ...text] = body.split('\n');
  const state = JSON.parse(Buffer.from(hidden.slice(5, -4), 'base64').toString()) as CommentState;
  const forged = Buffer.from(JSON.stringify(forge(state))).toString('base64');
  return [marker, `<!-- ${forged} -->`, ...text].join('\n');
}

describe('The author of the comment', () => {
  it('is the account of GitHub Actions in its jobs, in which GET /user is 403 and GraphQL is missing', async () => {
    const { github, post } = await openScene();
    await post(['kite']);
    expect((await post(['ball'])).out).toContain('updated the comment');
    expect(github.comments.map(({ author }) => author)).toEqual(['github-actions[bot]']);
    expect(github.asked.map(({ path }) => path)).not.toContain('/graphql');
  });

  it.each([
    ['in a job', {}],
    ['elsewhere', { GITHUB_ACTIONS: '' }],
  ])('is the app that its own comment names, %s', async (_, more) => {
    const { github, folder, envOf, comment } = await openScene();
    const env = { ...(await envOf({ token: githubTokens.app })), ...more };
    const flags = ['--service', 'github', '--number', '7'];
    for (const [name, what] of [
      ['kite', 'created'],
      ['ball', 'updated'],
      ['bat', 'updated'],
    ] as const) {
      const ran = await comment(['--plan', await writePlanOf(folder, [name]), ...flags], { env });
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect(ran.out).toContain(`${what} the comment`);
    }
    expect(github.comments.map(({ author }) => author)).toEqual(['deployer[bot]']);
    expect(bodyOf(github)).toContain('Toy/acme/bat');
  });

  it('is not the one that a marker names, if another account wrote the comment', async () => {
    const { github, post } = await openScene();
    await post(['kite'], { token: githubTokens.app });
    const [own] = github.comments;
    const copied = forgeState(own?.body ?? '', (state) => ({ ...state, author: 'deployer[bot]' }));
    github.comments.unshift({ id: 1, body: copied, author: 'mallory' });
    github.comments.unshift({
      id: 2,
      body: forgeState(copied, (state) => ({ ...state, author: 'mallory' })),
      author: 'mallory',
    });
    await post(['ball'], { token: githubTokens.app });
    expect(github.comments.map(({ author }) => author)).toEqual(['mallory', 'mallory', 'deployer[bot]']);
    expect(bodyOf(github, 1)).toBe(copied);
    expect(bodyOf(github, 2)).toContain('Toy/acme/ball');
  });

  it('must be named if several accounts match, and nothing is changed before', async () => {
    const { github, folder, post, comment, writes } = await openScene();
    await post(['kite']);
    await post(['kite'], { token: githubTokens.person });
    const body = forgeState(bodyOf(github), (state) => ({ ...state, author: 'other[bot]' }));
    github.comments.push({ id: 9000, body, author: 'other[bot]' });
    const before = [writes().length, JSON.stringify(github.comments)];
    const plan = await writePlanOf(folder, ['ball']);
    const { code, err } = await comment(['--plan', plan]);
    expect(code).toBe(1);
    expect(err).toContain('so nothing was changed; name the author of the comment with --author');
    expect([writes().length, JSON.stringify(github.comments)]).toEqual(before);
    expect((await comment(['--plan', plan, '--author', 'GitHub-Actions[bot]'])).out).toContain('updated');
    expect(bodyOf(github, 0)).toContain('Toy/acme/ball');
  });
});

describe('A forged state of a comment', () => {
  it.each<[string, (state: CommentState) => object]>([
    [
      'of a later run',
      ({ shown }) => ({ ...shown, run: { series: 'plan', number: 999999999999, attempt: 1 } }),
    ],
    [
      'of a later run and another commit',
      ({ shown }) => ({
        ...shown,
        commit: commit('e'),
        run: { series: 'plan', number: 999999999999, attempt: 1 },
      }),
    ],
    ['of a time in the future', ({ shown }) => ({ ...shown, made: '2999-01-01T00:00:00.000Z' })],
    [
      'of a commit that is not the newest one',
      ({ shown }) => ({ ...shown, commit: commit('e'), made: new Date().toISOString() }),
    ],
  ])('%s does not prevent the plan of the newest commit', async (_, forge) => {
    const { github, post } = await openScene();
    await post(['kite']);
    const [own] = github.comments;
    if (own !== undefined)
      own.body = forgeState(own.body, (state) => ({ ...state, shown: { ...forge(state), post: 'x' } }));
    await post(['real']);
    expect(bodyOf(github)).toContain('Toy/acme/real');
  });
});

describe('The commit of a plan', () => {
  /** A repository with a stack in it, as a job checks it out: a merge of the pull request into the branch. */
  async function openCheckout() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    git(stack.directory, 'init', '--quiet', '-b', 'main');
    writeFileSync(join(stack.directory, '.gitignore'), '.trueup\nplan.json\nevent.json\n');
    const save = (message: string) => {
      git(stack.directory, 'add', '.');
      git(stack.directory, 'commit', '--quiet', '--allow-empty', '-m', message);
      return git(stack.directory, 'rev-parse', 'HEAD');
    };
    save('base');
    git(stack.directory, 'checkout', '--quiet', '-b', 'feature');
    const head = save('feature');
    git(stack.directory, 'checkout', '--quiet', 'main');
    save('more');
    git(stack.directory, 'merge', '--quiet', '--no-ff', '-m', 'merge', 'feature');
    const event = join(stack.directory, 'event.json');
    writeFileSync(event, JSON.stringify({ number: 7, pull_request: { number: 7, head: { sha: head } } }));
    const job = { ...stack.env, GITHUB_ACTIONS: 'true', GITHUB_EVENT_PATH: event };
    return { stack, head, merge: git(stack.directory, 'rev-parse', 'HEAD'), save, job };
  }

  const run = async (directory: string, args: readonly string[], env: Record<string, string>) => {
    const ran = await trueup(args, { cwd: directory, env });
    expect(ran.code, ran.err).toBe(0);
    return ran;
  };

  it('is in its file, and the comment shows it even if another commit is checked out later', async () => {
    const { stack, head, merge, save, job } = await openCheckout();
    const { github, comment } = await openScene();
    await run(stack.directory, ['plan', '--out', 'plan.json'], job);
    save('later');
    github.pull.head = head;
    const posted = await comment(['--plan', planFileOf(stack)]);
    expect(posted).toMatchObject({ code: 0, err: '' });
    expect(bodyOf(github)).toContain(`Made for commit \`${head}\`.`);
    expect(bodyOf(github)).not.toContain('Out of date');
    const other = await comment(['--plan', planFileOf(stack), '--commit', commit('c')]);
    expect(other.code).toBe(1);
    expect(other.err).toContain(`was made for commit "${head}", and --commit names "${commit('c')}"`);
    await run(stack.directory, ['comment', '--plan', 'plan.json', '--commit', merge, '--dry-run'], job);
  });

  it('is the checked-out commit outside of a job, and the comment mentions uncommitted changes', async () => {
    const { stack, merge } = await openCheckout();
    await run(stack.directory, ['plan', '--out', 'plan.json'], { ...stack.env });
    const clean = await run(stack.directory, ['comment', '--plan', 'plan.json', '--dry-run'], {});
    expect(clean.out).toContain(`Made for commit \`${merge}\`.`);
    await stack.declare(workspace('app', { description: 'tried' }));
    await run(stack.directory, ['plan', '--out', 'plan.json'], { ...stack.env });
    const dirty = await run(stack.directory, ['comment', '--plan', 'plan.json', '--dry-run'], {});
    expect(dirty.out).toContain(
      `Made for commit \`${merge}\`, in a work tree with changes that are not in that commit.`,
    );
  });

  it('is not guessed for a plan file without a commit', async () => {
    const { github, folder, comment } = await openScene();
    const plan = await writePlanOf(folder, ['kite'], { made: { at: new Date().toISOString() } });
    await comment(['--plan', plan]);
    expect(bodyOf(github)).not.toContain('Made for commit');
    await comment(['--plan', plan, '--commit', commit('a')]);
    expect(bodyOf(github)).toContain(`Made for commit \`${commit('a')}\`.`);
  });
});
