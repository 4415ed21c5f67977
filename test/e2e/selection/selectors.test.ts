/** What each selector of `--select` matches, how several combine, and what is said of one that matches nothing. */
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
async function declared(): Promise<Checkout> {
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

describe('a selector', () => {
  it('of a kind of children does not select those of a workspace that a tag or a pattern excludes', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'TagBindings/acme/*', '!tag:env=prod')).toEqual(['TagBindings/net-dev']);
    expect(await selectedBy(stack, 'TagBindings/acme/*', '!*/acme/net-prod')).toEqual([
      'TagBindings/app',
      'TagBindings/net-dev',
    ]);
  });

  it('is an address, and a workspace comes with its tags and consumers', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'Workspace/acme/net-prod')).toEqual(netProd);
    expect(await selectedBy(stack, 'TagBindings/acme/net-prod')).toEqual(['TagBindings/net-prod']);
    expect(await selectedBy(stack, 'ClusterAuthRole/prod/web')).toEqual(['ClusterAuthRole/web']);
  });

  it('is a pattern in which only "*" is special', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'Workspace/acme/net-*')).toEqual([...netProd, ...netDev].sort());
    expect(await selectedBy(stack, 'ClusterAuth*')).toEqual(ofMount);
    expect(await selectedBy(stack, '*/web.*')).toEqual(['ClusterAuthRole/web.jobs']);
    await stack.run(['plan', ...selecting('ClusterAuthRole/prod/web?jobs')], 7);
  });

  it('is a tag with a value, or a key or flat tag alone, in whichever document it is', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'tag:env=prod')).toEqual([...netProd, ...ofApp].sort());
    expect(await selectedBy(stack, 'tag:team')).toEqual(netProd);
    expect(await selectedBy(stack, 'tag:flat')).toEqual(netDev);
    await stack.run(['plan', ...selecting('tag:en')], 7);
    await stack.run(['plan', ...selecting('tag:env=pro')], 7);
  });

  it('is the project as the manifest has it, by its id or its name', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'project:prj-payments')).toEqual(ofApp);
    const bench = await openBench();
    await bench.byHand.post('/organizations/acme/projects', {
      data: { type: 'projects', attributes: { name: 'payments' } },
    });
    const named = await bench.checkout();
    await named.declare(workspace('one', { project: 'payments' }), workspace('two'));
    expect(await selectedBy(named, 'project:payments')).toEqual(['Workspace/one']);
  });

  it('that excludes a project by its name is refused where what is left gives its project by id', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(
      workspace('one', { project: 'payments' }),
      workspace('two', { projectId: 'prj-payments' }),
      workspace('three'),
    );
    const { err: said } = await stack.run(['plan', ...selecting('!project:payments')], 7);
    expect(said).toContain(
      'the selector "!project:payments" excludes a project by its name, and "Workspace/acme/two" gives its project by its id',
    );
    await stack.run(['plan', ...selecting('!project:prj-payments')], 7);
    const left = selecting('!project:payments', '!Workspace/acme/two');
    await stack.run(['plan', ...left], 0);
  });

  it('is a file, a folder or a pattern of files, relative to the stack file', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, 'file:manifests/teams/a/**')).toEqual([...netProd, ...netDev].sort());
    expect(await selectedBy(stack, 'file:manifests/teams/b')).toEqual(ofApp);
    expect(await selectedBy(stack, 'file:./manifests/mount.yaml')).toEqual(ofMount);
  });

  it('is what differs from the commit where the branches part, after defaults and short forms', async () => {
    const stack = await declared();
    git(stack.directory, 'checkout', '--quiet', '-b', 'work');
    const [prod, dev] = files['manifests/teams/a/net.yaml'];
    const changed = [prod, workspace('net-dev', { tags: { env: 'dev' }, tagNames: ['other'] })];
    await stack.write('manifests/teams/a/net.yaml', `# a comment\n${documentsText(changed as object[])}`);
    await stack.write('manifests/new.yaml', documentsText([workspace('fresh')]));
    git(stack.directory, 'add', '.');
    git(stack.directory, 'commit', '--quiet', '-m', 'y');
    const since = ['TagBindings/net-dev', 'Workspace/fresh', 'Workspace/net-dev'];
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(since);
    // The other branch goes on: that is no change of this one.
    git(stack.directory, 'checkout', '--quiet', 'main');
    await stack.write('manifests/mount.yaml', documentsText([clusterAuthConfig()]));
    git(stack.directory, 'commit', '--quiet', '-am', 'z');
    git(stack.directory, 'checkout', '--quiet', 'work');
    expect(await selectedBy(stack, 'changed-since:main')).toEqual(since);
    // Without a commit, too.
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

  it('that names a ref which the repository lacks is an error, as it is outside of a repository', async () => {
    const stack = await declared();
    for (const ref of ['nowhere', '--help', 'HEAD:manifests']) {
      const { err, out } = await stack.run(['plan', ...selecting(`changed-since:${ref}`)], 7);
      expect(err + out).toContain('names no commit, branch or tag');
    }
    const bare = await (await openBench()).checkout();
    await bare.declare(workspace('app'));
    await bare.run(['plan', ...selecting('changed-since:main')], 7);
  });
});

describe('several selectors', () => {
  it('select what any of them matches, without what is excluded, in any order', async () => {
    const stack = await declared();
    const both = ['tag:team=a', 'ClusterAuth*', '!ClusterAuthRole/prod/web'];
    expect(await selectedBy(stack, ...both)).toEqual([
      'ClusterAuthConfig/config',
      'ClusterAuthRole/web.jobs',
      ...netProd,
    ]);
    expect((await partOf(stack, ...both)).digest).toBe((await partOf(stack, ...both.toReversed())).digest);
  });

  it('that only exclude select all but those', async () => {
    const stack = await declared();
    expect(await selectedBy(stack, '!Workspace/acme/*')).toEqual(ofMount);
    expect(await selectedBy(stack, '!file:manifests/mount.yaml', '!tag:env=prod')).toEqual(netDev);
  });

  it('exclude tags and consumers with their workspace, unless these are named', async () => {
    const stack = await declared();
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
    const stack = await declared();
    const { err, out } = await stack.run(['plan', ...selecting('Workspace/acme/app', '!tag:env=prod')], 7);
    expect(err + out).toContain('the exclusions "!tag:env=prod" leave nothing');
  });
});

describe('a selector that matches nothing', () => {
  it('is an error that names it and what is nearest, with exit code 7, also for an exclusion', async () => {
    const stack = await declared();
    const said = async (...selectors: string[]) => {
      const { err, out } = await stack.run(['plan', ...selecting(...selectors)], 7);
      return err + out;
    };
    const wrong = await said('Workspace/acme/net-prd', 'Workspace/acme/app');
    expect(wrong).toContain('the selector "Workspace/acme/net-prd" matches nothing');
    expect(wrong).toContain('did you mean "Workspace/acme/net-prod"');
    expect(await said('Workspace/acme/nte-*')).toContain('"Workspace/acme/net-dev"');
    expect(await said('net-prod')).toContain('did you mean "Workspace/acme/net-prod"');
    expect(await said('Workspace/acme/app', '!Workspace/acme/nothing-like-this')).toContain(
      'the selector "!Workspace/acme/nothing-like-this" matches nothing',
    );
    expect(await said('tag:env=prd')).toContain('did you mean "tag:env=prod"');
    expect(await said('project:prj-payment')).toContain('did you mean "project:prj-payments"');
    expect(await said('file:manifests/teams/c/**')).toContain('relative to the stack file');
    expect(await said('changed-since:HEAD')).toContain('every declared resource is as in commit');
  });

  it('and one that cannot be read is one, too', async () => {
    const stack = await declared();
    const said = async (selector: string) => {
      const { err, out } = await stack.run(['plan', ...selecting(selector)], 7);
      return err + out;
    };
    expect(await said('tags:env=prod')).toContain('did you mean "tag:env=prod"?');
    expect(await said('env=prod')).toContain('did you mean "tag:env=prod"?');
    expect(await said('!env=prod')).toContain('did you mean "!tag:env=prod"?');
    expect(await said('tag:')).toContain('is incomplete');
    expect(await said('!')).toContain('is incomplete');
    expect(await said('')).toContain('is incomplete');
  });

  it('is reported as JSON with a code', async () => {
    const stack = await declared();
    const { out } = await stack.run(['plan', '--format', 'json', ...selecting('Workspace/acme/nope')], 7);
    expect(JSON.parse(out).diagnostics).toMatchObject([{ code: 'selector-matches-nothing' }]);
  });

  it('is repeated in commands as a shell reads it', async () => {
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
