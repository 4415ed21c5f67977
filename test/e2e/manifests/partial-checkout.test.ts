// Checkouts that lack manifests: files that git still tracks do not count as deleted. Runs real git on real repositories.
import { rmSync, symlinkSync } from 'node:fs';
import { cp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type CommandResult, trueup } from '../../support/captured-host.ts';
import { type Bench, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder, writeFiles } from '../../support/rig/temporary-folder.ts';

type Planned = PlanJson & { readonly diagnostics?: readonly { code: string; message: string }[] };

interface Repository {
  readonly bench: Bench;
  readonly root: string;
  /** the folder of the stack */
  readonly directory: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
  plan(code?: number, env?: Readonly<Record<string, string>>): Promise<Planned>;
  git(...args: readonly string[]): string;
}

interface Layout {
  /** names of workspaces by the path of their manifest, relative to the root */
  readonly files: Readonly<Record<string, string>>;
  readonly patterns: readonly unknown[];
  /** the folder of the stack, relative to the root */
  readonly stack?: string;
  /** called before the first commit */
  readonly prepare?: (root: string) => void;
}

const manifest = (name: string) => JSON.stringify(workspace(name, { description: name }));

/** A repository with everything committed, checked out and applied. */
async function applied({ files, patterns, stack = '.', prepare }: Layout): Promise<Repository> {
  const bench = await openBench();
  const model = await bench.checkout({ spec: { manifests: patterns } });
  const root = temporaryFolder();
  const directory = join(root, stack);
  writeFiles(root, Object.fromEntries(Object.entries(files).map(([path, name]) => [path, manifest(name)])));
  writeFiles(directory, { '.gitignore': '.trueup\n' });
  await cp(join(model.directory, 'trueup.yaml'), join(directory, 'trueup.yaml'));
  const runGit = (...args: readonly string[]) => git(root, '-c', 'protocol.file.allow=always', ...args);
  runGit('init', '--quiet');
  prepare?.(root);
  runGit('add', '.');
  runGit('commit', '--quiet', '-m', 'all');
  const repository = at({ bench, root, directory });
  const { code, out, err } = await repository.run(['apply', '--yes']);
  expect(code, out + err).toBe(0);
  return repository;
}

function at({ bench, root, directory }: Pick<Repository, 'bench' | 'root' | 'directory'>): Repository {
  const run = (args: readonly string[], env = {}) =>
    trueup(args, { cwd: directory, env: { ...secrets, ...env } });
  return {
    bench,
    root,
    directory,
    run,
    plan: async (expected = 0, env = {}) => {
      const { code, out, err } = await run(['plan', '--format', 'json'], env);
      expect(code, out + err).toBe(expected);
      return JSON.parse(out) as Planned;
    },
    git: (...args) => git(root, '-c', 'protocol.file.allow=always', ...args),
  };
}

const actionsOf = ({ changes }: PlanJson) =>
  changes.map(({ action, address }) => `${action} ${address}`).sort();

/** Neither plan nor apply removes anything, and both name what is missing. */
async function expectIncomplete(
  { plan, run, bench }: Repository,
  missing: string,
  kept: string,
): Promise<void> {
  const planned = await plan(1);
  expect(actionsOf(planned)).toEqual([]);
  expect(planned.coverage.complete).toBe(false);
  expect(planned.diagnostics?.map(({ code }) => code)).toEqual(['partial-checkout']);
  expect(planned.diagnostics?.[0]?.message).toContain(missing);
  const { err } = await run(['apply', '--yes']);
  expect(err).toContain(missing);
  expect(await bench.idsOf(kept)).toHaveLength(1);
}

const two = { 'manifests/a/app.yaml': 'app', 'manifests/b/web.yaml': 'web' };

describe('a sparse checkout', () => {
  const cases: readonly (Layout & {
    readonly title: string;
    readonly sparse: readonly string[];
    readonly missing?: string;
  })[] = [
    {
      title: 'in cone mode, below a glob',
      files: two,
      patterns: ['manifests/**/*.yaml'],
      sparse: ['manifests/a'],
    },
    {
      title: 'in cone mode with a sparse index',
      files: two,
      patterns: ['manifests/**/*.yaml'],
      sparse: ['--sparse-index', 'manifests/a'],
    },
    { title: 'below a folder', files: two, patterns: ['./manifests/'], sparse: ['manifests/a'] },
    {
      title: 'with patterns of its own',
      files: two,
      patterns: ['manifests/*/*.yaml'],
      sparse: ['--no-cone', '/*', '!web.yaml'],
    },
    {
      title: 'that lacks a file named literally',
      files: two,
      patterns: ['manifests/a', 'manifests/b/web.yaml'],
      sparse: ['manifests/a'],
    },
    {
      title: 'that lacks an optional file',
      files: two,
      patterns: ['manifests/a', { pattern: 'manifests/b/web.yaml', optional: true }],
      sparse: ['manifests/a'],
    },
    {
      title: 'that lacks a whole folder of an optional pattern',
      files: two,
      patterns: ['manifests/a', { pattern: 'manifests/b', optional: true }],
      sparse: ['manifests/a'],
    },
    {
      title: 'of a stack that is not at the root of the repository',
      files: { 'stacks/pay/app.yaml': 'app', 'shared/web.yaml': 'web' },
      stack: 'stacks/pay',
      patterns: ['app.yaml', '../../shared/*.yaml'],
      sparse: ['stacks/pay'],
      missing: '"../../shared/web.yaml"',
    },
    {
      title: 'that lacks the target of a link',
      files: { 'manifests/app.yaml': 'app', 'shared/team/web.yaml': 'web' },
      prepare: (root) => symlinkSync('../shared/team', join(root, 'manifests', 'team')),
      patterns: ['manifests/**/*.yaml'],
      sparse: ['manifests'],
      missing: '"manifests/team/web.yaml"',
    },
    {
      title: 'that lacks a link to a folder',
      files: { 'manifests/app.yaml': 'app', 'shared/team/web.yaml': 'web' },
      prepare: (root) => symlinkSync('../shared/team', join(root, 'manifests', 'team')),
      patterns: ['manifests/**/*.yaml'],
      sparse: ['--no-cone', '/*', '!manifests/team'],
      missing: '"manifests/team"',
    },
  ];
  it.each(cases)(
    '$title removes nothing, and the message names the file',
    async ({ sparse, missing, ...layout }) => {
      const repository = await applied(layout);
      repository.git('sparse-checkout', 'set', ...sparse);
      await expectIncomplete(repository, missing ?? '"manifests/b/web.yaml"', 'web');
    },
  );

  it('in a linked worktree removes nothing', async () => {
    const main = await applied({ files: two, patterns: ['manifests'] });
    const root = join(temporaryFolder(), 'linked');
    main.git('worktree', 'add', '--quiet', root);
    await cp(join(main.directory, '.trueup'), join(root, '.trueup'), { recursive: true });
    git(root, 'sparse-checkout', 'set', 'manifests/a');
    await expectIncomplete(at({ ...main, root, directory: root }), '"manifests/b/web.yaml"', 'web');
  });

  it('still applies the manifests that it has', async () => {
    const repository = await applied({ files: two, patterns: ['manifests'] });
    repository.git('sparse-checkout', 'set', 'manifests/a');
    writeFiles(repository.root, { 'manifests/a/new.yaml': manifest('new') });
    const plan = await repository.plan(1);
    expect(actionsOf(plan)).toEqual(['create Workspace/acme/new']);
  });

  it('may lack files that are excluded, that no pattern matches, or that lie in a hidden folder', async () => {
    const files = {
      ...two,
      'manifests/b/deep/other.yaml': 'other',
      'manifests/.hidden/c.yaml': 'hidden',
      'manifests/notes.md': 'notes',
      'docs/readme.yaml': 'docs',
    };
    const repository = await applied({ files, patterns: ['manifests', '!manifests/b/**'] });
    repository.git('sparse-checkout', 'set', '--no-cone', '/*', '!b', '!.hidden', '!docs', '!notes.md');
    const plan = await repository.plan();
    expect(plan.coverage.complete).toBe(true);
    await rm(join(repository.root, 'manifests/a/app.yaml'));
    repository.git('rm', '--quiet', '--cached', 'manifests/a/app.yaml');
    writeFiles(repository.root, { 'manifests/a/new.yaml': manifest('new') });
    expect(actionsOf(await repository.plan())).toContain('delete Workspace/acme/app');
  });
});

/** Places of a submodule, and patterns that match files in it. */
const layouts = [
  { title: 'below a folder', path: 'manifests/team', patterns: ['manifests'] },
  { title: 'below a glob', path: 'manifests/team', patterns: ['manifests/**/*.yaml'] },
  {
    title: 'that covers an optional pattern',
    path: 'vendor/team',
    patterns: ['manifests', { pattern: 'vendor/team/stack/*.yaml', optional: true }],
    inside: 'stack/web.yaml',
  },
  {
    title: 'that covers a file named literally',
    path: 'vendor/team',
    patterns: ['manifests', 'vendor/team/web.yaml'],
  },
];

describe('a submodule', () => {
  /** A repository with a submodule that declares `web`, and a fresh clone of it without the submodule. */
  async function cloned(
    path: string,
    patterns: readonly unknown[],
    inside = 'web.yaml',
  ): Promise<Repository> {
    const team = temporaryFolder({ [inside]: manifest('web') });
    git(team, 'init', '--quiet');
    git(team, 'add', '.');
    git(team, 'commit', '--quiet', '-m', 'team');
    const original = await applied({
      files: { 'manifests/app.yaml': 'app' },
      patterns,
      prepare: (root) =>
        git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', team, path),
    });
    expect(await original.bench.idsOf('web')).toHaveLength(1);
    const root = join(temporaryFolder(), 'clone');
    git(dirname(root), 'clone', '--quiet', original.root, root);
    await cp(join(original.directory, '.trueup'), join(root, '.trueup'), { recursive: true });
    return at({ ...original, root, directory: root });
  }

  it.each(layouts)(
    'without content, $title, removes nothing, and the message names it',
    async ({ path, patterns, inside }) => {
      const repository = await cloned(path, patterns, inside);
      await expectIncomplete(repository, `"${path}"`, 'web');
      await rm(join(repository.root, path), { recursive: true });
      await expectIncomplete(repository, `"${path}"`, 'web');
      repository.git('submodule', '--quiet', 'update', '--init');
      const plan = await repository.plan();
      expect(plan.coverage.complete).toBe(true);
      expect(actionsOf(plan)).toEqual([]);
    },
  );

  it.each(layouts)(
    'at another commit than the index has, $title, removes nothing, and the message names it',
    async ({ path, patterns, inside = 'web.yaml' }) => {
      const repository = await cloned(path, patterns, inside);
      repository.git('submodule', '--quiet', 'update', '--init');
      const submodule = join(repository.root, path);
      writeFiles(submodule, { [inside]: manifest('other') });
      git(submodule, 'commit', '--quiet', '--all', '-m', 'other');
      const { err } = await repository.run(['apply', '--yes']);
      expect(err).toContain(`a submodule is not at the commit that the index has: "${path}"`);
      expect(await repository.bench.idsOf('web')).toHaveLength(1);
      repository.git('add', path);
      expect(actionsOf(await repository.plan())).toContain('delete Workspace/acme/web');
    },
  );

  it.each([
    [
      'whose repository is gone',
      (root: string) => rm(join(root, 'manifests/team/.git'), { recursive: true }),
    ],
    [
      'whose commit git is configured to ignore',
      async (root: string) => git(root, 'update-index', '--assume-unchanged', 'manifests/team'),
    ],
  ])('at another commit, %s, removes nothing', async (_, prepare) => {
    const repository = await cloned('manifests/team', ['manifests/**/*.yaml']);
    repository.git('submodule', '--quiet', 'update', '--init');
    const submodule = join(repository.root, 'manifests/team');
    writeFiles(submodule, { 'web.yaml': manifest('other') });
    git(submodule, 'commit', '--quiet', '--all', '-m', 'other');
    await prepare(repository.root);
    const { err } = await repository.run(['apply', '--yes']);
    expect(err).toContain('a submodule is not at the commit that the index has: "manifests/team"');
    expect(await repository.bench.idsOf('web')).toHaveLength(1);
  });

  it('does not matter if no pattern matches files in it', async () => {
    const repository = await cloned('manifests/team', [
      'manifests/*.yaml',
      { pattern: 'manifests/team', optional: true },
    ]);
    writeFiles(repository.root, {
      'trueup.yaml': (await readFile(join(repository.directory, 'trueup.yaml'), 'utf8')).replace(
        ',{"pattern":"manifests/team","optional":true}',
        '',
      ),
    });
    const plan = await repository.plan();
    expect(actionsOf(plan)).toEqual(['delete Workspace/acme/web']);
    expect(plan.guards.map(({ id }) => id)).not.toContain('missing-file');
  });

  it('that is sparse itself removes nothing', async () => {
    const repository = await cloned('manifests/team', ['manifests'], 'deep/web.yaml');
    repository.git('submodule', '--quiet', 'update', '--init');
    git(join(repository.root, 'manifests/team'), 'sparse-checkout', 'set', 'other');
    await expectIncomplete(repository, '"manifests/team/deep/web.yaml"', 'web');
  });
});

describe('a tracked file that is missing from the work tree', () => {
  it('is planned as a delete, which blocks apply until it is acknowledged', async () => {
    const repository = await applied({ files: two, patterns: ['manifests/**/*.yaml'] });
    rmSync(join(repository.root, 'manifests/b'), { recursive: true });
    const plan = await repository.plan();
    expect(actionsOf(plan)).toEqual(['delete Workspace/acme/web']);
    expect(plan.acknowledge).toContain('missing-file');
    const guard = plan.guards.find(({ id }) => id === 'missing-file');
    expect(guard?.message).toContain('"manifests/b/web.yaml" is missing from the work tree');
    expect((await repository.run(['apply', '--yes'])).code).toBe(5);
    expect(await repository.bench.idsOf('web')).toHaveLength(1);
    const ack = ['--ack', plan.acknowledge.join(',')];
    expect((await repository.run(['apply', '--approve', plan.digest, ...ack])).code).toBe(0);
    expect(await repository.bench.idsOf('web')).toEqual([]);
  });

  it('trips no guard once it is deleted in the index or by a commit', async () => {
    const repository = await applied({ files: two, patterns: ['manifests'] });
    repository.git('rm', '--quiet', 'manifests/b/web.yaml');
    const ids = async () => (await repository.plan()).guards.map(({ id }) => id);
    expect(await ids()).not.toContain('missing-file');
    repository.git('commit', '--quiet', '-m', 'without web');
    expect(await ids()).not.toContain('missing-file');
    expect(actionsOf(await repository.plan())).toEqual(['delete Workspace/acme/web']);
  });

  it('trips no guard if nothing is removed', async () => {
    const repository = await applied({ files: two, patterns: ['manifests'] });
    await rename(
      join(repository.root, 'manifests/b/web.yaml'),
      join(repository.root, 'manifests/b/moved.yaml'),
    );
    writeFiles(repository.root, { 'manifests/a/new.yaml': manifest('new') });
    const plan = await repository.plan();
    expect(actionsOf(plan)).toEqual(['create Workspace/acme/new']);
    expect(plan.guards.map(({ id }) => id)).not.toContain('missing-file');
  });
});

describe('without git', () => {
  it('a removal is blocked, because trueup cannot know whether files are missing', async () => {
    const repository = await applied({ files: two, patterns: ['manifests'] });
    repository.git('rm', '--quiet', 'manifests/b/web.yaml');
    const plan = await repository.plan(0, { PATH: '/nowhere' });
    expect(actionsOf(plan)).toEqual(['delete Workspace/acme/web']);
    const guard = plan.guards.find(({ id }) => id === 'missing-file');
    expect(guard).toMatchObject({ effect: 'blocks', message: expect.stringContaining('git cannot be run') });
  });

  it('and without a repository, resources whose files are missing are deleted', async () => {
    const repository = await applied({ files: two, patterns: ['manifests'] });
    await rm(join(repository.root, '.git'), { recursive: true });
    await rm(join(repository.root, 'manifests/b'), { recursive: true });
    const plan = await repository.plan(0, { PATH: '/nowhere' });
    expect(actionsOf(plan)).toEqual(['delete Workspace/acme/web']);
    expect(plan.guards.map(({ id }) => id)).not.toContain('missing-file');
  });
});
