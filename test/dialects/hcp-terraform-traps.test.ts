// Pitfalls of the real service (wire/workspaces 1.5 and 2.1), each with plan and apply.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { type OpenOrganization, openOrganization } from '../support/dialects/open-organization.ts';
import { workspace } from '../support/dialects/stack-folder.ts';
import { users } from '../support/dialects/workspaces-service.ts';

/** Applies the first spec, then the second. @returns `sent`: what the second apply sent to the workspace itself */
async function change(before: object, after: object, habits: Parameters<typeof openOrganization>[1] = {}) {
  const open = await openOrganization('hcp-terraform', habits);
  await open.stack.make(workspace('app', before));
  open.service.clear();
  await open.stack.make(workspace('app', after));
  return { ...open, app: open.service.workspace('app'), sent: attributesSent(open) };
}

/** The attributes of every write to the workspace itself. */
function attributesSent({ service }: OpenOrganization): unknown[] {
  const bodies = service.bodies(service.workspace('app').id) as { data: JsonObject }[];
  return bodies.map(({ data }) => data['attributes']);
}

/** Applies the first spec, and expects that the second one has no changes. */
async function expectNoChanges(before: object, same: object): Promise<void> {
  const { stack } = await openOrganization('hcp-terraform');
  await stack.make(workspace('app', before));
  await stack.declare(workspace('app', same));
  await stack.run('plan --exit-code');
}

describe('null, empty and absent through hcp-terraform', () => {
  it.each(['workingDirectory', 'description'])(
    '%s: null, "" and an absent field mean the same',
    async (field) => {
      await expectNoChanges({ autoApply: true }, { autoApply: true, [field]: '' });
      await expectNoChanges({ autoApply: true }, { autoApply: true, [field]: null });
      await expectNoChanges({ autoApply: true, [field]: '' }, { autoApply: true });
    },
  );

  it.each([null, ''])('a working directory and a description are cleared with %j', async (empty) => {
    const { sent, app } = await change(
      { workingDirectory: 'envs/prod/', description: 'x' },
      { workingDirectory: empty, description: empty },
    );
    expect(sent).toEqual([{ 'assessments-enabled': false, description: '', 'working-directory': '' }]);
    expect(app.settings).toMatchObject({ description: '', 'working-directory': '' });
  });

  it('a field that is no longer declared goes back to its default once', async () => {
    const { sent } = await change({ workingDirectory: 'a', autoApply: true, speculativeEnabled: false }, {});
    expect(sent).toEqual([
      {
        'assessments-enabled': false,
        'auto-apply': false,
        'speculative-enabled': true,
        'working-directory': '',
      },
    ]);
  });

  it('a trailing slash is part of the working directory', async () => {
    const { sent } = await change({ workingDirectory: 'bar/' }, { workingDirectory: 'bar' });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'working-directory': 'bar' }]);
  });

  it('a workspace without lock, key and policy equals a manifest with null', async () => {
    await expectNoChanges(
      { autoApply: true },
      { autoApply: true, lock: null, sshKeyId: null, dataRetentionPolicy: null },
    );
  });

  it('a workspace is locked and unlocked', async () => {
    const { stack, service } = await openOrganization('hcp-terraform');
    await stack.make(workspace('app', { lock: { reason: 'frozen' } }));
    const app = service.workspace('app');
    expect(app.lock).toEqual({ reason: 'frozen', by: users.writer });
    await stack.make(workspace('app', {}));
    expect(app.lock).toBeUndefined();
    // After the first lock, the reason is empty text instead of null (wire/workspaces 1.5.14).
    await stack.run('plan --exit-code');
  });

  it.each([
    ['another user', { reason: 'frozen', by: 'user-ann' }],
    ['the same user for another reason', { reason: 'by hand', by: users.writer }],
  ])('a lock of %s that replaced ours is left alone', async (_, theirs) => {
    const { stack, service } = await openOrganization('hcp-terraform');
    await stack.make(workspace('app', { lock: { reason: 'frozen' } }));
    const app = service.workspace('app');
    app.lock = theirs;
    await stack.run('plan --exit-code');
    service.clear();
    await stack.declare(workspace('app', {}));
    const { out } = await stack.run('apply --yes');
    expect(out).toContain('not by this stack: the lock is left alone');
    expect(service.writes()).toEqual([]);
    expect(app.lock).toEqual(theirs);
  });

  it('an SSH key is removed with a null id', async () => {
    const { service, app } = await change({ sshKeyId: 'sshkey-1' }, { sshKeyId: null });
    expect(service.bodies('/relationships/ssh-key')).toEqual([
      { data: { type: 'workspaces', attributes: { id: null } } },
    ]);
    expect(app.sshKey).toBeNull();
  });
});

describe('triggers through hcp-terraform', () => {
  const prefixes = { triggerPrefixes: ['a', 'b'] };
  const patterns = { triggerPatterns: ['/a/**/*'] };

  it('a change from prefixes to patterns sends only the patterns', async () => {
    const { sent } = await change(prefixes, patterns);
    expect(sent).toEqual([{ 'assessments-enabled': false, 'trigger-patterns': ['/a/**/*'] }]);
  });

  it('a change between prefixes and patterns sends one list, even if the other is declared as empty', async () => {
    const there = await change({ ...prefixes, triggerPatterns: [] }, { triggerPrefixes: [], ...patterns });
    expect(there.sent).toEqual([{ 'assessments-enabled': false, 'trigger-patterns': ['/a/**/*'] }]);
    there.service.clear();
    await there.stack.make(workspace('app', { ...prefixes, triggerPatterns: [] }));
    expect(attributesSent(there)).toEqual([{ 'assessments-enabled': false, 'trigger-prefixes': ['a', 'b'] }]);
  });

  it.each([{ empty: [] }, { empty: null }])(
    'patterns that are declared as $empty are emptied with only their own key',
    async ({ empty }) => {
      const { sent } = await change(patterns, { triggerPatterns: empty });
      expect(sent).toEqual([{ 'assessments-enabled': false, 'trigger-patterns': [] }]);
    },
  );

  it('the order of prefixes counts', async () => {
    const { sent } = await change(prefixes, { triggerPrefixes: ['b', 'a'] });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'trigger-prefixes': ['b', 'a'] }]);
  });

  it('a change from prefixes to a regular expression for tags does not send patterns', async () => {
    const repository = { identifier: 'acme/app', oauthTokenId: 'ot-1' };
    const { sent, app } = await change(
      { vcsRepo: repository, ...prefixes },
      { vcsRepo: { ...repository, tagsRegex: '^v' }, fileTriggersEnabled: false, triggerPrefixes: [] },
    );
    expect(sent).toEqual([
      {
        'assessments-enabled': false,
        'file-triggers-enabled': false,
        'trigger-prefixes': [],
        'vcs-repo': { 'tags-regex': '^v' },
      },
    ]);
    expect(app.prefixes).toEqual([]);
  });
});

describe('the execution mode through hcp-terraform', () => {
  it('an own mode differs from the same mode that is inherited', async () => {
    const { sent, app } = await change({ description: 'x' }, { description: 'x', executionMode: 'remote' });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'execution-mode': 'remote' }]);
    expect(app.mode).toBe('remote');
  });

  it('null inherits: the overwrites are false, and no mode is sent', async () => {
    const { sent, app } = await change({ executionMode: 'local' }, { executionMode: null });
    expect(sent).toEqual([
      {
        'assessments-enabled': false,
        'setting-overwrites': { 'agent-pool': false, 'execution-mode': false },
      },
    ]);
    expect(app.mode).toBeUndefined();
  });

  it.each(['remote', 'local'])('an agent pool is never sent together with the mode %s', async (mode) => {
    const agent = { executionMode: 'agent', agentPoolId: 'apool-1' };
    const away = await change(agent, { executionMode: mode });
    expect(away.sent).toEqual([{ 'assessments-enabled': false, 'execution-mode': mode }]);
    const nulled = await change(agent, { executionMode: mode, agentPoolId: null });
    expect(nulled.sent).toEqual([{ 'assessments-enabled': false, 'execution-mode': mode }]);
    const back = await change({ executionMode: mode }, agent);
    expect(back.sent).toEqual([
      { 'assessments-enabled': false, 'agent-pool-id': 'apool-1', 'execution-mode': 'agent' },
    ]);
  });

  it('a pool can change without the mode', async () => {
    const { sent } = await change(
      { executionMode: 'agent', agentPoolId: 'apool-1' },
      { executionMode: 'agent', agentPoolId: 'apool-2' },
    );
    expect(sent).toEqual([{ 'assessments-enabled': false, 'agent-pool-id': 'apool-2' }]);
  });

  it('a pool can be inherited without the mode', async () => {
    const { app } = await change(
      { executionMode: 'agent', agentPoolId: 'apool-1' },
      { executionMode: 'agent', settingOverwrites: { agentPool: false } },
    );
    expect([app.mode, app.ownsPool]).toEqual(['agent', false]);
  });
});

describe('a repository through hcp-terraform', () => {
  const oauth = { identifier: 'acme/app', oauthTokenId: 'ot-1', branch: 'main' };

  it('moves from an OAuth token to an app installation without naming the token', async () => {
    const { sent, app } = await change(
      { vcsRepo: oauth },
      { vcsRepo: { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1', branch: 'main' } },
    );
    expect(sent).toEqual([
      { 'assessments-enabled': false, 'vcs-repo': { 'github-app-installation-id': 'ghain-1' } },
    ]);
    expect(app.repository).not.toHaveProperty('oauth-token-id');
  });

  it('goes back to its default branch with an empty text', async () => {
    const { sent } = await change({ vcsRepo: oauth }, { vcsRepo: { ...oauth, branch: null } });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'vcs-repo': { branch: '' } }]);
  });

  it('loses its expression for tags with an empty text', async () => {
    const { sent } = await change({ vcsRepo: { ...oauth, tagsRegex: '^v' } }, { vcsRepo: oauth });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'vcs-repo': { 'tags-regex': '' } }]);
  });

  it('is removed with null, and added with one request', async () => {
    const away = await change({ vcsRepo: oauth }, { vcsRepo: null });
    expect(away.sent).toEqual([{ 'assessments-enabled': false, 'vcs-repo': null }]);
    const added = await change({}, { vcsRepo: { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1' } });
    expect(added.sent).toEqual([
      {
        'assessments-enabled': false,
        'vcs-repo': { identifier: 'acme/app', 'github-app-installation-id': 'ghain-1' },
      },
    ]);
  });

  it('is not sent with other changes', async () => {
    const { sent } = await change({ vcsRepo: oauth }, { vcsRepo: oauth, autoApply: true });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'auto-apply': true }]);
  });
});

describe('automatic changes of the service, through hcp-terraform', () => {
  it('health assessments survive every update, because each update repeats them', async () => {
    const on = { assessmentsEnabled: true };
    const { app, service, stack } = await change(
      { ...on, autoApply: true, tags: { a: '1' } },
      { ...on, tags: {} },
    );
    expect(app.assessments).toBe(true);
    // Also if they are not declared: a person turned them on.
    await stack.make(workspace('app', { description: 'x' }));
    app.assessments = true;
    service.clear();
    await stack.make(workspace('app', { description: 'y' }));
    expect(app.assessments).toBe(true);
  });

  it('flat tags are kept in lower case and in the order of their addition', async () => {
    const { service } = await change({ tagNames: ['PCI', 'payments'] }, { tagNames: ['payments', 'Blue'] });
    expect(service.bodies('/relationships/tags')).toEqual([
      { data: [{ type: 'tags', attributes: { name: 'Blue' } }] },
      { data: [{ type: 'tags', attributes: { name: 'pci' } }] },
    ]);
    await expectNoChanges({ tagNames: ['b', 'a'] }, { tagNames: ['A', 'B'] });
  });

  it('a destroy time loses its seconds, and a duration sets a time that is not declared', async () => {
    await expectNoChanges(
      { autoDestroyAt: '2031-01-31T08:00:42Z' },
      { autoDestroyAt: '2031-01-31T09:00:00+01:00' },
    );
    const { app } = await change(
      { autoApply: true },
      { autoApply: true, autoDestroyActivityDuration: '14d' },
    );
    expect(app.destroyAt).not.toBeNull();
  });

  it('a duration that differs from the project’s is sent as the workspace’s own', async () => {
    const projects = [{ id: 'prj-default', autoDestroy: '7d' }];
    const { sent } = await change({}, { autoDestroyActivityDuration: '14d' }, { projects });
    expect(sent).toEqual([
      {
        'assessments-enabled': false,
        'auto-destroy-activity-duration': '14d',
        'inherits-project-auto-destroy': false,
      },
    ]);
    const { stack } = await openOrganization('hcp-terraform', { projects });
    await stack.make(workspace('born', { autoDestroyActivityDuration: '36h' }));
  });

  it('an empty duration is sent as the workspace’s own, too, even at its creation', async () => {
    const projects = [{ id: 'prj-default', autoDestroy: '7d' }];
    const none = { 'auto-destroy-activity-duration': null, 'inherits-project-auto-destroy': false };
    const declared = await change({}, { autoDestroyActivityDuration: null }, { projects });
    expect(declared.sent).toEqual([{ 'assessments-enabled': false, ...none }]);
    const dropped = await change({ autoDestroyActivityDuration: '14d' }, {}, { projects });
    expect(dropped.sent).toEqual([{ 'assessments-enabled': false, ...none }]);
    const { service, stack } = await openOrganization('hcp-terraform', { projects });
    await stack.make(workspace('born', { autoDestroyActivityDuration: null }));
    expect(service.bodies('/organizations/acme/workspaces')).toMatchObject([{ data: { attributes: none } }]);
    expect(service.writes()).toHaveLength(1);
  });

  it('a changed destroy time is sent with the declared duration, which it would remove otherwise', async () => {
    const duration = { autoDestroyActivityDuration: '14d' };
    const { sent, app } = await change(
      { autoDestroyAt: '2031-01-31T08:00:00Z', ...duration },
      { autoDestroyAt: '2031-02-28T08:00:00Z', ...duration },
    );
    expect(sent).toMatchObject([
      { 'auto-destroy-at': '2031-02-28T08:00:00.000Z', 'auto-destroy-activity-duration': '14d' },
    ]);
    expect(app.destroyAfter).toBe('14d');
  });

  it('a destroy time is cleared with null', async () => {
    const { sent, app } = await change({ autoDestroyAt: '2031-01-31T08:00:00Z' }, { autoDestroyAt: null });
    expect(sent).toEqual([{ 'assessments-enabled': false, 'auto-destroy-at': null }]);
    expect(app.destroyAt).toBeNull();
  });

  it('consumers are neither read nor written while the state is shared globally', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    const reader = workspace('reader', {});
    await stack.make(workspace('app', { globalRemoteState: true }) + reader);
    service.clear();
    await stack.run('plan --exit-code');
    expect(service.requests.filter(({ path }) => path.includes('remote-state-consumers'))).toEqual([]);
    await stack.make(
      workspace('app', { globalRemoteState: false, remoteStateConsumers: ['reader'] }) + reader,
    );
    const { id } = service.workspace('app');
    expect(service.writes()).toEqual([
      `PATCH /workspaces/${id}`,
      `PATCH /workspaces/${id}/relationships/remote-state-consumers`,
    ]);
  });

  it('a state that the whole project may read has no list of consumers to read or write', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    const others = workspace('reader', {}) + workspace('other', {});
    await stack.make(workspace('app', { remoteStateConsumers: ['reader'] }) + others);
    service.workspace('app').projectSharing = true;
    service.clear();
    const { problems } = await stack.plan();
    expect(problems.map(({ code }) => code)).toEqual(['consumers-while-project']);
    await stack.run('apply --yes', 7);
    await stack.declare(workspace('app', {}) + others);
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.requests.filter(({ path }) => path.includes('remote-state-consumers'))).toEqual([]);
  });

  it('consumers on several pages are all read', async () => {
    const { service, stack } = await openOrganization('hcp-terraform');
    const names = Array.from({ length: 101 }, (_, index) => `reader-${index}`);
    const readers = names.map((name) => workspace(name, {})).join('');
    await stack.make(workspace('app', { remoteStateConsumers: names }) + readers);
    service.clear();
    await stack.run('plan --exit-code');
    const pages = service.requests.map(({ path }) => decodeURIComponent(path).replace('/api/v2', ''));
    const { id } = service.workspace('app');
    expect(pages.sort()).toEqual([
      '/organizations/acme/workspaces?sort=name&include=effective_tag_bindings&page[size]=100&page[number]=1',
      '/organizations/acme/workspaces?sort=name&include=effective_tag_bindings&page[size]=100&page[number]=2',
      `/workspaces/${id}/relationships/remote-state-consumers?page[size]=100&page[number]=1`,
      `/workspaces/${id}/relationships/remote-state-consumers?page[size]=100&page[number]=2`,
    ]);
  });
});
