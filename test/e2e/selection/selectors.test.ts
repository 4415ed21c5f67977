/** What each selector of `--select` matches, how several combine, and the error if one matches nothing. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, consumers, role, tagBindings, workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { partOf, selecting } from '../../support/selection/parts.ts';

const files = {
  'manifests/teams/a/net.yaml': [
    workspace('net-prod', { tags: { env: 'prod', team: 'a' }, remoteStateConsumers: ['app'] }),
    workspace('net-dev', { tags: { env: 'dev' }, tagNames: ['flat'] }),
  ],
  'manifests/teams/b/app.yaml': [
    workspace('app', { projectId: 'prj-payments' }),
    tagBindings('app', { tags: { env: 'prod' } }),
  ],
  'manifests/mount.yaml': [clusterAuthConfig(), role('web'), role('web.jobs')],
};

/** A stack in a repository, with files of two teams; nothing is applied. */
async function openDeclared(): Promise<Checkout> {
  const projects = [{ name: 'payments', id: 'prj-payments' }];
  const bench = await openBench({ organization: { projects } });
  const stack = await bench.checkout({ spec: { manifests: ['manifests/**/*.yaml'] } });
  for (const [file, documents] of Object.entries(files)) await stack.write(file, documentsText(documents));
  git(stack.directory, 'init', '--quiet', '-b', 'main');
  git(stack.directory, 'add', '.');
  git(stack.directory, 'commit', '--quiet', '-m', 'x');
  return stack;
}

const selectedBy = async (stack: Checkout, ...selectors: string[]) =>
  (await partOf(stack, ...selectors)).selection?.map((address) =>
    address.replace('/acme/', '/').replace('/prod/', '/'),
  );

const netProd = ['RemoteStateConsumers/net-prod', 'TagBindings/net-prod', 'Workspace/net-prod'];
const netDev = ['TagBindings/net-dev', 'Workspace/net-dev'];
const ofApp = ['TagBindings/app', 'Workspace/app'];
const ofMount = ['ClusterAuthConfig/config', 'ClusterAuthRole/web', 'ClusterAuthRole/web.jobs'];

describe('A selector', () => {
  it('for children does not select those of a workspace that a tag or a pattern excludes', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'TagBindings/acme/*', '!tag:env=prod')).toEqual(['TagBindings/net-dev']);
    expect(await selectedBy(stack, 'TagBindings/acme/*', '!*/acme/net-prod')).toEqual([
      'TagBindings/app',
      'TagBindings/net-dev',
    ]);
  });

  it('can be an address, and a workspace comes with its tags and consumers', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'Workspace/acme/net-prod')).toEqual(netProd);
    expect(await selectedBy(stack, 'TagBindings/acme/net-prod')).toEqual(['TagBindings/net-prod']);
    expect(await selectedBy(stack, 'ClusterAuthRole/prod/web')).toEqual(['ClusterAuthRole/web']);
  });

  it('can be a pattern in which only "*" is special', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'Workspace/acme/net-*')).toEqual([...netProd, ...netDev].sort());
    expect(await selectedBy(stack, 'ClusterAuth*')).toEqual(ofMount);
    expect(await selectedBy(stack, '*/web.*')).toEqual(['ClusterAuthRole/web.jobs']);
    await stack.run(['plan', ...selecting('ClusterAuthRole/prod/web?jobs')], 7);
  });

  it('can be a tag with a value, or only a key or flat tag, in any document', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'tag:env=prod')).toEqual([...netProd, ...ofApp].sort());
    expect(await selectedBy(stack, 'tag:team')).toEqual(netProd);
    expect(await selectedBy(stack, 'tag:flat')).toEqual(netDev);
    await stack.run(['plan', ...selecting('tag:en')], 7);
    await stack.run(['plan', ...selecting('tag:env=pro')], 7);
  });

  it('can be the project as it is in the manifest, by its id or its name', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'project:prj-payments')).toEqual(ofApp);
    const bench = await openBench();
    await bench.byHand.post('/organizations/acme/projects', {
      data: { type: 'projects', attributes: { name: 'payments' } },
    });
    const named = await bench.checkout();
    await named.declare(workspace('one', { project: 'payments' }), workspace('two'));
    expect(await selectedBy(named, 'project:payments')).toEqual(['Workspace/one']);
  });

  it('that excludes a project by name is refused if other workspaces give their project by id', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(
      workspace('one', { project: 'payments' }),
      workspace('two', { projectId: 'prj-payments' }),
      workspace('three'),
    );
    const { err } = await stack.run(['plan', ...selecting('!project:payments')], 7);
    expect(err).toContain(
      'the selector "!project:payments" excludes a project by its name, and "Workspace/acme/two" gives its project by its id',
    );
    await stack.run(['plan', ...selecting('!project:prj-payments')], 7);
    const left = selecting('!project:payments', '!Workspace/acme/two');
    await stack.run(['plan', ...left], 0);
  });

  it('can be a file, a folder or a pattern of files, relative to the stack file', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, 'file:manifests/teams/a/**')).toEqual([...netProd, ...netDev].sort());
    expect(await selectedBy(stack, 'file:manifests/teams/b')).toEqual(ofApp);
    expect(await selectedBy(stack, 'file:./manifests/mount.yaml')).toEqual(ofMount);
  });

  it('can be all that differs from the merge base of a branch, after defaults and short forms', async () => {
    const stack = await openDeclared();
    git(stack.directory, 'checkout', '--quiet', '-b', 'work');
    const [prod, dev] = files['manifests/teams/a/net.yaml'];
    const changed = [prod, workspace('net-dev', { tags: { env: 'dev' }, tagNames: ['other'] })];
    await stack.write('manifests/teams/a/net.yaml', `# a comment\n${documentsText(changed as object[])}`);
    await stack.write('manifests/new.yaml', documentsText([workspace('fresh')]));
    git(stack.directory, 'add', '.');
    git(stack.directory, 'commit', '--quiet', '-m', 'y');
    const since = ['TagBindings/net-dev', 'Workspace/fresh', 'Workspace/net-dev'];
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(since);
    // Later commits of the other branch are not changes of this one.
    git(stack.directory, 'checkout', '--quiet', 'main');
    await stack.write('manifests/mount.yaml', documentsText([clusterAuthConfig()]));
    git(stack.directory, 'commit', '--quiet', '-am', 'z');
    git(stack.directory, 'checkout', '--quiet', 'work');
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(since);
    // Uncommitted changes count as well.
    await stack.write('manifests/teams/a/net.yaml', documentsText([prod, dev] as object[]));
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(['Workspace/fresh']);
    // A default of the stack changes each workspace.
    const text = JSON.parse(await readFile(join(stack.directory, 'trueup.yaml'), 'utf8'));
    const defaults = { Workspace: { queueAllRuns: true } };
    await stack.write('trueup.yaml', JSON.stringify({ ...text, spec: { ...text.spec, defaults } }));
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(
      ['Workspace/fresh', ...netProd, ...netDev, ...ofApp].sort(),
    );
  });

  it('with an unknown ref is an error, as it is outside of a repository', async () => {
    const stack = await openDeclared();
    for (const ref of ['nowhere', '--help', 'HEAD:manifests']) {
      const { err, out } = await stack.run(['plan', ...selecting(`changed-since:${ref}`)], 7);
      expect(err + out).toContain('names no commit, branch or tag');
    }
    const bare = await (await openBench()).checkout();
    await bare.declare(workspace('app'));
    await bare.run(['plan', ...selecting('changed-since:main')], 7);
  });
});

describe('Several selectors', () => {
  it('select what any of them matches without the excluded resources, in any order', async () => {
    const stack = await openDeclared();
    const both = ['tag:team=a', 'ClusterAuth*', '!ClusterAuthRole/prod/web'];
    expect(await selectedBy(stack, ...both)).toEqual([
      'ClusterAuthConfig/config',
      'ClusterAuthRole/web.jobs',
      ...netProd,
    ]);
    expect((await partOf(stack, ...both)).digest).toBe((await partOf(stack, ...both.toReversed())).digest);
  });

  it('that only exclude select everything else', async () => {
    const stack = await openDeclared();
    expect(await selectedBy(stack, '!Workspace/acme/*')).toEqual(ofMount);
    expect(await selectedBy(stack, '!file:manifests/mount.yaml', '!tag:env=prod')).toEqual(netDev);
  });

  it('exclude tags and consumers with their workspace, unless these are named', async () => {
    const stack = await openDeclared();
    const inFile = 'file:manifests/teams/a/net.yaml';
    expect(await selectedBy(stack, inFile, '!Workspace/acme/net-prod')).toEqual(netDev);
    expect(await selectedBy(stack, '*', '!Workspace/acme/*')).toEqual(ofMount);
    expect(await selectedBy(stack, 'Workspace/acme/net-*', '!TagBindings/*')).toEqual([
      'RemoteStateConsumers/net-prod',
      'Workspace/net-dev',
      'Workspace/net-prod',
    ]);
  });

  it('that leave nothing are an error', async () => {
    const stack = await openDeclared();
    const { err, out } = await stack.run(['plan', ...selecting('Workspace/acme/app', '!tag:env=prod')], 7);
    expect(err + out).toContain('the exclusions "!tag:env=prod" leave nothing');
  });
});

describe('A selector that matches nothing', () => {
  it('is an error with exit code 7 and the nearest match, also for an exclusion', async () => {
    const stack = await openDeclared();
    const errorFor = async (...selectors: string[]) => {
      const { err, out } = await stack.run(['plan', ...selecting(...selectors)], 7);
      return err + out;
    };
    const wrong = await errorFor('Workspace/acme/net-prd', 'Workspace/acme/app');
    expect(wrong).toContain('the selector "Workspace/acme/net-prd" matches nothing');
    expect(wrong).toContain('did you mean "Workspace/acme/net-prod"');
    expect(await errorFor('Workspace/acme/nte-*')).toContain('"Workspace/acme/net-dev"');
    expect(await errorFor('net-prod')).toContain('did you mean "Workspace/acme/net-prod"');
    expect(await errorFor('Workspace/acme/app', '!Workspace/acme/nothing-like-this')).toContain(
      'the selector "!Workspace/acme/nothing-like-this" matches nothing',
    );
    expect(await errorFor('tag:env=prd')).toContain('did you mean "tag:env=prod"');
    expect(await errorFor('project:prj-payment')).toContain('did you mean "project:prj-payments"');
    expect(await errorFor('file:manifests/teams/c/**')).toContain('relative to the stack file');
    expect(await errorFor('changed-since:HEAD')).toContain('every declared resource is as in commit');
  });

  it('is an error, and so is one that cannot be parsed', async () => {
    const stack = await openDeclared();
    const errorFor = async (selector: string) => {
      const { err, out } = await stack.run(['plan', ...selecting(selector)], 7);
      return err + out;
    };
    expect(await errorFor('tags:env=prod')).toContain('did you mean "tag:env=prod"?');
    expect(await errorFor('env=prod')).toContain('did you mean "tag:env=prod"?');
    expect(await errorFor('!env=prod')).toContain('did you mean "!tag:env=prod"?');
    expect(await errorFor('tag:')).toContain('is incomplete');
    expect(await errorFor('!')).toContain('is incomplete');
    expect(await errorFor('')).toContain('is incomplete');
  });

  it('is reported as JSON with a code', async () => {
    const stack = await openDeclared();
    const { out } = await stack.run(['plan', '--format', 'json', ...selecting('Workspace/acme/nope')], 7);
    expect(JSON.parse(out).diagnostics).toMatchObject([{ code: 'selector-matches-nothing' }]);
  });

  it('is in no proposed command, and a matching one is quoted for the shell there', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { raise: ['widening'] } } });
    await stack.declare(workspace('net'), workspace('app'), consumers('net', { consumers: ['app'] }));
    const { out } = await stack.run(['plan', ...selecting('*net', "!tag:o'dd", 'tag:x')], 7);
    expect(out).not.toContain('trueup apply');
    const planned = await stack.run(
      ['plan', ...selecting('Workspace/acme/*', '!Workspace/acme/nothing*')],
      7,
    );
    expect(planned.code).toBe(7);
    const { out: blocked } = await stack.run(['plan', ...selecting('Workspace/*/net')], 0);
    expect(blocked).toContain("trueup apply --select 'Workspace/*/net' --approve ");
  });
});
