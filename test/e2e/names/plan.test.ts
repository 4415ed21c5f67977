/** Projects, agent pools, SSH keys and connections by their names: what a plan finds, shows and sends. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openScene } from '../../support/cli/destroy-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { byId, byName, openNames } from '../../support/cli/names-scene.ts';

const dialects = ['neutral', 'hcp-terraform'];

const flat = (text: string) => text.replace(/\s+/g, ' ');

const all = ['agent-pools', 'oauth-clients', 'projects', 'ssh-keys'];

describe.each(dialects)('In the dialect %s, a plan', (dialect) => {
  it('finds the ids of names, shows both, and apply leaves nothing to plan', async () => {
    const { bench, stack, projectOf } = await openNames(dialect);
    await stack.declare(workspace('app', byName));
    const { out } = await stack.run(['plan'], 0);
    expect(flat(out)).toContain('agentPoolId linux (apool-linux)');
    expect(flat(out)).toContain('projectId payments (prj-payments)');
    expect(flat(out)).toContain('sshKeyId modules (sshkey-modules)');
    expect(out).toContain('oauthTokenId: GitHub (ot-git)');
    await stack.run(['apply', '--yes'], 0);
    expect(await projectOf('app')).toMatchObject({ data: { id: 'prj-payments' } });
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
    expect(bench.written().filter((one) => one.startsWith('POST'))).toHaveLength(1);
  });

  it('has the same digest by name and by id', async () => {
    const { stack } = await openNames(dialect);
    await stack.declare(workspace('app', byName));
    const named = await stack.plan();
    await stack.declare(workspace('app', byId));
    expect((await stack.plan()).digest).toBe(named.digest);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', byName));
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('shows the names before and after in each format', async () => {
    const { stack } = await openNames(dialect);
    await stack.declare(workspace('app', byName));
    await stack.run(['apply', '--yes'], 0);
    const moved = { ...byName, project: 'network', vcsRepo: { ...byName.vcsRepo, connection: 'GitLab' } };
    await stack.declare(workspace('app', moved));
    const { out } = await stack.run(['plan'], 0);
    expect(flat(out)).toContain('projectId payments (prj-payments) -> network (prj-network)');
    expect(flat(out)).toContain('vcsRepo.oauthTokenId GitHub (ot-git) -> GitLab (ot-lab)');
    const markdown = (await stack.run(['plan', '--format', 'markdown'], 0)).out;
    expect(markdown).toContain('payments (prj-payments)');
    expect(markdown).toContain('network (prj-network)');
    const html = (await stack.run(['plan', '--format', 'html'], 0)).out;
    expect(html).toContain('network (prj-network)');
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toContainEqual({
      path: '/projectId',
      before: 'prj-payments',
      after: 'prj-network',
      shape: 'scalar',
      names: [{ at: '', before: 'payments', after: 'network' }],
    });
  });

  it('reads each list once for all workspaces of the target, and only those of names', async () => {
    const { bench, stack, listed } = await openNames(dialect);
    const many = (spec: object) => [1, 2, 3, 4, 5].map((number) => workspace(`app-${number}`, spec));
    await stack.setUp(...many({ project: 'payments' }));
    await stack.run(['plan', '--exit-code'], 0);
    expect(listed()).toEqual(['projects']);
    await stack.declare(...many(byName));
    await stack.run(['apply', '--yes'], 0);
    bench.wire.reset();
    await stack.run(['plan', '--exit-code'], 0);
    expect(listed()).toEqual(all);
    const named = bench.wire.seen.length;
    await stack.declare(...many(byId));
    bench.wire.reset();
    await stack.run(['plan', '--exit-code'], 0);
    expect(listed()).toEqual([]);
    expect(bench.wire.seen).toHaveLength(named - all.length);
  });

  it('reads a long list in pages of a hundred', async () => {
    const projects = Array.from({ length: 250 }, (_, number) => ({
      name: `team ${number}`,
      id: `prj-${number}`,
    }));
    const { stack, listed } = await openNames(dialect, { projects });
    await stack.declare(workspace('app', { project: 'team 249' }), workspace('two', { project: 'team 7' }));
    const { changes } = await stack.plan();
    expect(changes.map(({ fields }) => fields.find(({ path }) => path === '/projectId')?.after)).toEqual([
      'prj-249',
      'prj-7',
    ]);
    expect(listed()).toEqual(['projects', 'projects', 'projects']);
  });
});

describe('A name that a plan cannot resolve', () => {
  it('is an error of its document, with the nearest names, and other documents are planned', async () => {
    const { stack } = await openNames();
    await stack.declare(workspace('app', { project: 'paymets' }), workspace('two', { project: 'network' }));
    const { err, out } = await stack.run(['plan'], 7);
    expect(flat(`${err}${out}`)).toContain(
      '"Workspace/acme/app" refers to the project "paymets", which target "acme" does not have',
    );
    expect(flat(`${err}${out}`)).toContain('did you mean "payments" or "Payments EU"?');
    expect(out).toContain('manifests/all.yaml:1');
    expect(out).toContain('network (prj-network)');
    await stack.run(['apply', '--yes'], 7);
  });

  it.each([
    ['in another case', { project: 'PAYMENTS' }, 'did you mean "payments"'],
    ['with a trailing space', { project: 'payments ' }, 'did you mean "payments"'],
    ['that is an id', { project: 'prj-eu' }, 'write "projectId: prj-eu", or the name'],
    ['that is not like any other', { agentPool: 'zzzzzzzzzz', executionMode: 'agent' }, 'allowed: "linux"'],
    [
      'of a connection',
      { vcsRepo: { identifier: 'acme/app', connection: 'gihtub' } },
      'did you mean "GitHub"',
    ],
    [
      'of a connection that is not like any other',
      { vcsRepo: { identifier: 'acme/app', connection: 'zzzzzzzzzz' } },
      'allowed: "GitHub", "GitLab", "twin"',
    ],
  ])('%s is not found', async (_, spec, fix) => {
    const { stack } = await openNames();
    await stack.declare(workspace('app', spec));
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(`${out}${err}`)).toContain(fix);
  });

  it('is an error if two objects have it, and both ids are named', async () => {
    const { stack } = await openNames();
    const vcsRepo = { identifier: 'acme/app', connection: 'twin' };
    await stack.declare(workspace('app', { vcsRepo }));
    const { problems } = await stack.plan(7);
    expect(problems).toMatchObject([
      {
        code: 'ambiguous-reference',
        message: expect.stringContaining('2 VCS connections have this name: "ot-twin-1", "ot-twin-2"'),
        fix: expect.stringContaining('write its id as "vcsRepo.oauthTokenId"'),
      },
    ]);
  });

  it.each([401, 403, 404])('makes only its document fail if its list is answered with %s', async (answer) => {
    const { bench, stack } = await openNames();
    await stack.declare(workspace('app', { sshKey: 'modules' }), workspace('two', { project: 'network' }));
    bench.wire.add({ path: /\/ssh-keys/, times: 99, fault: { answer } });
    const { problems, changes } = await stack.plan(1);
    expect(problems).toMatchObject([
      {
        code: 'unknown-reference',
        class: 'incomplete',
        message: expect.stringContaining('and the SSH keys of target "acme" could not be read:'),
        fix: expect.stringContaining('let the token read the SSH keys, if the service has them'),
      },
    ]);
    expect(changes.map(({ name }) => name)).toEqual(['two']);
    expect((await stack.run(['apply', '--yes'], 1)).out).not.toContain('created');
    expect(bench.written()).toEqual([]);
  });

  it('can be any name of an incomplete list, because another object may have the name, too', async () => {
    const { bench, stack } = await openNames();
    await stack.declare(workspace('app', { project: 'payments' }));
    const rewrite = (body: unknown) => ({
      ...(body as object),
      meta: { pagination: { 'total-count': 9, 'total-pages': 1 } },
    });
    bench.wire.add({ path: /\/projects\?/, times: 99, fault: { rewrite } });
    const { problems } = await stack.plan(1);
    expect(problems).toMatchObject([{ code: 'unknown-reference', class: 'incomplete' }]);
  });

  it('is an error if its object was renamed since the apply, and the workspace is not moved', async () => {
    const { stack, rename } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments' }));
    await rename('prj-payments', 'billing');
    const { problems, changes } = await stack.plan(7);
    expect(problems).toMatchObject([
      {
        code: 'unknown-reference',
        found: expect.stringContaining('(prj-payments) is now called "billing"'),
        fix: 'write "project: billing", or give the project its former name again',
      },
    ]);
    expect(changes).toEqual([]);
    expect((await stack.tryRun(['drift'])).out).not.toContain('projectId');
    await stack.declare(workspace('app', { project: 'billing' }));
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('does not make its workspace undeclared: nothing is removed', async () => {
    const { bench, stack } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments' }));
    await stack.declare(workspace('app', { project: 'nowhere' }));
    expect((await stack.plan(7)).changes).toEqual([]);
    await stack.run(['apply', '--yes'], 7);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});

describe('Without a service, a manifest', () => {
  it.each([
    [{ project: 'a', projectId: 'prj-1' }, '"project" and "projectId" are both given'],
    [{ sshKey: 'a', sshKeyId: null }, '"sshKey" and "sshKeyId" are both given'],
    [
      { executionMode: 'agent', agentPool: 'a', agentPoolId: 'apool-1' },
      '"agentPool" and "agentPoolId" are both given',
    ],
    [
      { vcsRepo: { identifier: 'a/b', connection: 'a', oauthTokenId: 'ot-1' } },
      '"vcsRepo.connection" and "vcsRepo.oauthTokenId" are both given',
    ],
    [
      { vcsRepo: { identifier: 'a/b', connection: 'a', vcsAppInstallationId: 'ghain-1' } },
      '"vcsRepo.connection" and "vcsRepo.vcsAppInstallationId" are both given',
    ],
    [{ agentPool: 'linux' }, '"agentPool" is only allowed with "executionMode: agent"'],
  ])('with %j is invalid', async (spec, message) => {
    const { bench, stack } = await openNames();
    await stack.declare(workspace('app', spec));
    const { err } = await stack.run(['validate'], 7);
    expect(flat(err)).toContain(message);
    expect(err).toMatch(/all\.yaml:1:/);
    expect(bench.wire.seen).toEqual([]);
  });

  it('with an agent pool by name needs no id', async () => {
    const { stack } = await openNames();
    await stack.declare(workspace('app', { executionMode: 'agent', agentPool: 'linux' }));
    await stack.run(['validate'], 0);
  });

  it('with a name replaces the id of the defaults, and an id replaces the name', async () => {
    const { bench } = await openNames();
    const defaults = { Workspace: { projectId: 'prj-network', sshKey: 'old' } };
    const stack = await bench.checkout({ spec: { defaults } });
    await stack.declare(
      workspace('app', { project: 'payments', sshKeyId: 'sshkey-modules' }),
      workspace('two', {}),
    );
    await stack.run(['validate'], 0);
    const { changes } = await stack.plan();
    const given = changes.map(({ fields }) =>
      ['/projectId', '/sshKeyId'].map((path) => fields.find((one) => one.path === path)?.after),
    );
    expect(given).toEqual([
      ['prj-payments', 'sshkey-modules'],
      ['prj-network', 'sshkey-old'],
    ]);
  });

  it('with an unknown name from the defaults leads to an error at the defaults', async () => {
    const { bench } = await openNames();
    const stack = await bench.checkout({ spec: { defaults: { Workspace: { project: 'nowhere' } } } });
    await stack.declare(workspace('app', {}));
    const { problems } = await stack.plan(7);
    expect(problems).toMatchObject([{ place: { file: 'trueup.yaml' } }]);
  });
});

describe('A name', () => {
  it('of null removes the reference, as a null id does', async () => {
    const { stack } = await openNames();
    await stack.setUp(workspace('app', { sshKey: 'modules' }));
    await stack.declare(workspace('app', { sshKey: null }));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toMatchObject([{ path: '/sshKeyId', before: 'sshkey-modules', after: null }]);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('with quotes, line breaks and YAML characters is found, and is escaped in the output', async () => {
    const odd = 'a "b" (prj-9)\n\u202e# {x}: ünïcode';
    const { stack } = await openNames(undefined, { 'oauth-tokens': [{ id: 'ot-git', name: odd }] });
    await stack.declare(workspace('app', { vcsRepo: { identifier: 'acme/app', connection: odd } }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app', { vcsRepo: { identifier: 'acme/app', connection: 'other' } }));
    const { out } = await stack.run(['plan'], 7);
    expect(out).not.toContain('\u202e');
  });

  it('of a project is used for inherited settings as well, with one read of the list', async () => {
    const { stack, bench, guardsOf } = await openScene({ begin: { project: 'plain' } });
    await stack.declare(workspace('app', { project: 'sandbox' }));
    bench.wire.reset();
    const { changes } = await stack.plan();
    expect(changes[0]?.fields.map(({ path }) => path)).toEqual([
      '/projectId',
      '/inherited/executionMode',
      '/inherited/autoDestroyActivityDuration',
    ]);
    expect(bench.wire.seen.filter(({ path }) => path.includes('/projects'))).toHaveLength(1);
    expect((await guardsOf()).map(([id]) => id)).toEqual(['scheduled-destroy']);
  });

  it('that no manifest uses is not looked up, and its list may be missing', async () => {
    const { bench, stack } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments', sshKeyId: 'sshkey-modules' }));
    bench.wire.add({ path: /\/(ssh-keys|oauth-clients|agent-pools)/, times: 99, fault: { answer: 404 } });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is kept in the ledger with its id, and a ledger without it is read', async () => {
    const { stack } = await openNames();
    await stack.setUp(workspace('app', byId));
    expect((await stack.ledger()).records['Workspace/acme/app']).not.toHaveProperty('names');
    await stack.declare(workspace('app', byName));
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records['Workspace/acme/app']?.names).toEqual({
      agentPoolId: { name: 'linux', id: 'apool-linux' },
      projectId: { name: 'payments', id: 'prj-payments' },
      sshKeyId: { name: 'modules', id: 'sshkey-modules' },
      'vcsRepo.oauthTokenId': { name: 'GitHub', id: 'ot-git' },
    });
    expect(await readFile(join(stack.directory, '.trueup', 'payments.ledger.json'), 'utf8')).toMatch(
      /"version": 3,/,
    );
    await stack.declare(workspace('app', byId));
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records['Workspace/acme/app']).not.toHaveProperty('names');
  });
});

describe('Names in templates and defaults', () => {
  const each = (project: string) => ({
    ...workspace('${each.key}', { project: '${each.value.project}' }),
    metadata: { name: '${each.key}', each: { app: { project: 'payments' }, two: { project } } },
  });

  it('are found for each item of a list, and an error points at the template and at its item', async () => {
    const { stack, listed } = await openNames();
    await stack.declare(each('network'));
    const { changes } = await stack.plan();
    expect(changes.map(({ fields }) => fields.find(({ path }) => path === '/projectId')?.after)).toEqual([
      'prj-payments',
      'prj-network',
    ]);
    expect(listed()).toEqual(['projects']);
    await stack.declare(each('netwrk'));
    const { problems } = await stack.plan(7);
    expect(problems).toMatchObject([
      { code: 'unknown-reference', place: { line: 1 }, related: [{ message: 'with this item of the list' }] },
    ]);
  });

  it('that are misspelt once are one problem, for any number of resources', async () => {
    const { bench, stack } = await openNames();
    const matrix = (one: object, other: object) => ({
      service: { pay: one, net: other },
      env: ['dev', 'prod'],
      region: ['eu', 'us'],
    });
    const of = (project: string, lists: object) => ({
      ...workspace('${each.key}', { project }),
      metadata: { name: '${each.key}', each: { matrix: lists } },
    });
    await stack.declare(
      of('${each.service.in}', matrix({ in: 'netwrk' }, { in: 'payments' })),
      of('netwrk', { service: ['a', 'b'], env: ['dev', 'prod'] }),
    );
    const messages = (await stack.plan(7)).problems.map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringMatching(
        /^"Workspace\/acme\/pay-dev-eu" .*"netwrk".* \(and the same for ("Workspace\/acme\/[a-z-]+"(, )?){3}\)$/,
      ),
      expect.stringMatching(
        /^"Workspace\/acme\/a-dev" .* \(and the same for ("Workspace\/acme\/[a-z-]+"(, )?){3}\)$/,
      ),
    ]);
    // Mistakes in two items are two problems.
    await stack.declare(of('${each.service.in}', matrix({ in: 'netwrk' }, { in: 'paymnts' })));
    expect((await stack.plan(7)).problems).toHaveLength(2);
    // Mistakes in two documents are two problems.
    const two = await bench.checkout();
    await two.declare(workspace('app', { project: 'netwrk' }), workspace('other', { project: 'netwrk' }));
    expect((await two.plan(7)).problems).toHaveLength(2);
  });

  it('of a later entry of the defaults replace ids of an earlier one, and ids replace names', async () => {
    const { bench } = await openNames();
    const defaults = [
      { Workspace: { projectId: 'prj-payments', sshKey: 'old' } },
      { match: { name: ['app'] }, Workspace: { project: 'network', sshKeyId: 'sshkey-modules' } },
    ];
    const stack = await bench.checkout({ spec: { defaults } });
    await stack.declare(workspace('app'), workspace('two'));
    const { changes } = await stack.plan();
    const given = changes.map(({ fields }) =>
      ['/projectId', '/sshKeyId'].map((path) => fields.find((one) => one.path === path)?.after),
    );
    expect(given).toEqual([
      ['prj-network', 'sshkey-modules'],
      ['prj-payments', 'sshkey-old'],
    ]);
  });
});
