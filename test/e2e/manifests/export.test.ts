/** Manifests exported from live resources: a plan adopts the resources, and changes nothing else. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { caCert } from '../../support/kinds/cluster-auth-config/pem-samples.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const deep = { spec: { manifests: ['manifests/**/*.yaml'] } };

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly adopt?: boolean; readonly target?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Every file below `manifests`, by its path. */
async function filesOf({ directory }: Checkout): Promise<Record<string, string>> {
  const root = join(directory, 'manifests');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(
    files.map(async (file) => [file.slice(root.length + 1), await readFile(file, 'utf8')] as const),
  );
  return Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function exported(stack: Checkout, ...args: readonly string[]): Promise<Map<string, Manifest>> {
  const { out } = await stack.run(['export', ...args], 0);
  const manifests = loadAll(out) as Manifest[];
  return new Map(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]));
}

async function specOf(bench: Bench, name: string, stack?: Checkout): Promise<Manifest['spec'] | undefined> {
  const found = await exported(stack ?? (await bench.checkout(deep)), '--name', name, '--kind', 'Workspace');
  return found.get(`Workspace/${name}`)?.spec;
}

const reviewer = 'a-reviewer-jwt-that-only-the-service-knows';

/** An organization and a mount with resources that were created by hand. */
async function inhabited(): Promise<Bench> {
  const bench = await openBench({
    organization: {
      projects: [{ name: 'platform', id: 'prj-platform' }],
      workspaces: [{ name: 'net', 'tag-bindings': { env: 'prod', team: 'network' }, tags: ['core'] }],
    },
  });
  const { byHand, byHandMount } = bench;
  await byHand.update(await bench.idOf('net'), {
    description: 'two\nlines\n',
    'execution-mode': 'local',
    'auto-apply': true,
    'trigger-patterns': ['/net/**/*'],
    'vcs-repo': { identifier: 'acme/net', 'oauth-token-id': 'ot-git', branch: 'main' },
  });
  const project = { project: { data: { type: 'projects', id: 'prj-platform' } } };
  const app = await byHand.created({ name: 'app', 'global-remote-state': true }, project);
  await byHand.created({ name: 'db', 'auto-destroy-activity-duration': '14d' });
  await byHand.post(`/workspaces/${await bench.idOf('net')}/relationships/remote-state-consumers`, {
    data: [{ type: 'workspaces', id: app }],
  });
  await byHandMount('POST', 'config', {
    cluster_host: 'https://cluster.internal:6443',
    cluster_ca_cert: caCert,
    token_reviewer_jwt: reviewer,
  });
  await byHandMount('POST', 'role/web', {
    bound_service_account_names: ['web'],
    bound_service_account_namespaces: ['shop'],
    token_policies: ['read'],
    token_ttl: 5400,
  });
  return bench;
}

describe('export', () => {
  it('writes manifests with which a plan adopts everything and changes nothing', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout(deep);
    await stack.run(['export', '--out', 'manifests'], 0);
    expect(bench.wire.writes()).toEqual([]);
    const plan = await stack.plan();
    expect(plan.summary).toMatchObject({ adopt: 6, create: 0, update: 0, release: 0, delete: 0 });
    expect(plan.changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(
      Array.from({ length: 4 }, () => '/claim'),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('net')).toEqual({ env: 'prod', team: 'network', 'trueup-stack': 'payments' });
    await stack.run(['plan', '--exit-code'], 0);
    expect((await stack.run(['export'], 0)).err).toContain('nothing to export');
  });

  it('writes what differs from the defaults, in short forms, in blocks, in the order of the schema', async () => {
    const stack = await (await inhabited()).checkout(deep);
    await stack.run(['export', '--out', 'manifests', '--kind', 'Workspace', '--name', 'net'], 0);
    const text = (await filesOf(stack))['acme/workspace/net.yaml'] ?? '';
    const [schema = '', ...rest] = text.split('\n');
    expect(schema).toMatch(/^# yaml-language-server: \$schema=.*schemas\/workspace\.schema\.json$/);
    expect(rest.join('\n')).toBe(
      `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: net
  adopt: true
spec:
  description: |
    two
    lines
  executionMode: local
  autoApply: true
  engineVersion: ${(load(text) as Manifest).spec['engineVersion']}
  vcsRepo:
    identifier: acme/net
    branch: main
    oauthTokenId: ot-git
  triggerPatterns:
    - /net/**/*
  project: Default Project
  tagNames:
    - core
  tags:
    env: prod
    team: network
  remoteStateConsumers:
    - app
`,
    );
  });

  it('leaves out what the service computes, and the consumers of a globally shared state', async () => {
    const bench = await inhabited();
    expect(await specOf(bench, 'db')).toMatchObject({ autoDestroyActivityDuration: '14d' });
    expect(await specOf(bench, 'db')).not.toHaveProperty('autoDestroyAt');
    const shared = await specOf(bench, 'app');
    expect(shared).toMatchObject({ globalRemoteState: true, project: 'platform' });
    expect(shared).not.toHaveProperty('remoteStateConsumers');
  });

  it('writes durations such as 1h30m', async () => {
    const roles = await exported(await (await inhabited()).checkout(), '--kind', 'clusterauthrole');
    expect(roles.get('ClusterAuthRole/web')?.spec).toEqual({
      boundServiceAccountNames: ['web'],
      boundServiceAccountNamespaces: ['shop'],
      tokenTtl: '1h30m',
      tokenPolicies: ['read'],
    });
  });

  it('contains no secret, says that a reviewer JWT is stored, and does not remove it', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout(deep);
    const { out, err } = await stack.run(['export', '--kind', 'ClusterAuthConfig'], 0);
    expect(out).toContain('  # A reviewer JWT is stored; the service never returns it.');
    expect(out).toContain('  # tokenReviewerJwt: { env: REVIEWER_JWT }\n');
    for (const secret of [reviewer, ...Object.values(secrets)]) expect(out + err).not.toContain(secret);
    await stack.run(['export', '--out', 'manifests', '--kind', 'ClusterAuthConfig'], 0);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.byHandMount('GET', 'config')).toMatchObject({ token_reviewer_jwt_set: true });
  });

  it('does not declare a lock of a workspace, and mentions it in a comment', async () => {
    const bench = await inhabited();
    await bench.byHand.post(`/workspaces/${await bench.idOf('db')}/actions/lock`, {
      reason: 'under\nrepair',
    });
    const { out } = await (await bench.checkout()).run(['export', '--name', 'db'], 0);
    expect(out).toContain(
      '  # It was locked when this was written ("under\\nrepair"); "lock: {}" would keep it locked.',
    );
    expect((load(out) as Manifest).spec).not.toHaveProperty('lock');
  });
});

describe("the stack's defaults", () => {
  it('are overridden where live values differ, and not repeated where they are equal', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout({
      spec: {
        manifests: ['manifests/**/*.yaml'],
        defaults: {
          Workspace: {
            operations: false,
            allowDestroyPlan: false,
            description: 'made by the platform team',
            tags: { managed: 'yes' },
            globalRemoteState: null,
          },
          ClusterAuthRole: { audience: 'shop', tokenTtl: '90m' },
        },
      },
    });
    const net = await specOf(bench, 'net', stack);
    expect(net).toMatchObject({ allowDestroyPlan: true, description: 'two\nlines\n' });
    expect(net).not.toHaveProperty('executionMode');
    expect(await specOf(bench, 'db', stack)).toMatchObject({
      executionMode: null,
      description: null,
      tags: null,
    });
    const roles = await exported(stack, '--kind', 'ClusterAuthRole');
    expect(roles.get('ClusterAuthRole/web')?.spec).toMatchObject({ audience: '' });
    expect(roles.get('ClusterAuthRole/web')?.spec).not.toHaveProperty('tokenTtl');
  });

  it('that no manifest can override are reported before anything is planned', async () => {
    const bench = await inhabited();
    const defaults = {
      Workspace: { tags: { managed: 'yes' }, globalRemoteState: false, remoteStateConsumers: [] },
    };
    const stack = await bench.checkout({ spec: { manifests: ['manifests/**/*.yaml'], defaults } });
    const { err } = await stack.run(['export', '--out', 'manifests'], 1);
    expect(err).toContain(
      'warning: left out: Workspace/acme/app: workspace "app" shares its state globally, so it cannot have a list of consumers',
    );
    expect(err).toContain(
      'warning: TagBindings/acme/net: no manifest can express its live values, and a plan would change tags.managed',
    );
    expect(Object.keys(await filesOf(stack))).not.toContain('acme/workspace/app.yaml');
    await stack.plan();
  });

  it('with "keep" leave the matching tags out of the export', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout({ spec: { defaults: { TagBindings: { keep: ['te*'] } } } });
    expect(await specOf(bench, 'net', stack)).toMatchObject({ tags: { env: 'prod' } });
  });
});

describe('the choice of what to export', () => {
  const names = async (bench: Bench, ...args: string[]) =>
    [...(await exported(await bench.checkout(), ...args)).keys()].sort();

  it('is by name, tag, project, kind and target', async () => {
    const bench = await inhabited();
    expect(await names(bench, '--name', 'n*', '--name', 'w*')).toEqual([
      'ClusterAuthRole/web',
      'Workspace/net',
    ]);
    expect(await names(bench, '--tag', 'env=prod')).toEqual(['Workspace/net']);
    expect(await names(bench, '--tag', 'core')).toEqual(['Workspace/net']);
    expect(await names(bench, '--tag', 'env', '--tag', 'team=other')).toEqual([]);
    expect(await names(bench, '--project', 'prj-platform')).toEqual(['Workspace/app']);
    expect(await names(bench, '--target', 'prod')).toEqual([
      'ClusterAuthConfig/config',
      'ClusterAuthRole/web',
    ]);
  });

  it('of children alone gives documents of their own, which are adopted alone', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout(deep);
    await stack.run(['export', '--out', 'manifests', '--kind', 'TagBindings'], 0);
    expect(Object.keys(await filesOf(stack))).toEqual(['acme/tag-bindings/net.yaml']);
    expect((await stack.plan()).summary).toMatchObject({ adopt: 1, update: 0 });
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('leaves out what is declared or owned, says how much, and includes it with --all', async () => {
    const bench = await openBench({
      organization: {
        workspaces: [
          { name: 'free' },
          { name: 'theirs', 'tag-bindings': { 'trueup-stack': 'network' } },
          { name: 'lost', 'tag-bindings': { 'trueup-stack': 'payments' } },
        ],
      },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('mine'));
    const { out, err } = await stack.run(['export'], 0);
    expect((load(out) as Manifest).metadata.name).toBe('free');
    expect(err).toContain(
      'left out: 1 claimed by this stack, 1 declared in this stack, 1 claimed by stack "network" (--all includes them)',
    );
    expect([...(await exported(stack, '--all')).keys()].sort()).toEqual([
      'Workspace/free',
      'Workspace/lost',
      'Workspace/mine',
      'Workspace/theirs',
    ]);
  });

  it('includes only roles that the target owns', async () => {
    const bench = await inhabited();
    const stack = await bench.checkout({ clusterAuth: { owns: ['shop-*'] } });
    expect((await stack.run(['export', '--kind', 'ClusterAuthRole'], 0)).err).toContain('nothing to export');
  });

  it('refuses an unknown kind, target or stack', async () => {
    const stack = await (await openBench()).checkout();
    expect((await stack.run(['export', '--kind', 'Server'], 1)).err).toContain('there is no kind "Server"');
    expect((await stack.run(['export', '--target', 'beta'], 1)).err).toContain(
      'the stack has no target "beta": it has acme, prod',
    );
    expect((await stack.run(['export', 'nowhere'], 1)).err).toContain(
      'there is no file or directory "nowhere"',
    );
  });
});

describe('the files of an export', () => {
  it('contain one resource each, or all of a kind, or all of a target', async () => {
    const bench = await inhabited();
    const paths = async (group: string) => {
      const stack = await bench.checkout(deep);
      await stack.run(['export', '--out', 'manifests', '--group', group], 0);
      expect((await stack.plan()).summary).toMatchObject({ adopt: 6 });
      return Object.keys(await filesOf(stack));
    };
    expect(await paths('per-resource')).toEqual([
      'acme/project/platform.yaml',
      'acme/workspace/app.yaml',
      'acme/workspace/db.yaml',
      'acme/workspace/net.yaml',
      'prod/cluster-auth-config/config.yaml',
      'prod/cluster-auth-role/web.yaml',
    ]);
    expect(await paths('per-kind')).toEqual([
      'acme/project.yaml',
      'acme/workspace.yaml',
      'prod/cluster-auth-config.yaml',
      'prod/cluster-auth-role.yaml',
    ]);
    expect(await paths('one-file')).toEqual(['acme.yaml', 'prod.yaml']);
  });

  it('never overwrite existing files without --force', async () => {
    const stack = await (await inhabited()).checkout(deep);
    const args = ['export', '--out', 'manifests', '--name', 'net'];
    await stack.run(args, 0);
    const file = join(stack.directory, 'manifests', 'acme', 'workspace', 'net.yaml');
    await writeFile(file, '# mine\n');
    expect((await stack.run(args, 1)).err).toContain(
      'nothing was written: "manifests/acme/workspace/net.yaml" exists already; pass --force',
    );
    expect(await readFile(file, 'utf8')).toBe('# mine\n');
    await stack.run([...args, '--force'], 0);
    expect(await readFile(file, 'utf8')).toContain('name: net');
  });

  it('are the same for the same resources, and have names that differ in more than case', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'App' }, { name: 'app' }] } });
    const write = async () => {
      const stack = await bench.checkout(deep);
      await stack.run(['export', '--out', 'manifests'], 0);
      return filesOf(stack);
    };
    const files = await write();
    expect(Object.keys(files)).toEqual(['acme/workspace/App.yaml', 'acme/workspace/app.2.yaml']);
    expect(await write()).toEqual(files);
  });

  it('that the stack does not read are reported with the line to add', async () => {
    const stack = await (await inhabited()).checkout();
    const { err } = await stack.run(['export', '--out', 'imported'], 0);
    expect(err).toContain(
      'the stack does not read these files: add "imported/**/*.yaml" to "spec.manifests" of trueup.yaml',
    );
  });
});

describe('an export that is incomplete', () => {
  it('leaves out a workspace that has no room for an ownership tag', async () => {
    const tags = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`key-${index}`, 'x']));
    const bench = await openBench({
      organization: { workspaces: [{ name: 'full', 'tag-bindings': tags }, { name: 'free' }] },
    });
    const stack = await bench.checkout(deep);
    expect((await stack.run(['export', '--out', 'manifests'], 1)).err).toMatch(
      /left out: Workspace\/acme\/full: /,
    );
    expect((await stack.plan()).summary).toMatchObject({ adopt: 1 });
  });

  it('fails after an incomplete read, and says what was not read', async () => {
    const bench = await inhabited();
    bench.wire.add({ path: /\/role\/web/, fault: { answer: 403, body: { errors: ['no'] } } });
    const { err, out } = await (await bench.checkout()).run(['export'], 1);
    expect(err).toContain('warning: not everything was read: role "web" was not read');
    expect(out).toContain('name: net');
  });
});

describe('an export of 2,000 workspaces and 500 roles', () => {
  it('reads in bulk, shows its progress, and is adopted completely', async () => {
    const name = (index: number) => `ws-${String(index).padStart(4, '0')}`;
    const bench = await openBench({
      organization: {
        workspaces: Array.from({ length: 2000 }, (_, index) => ({
          name: name(index),
          'tag-bindings': { env: 'prod' },
          'global-remote-state': index % 10 !== 0,
        })),
      },
    });
    for (let index = 0; index < 500; index += 1)
      await bench.byHandMount('POST', `role/role-${index}`, {
        bound_service_account_names: [`app-${index}`],
        bound_service_account_namespaces: ['shop'],
        audience: 'vault',
      });
    const stack = await bench.checkout(deep);
    const { err } = await stack.run(['export', '--out', 'manifests', '--group', 'per-kind'], 0);
    // 20 pages, the consumers of the 200 that do not share with everyone, one list and 500 roles, the config, and the
    // question for the type of the mount, which the service answers; the execution modes that project and organization give
    expect(bench.wire.seen).toHaveLength(20 + 200 + 501 + 1 + 1 + 2);
    expect(err).toContain('acme: reading RemoteStateConsumers of 2000 resources');
    expect(err).toContain('prod: reading ClusterAuthRole, 500 requests');
    expect(err).toContain('exported 2000 Workspace, 500 ClusterAuthRole into 2 files');
    expect((await stack.plan()).summary).toMatchObject({ adopt: 2500, create: 0, update: 0 });
  }, 300_000);
});

describe('export --force', () => {
  it('refuses a pipe in the place of a manifest without waiting for it, and writes nothing', async () => {
    const stack = await (await inhabited()).checkout(deep);
    await mkdir(join(stack.directory, 'out'));
    execFileSync('mkfifo', [join(stack.directory, 'out', 'acme.yaml')]);
    const { code, err } = await trueupProcess(
      ['export', '--out', 'out', '--group', 'one-file', '--force', '--timeout', '20s'],
      { cwd: stack.directory, env: secrets },
    );
    expect(code, err).toBe(1);
    expect(err).toContain('nothing was written: "out/acme.yaml" is not a regular file');
  });
});
