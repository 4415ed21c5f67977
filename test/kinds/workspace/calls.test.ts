import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Metadata, Spec } from '../../../src/model/resource.ts';
import {
  at,
  changeOf,
  declare,
  type LiveWorkspace,
  lineOf,
  linesOf,
  planFor,
  type Situation,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

function changeFor(
  spec: Spec,
  live?: Partial<LiveWorkspace>,
  about: Partial<Situation> & { metadata?: Partial<Metadata> } = {},
) {
  const { metadata = {}, ...situation } = about;
  const plan = planFor({
    declared: [declare('Workspace', 'app', spec, metadata)],
    live: live === undefined ? [] : [{ name: 'app', ...live }],
    ...situation,
  });
  expect(plan.problems).toEqual([]);
  return changeOf(plan, address);
}

/** The attributes of the one PATCH that such a change sends. */
function patched(spec: Spec, live: JsonObject = {}, recorded: Spec = {}, relationships: JsonObject = {}) {
  const records = { [address]: { id: 'ws-app', fields: recorded } };
  const { calls } = changeFor(spec, { attributes: live, relationships }, { records });
  expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-app']);
  expect(calls[0]).toMatchObject({ id: `${address}#update`, success: [200], repeatable: true, order: 0 });
  return at(calls[0]?.body, 'data', 'attributes');
}

const own = { 'setting-overwrites': { 'execution-mode': true, 'agent-pool': true } };
const pool = { 'agent-pool': { data: { type: 'agent-pools', id: 'apool-1' } } };
const repo = {
  identifier: 'acme/network',
  branch: '',
  'ingress-submodules': false,
  'oauth-token-id': 'ot-1',
  'tags-regex': null,
};

describe('Creating a workspace', () => {
  it('is one POST with attributes, project, ownership tag and creator mark, without blind retries', () => {
    const { calls } = changeFor({ autoApply: true, description: 'x', projectId: 'prj-1' });
    expect(calls).toEqual([
      {
        id: `${address}#create`,
        target: 'acme',
        method: 'POST',
        path: ['organizations', 'acme', 'workspaces'],
        body: {
          data: {
            type: 'workspaces',
            attributes: {
              name: 'app',
              'source-name': 'trueup/payments',
              'auto-apply': true,
              description: 'x',
            },
            relationships: {
              project: { data: { type: 'projects', id: 'prj-1' } },
              'tag-bindings': {
                data: [
                  {
                    type: 'tag-bindings',
                    attributes: { key: 'trueup-stack', value: 'payments:id=0123abcd' },
                  },
                ],
              },
            },
          },
        },
        order: 0,
        needs: [],
        success: [201],
        repeatable: false,
        createsId: { address, pointer: '/data/id' },
      },
    ]);
  });

  it('sends the declared tags in the same POST, and the tags share that call', () => {
    const plan = planFor({
      declared: [
        declare('Workspace', 'app'),
        declare('TagBindings', 'app', { tags: { team: 'a', env: 'prod' } }),
      ],
    });
    expect(linesOf(plan)).toEqual(['POST /organizations/acme/workspaces']);
    expect(
      at(changeOf(plan, address).calls[0]?.body, 'data', 'relationships', 'tag-bindings', 'data'),
    ).toEqual(
      [
        ['env', 'prod'],
        ['team', 'a'],
        ['trueup-stack', 'payments:id=0123abcd'],
      ].map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
    );
    expect(changeOf(plan, 'TagBindings/acme/app').sharedCall).toBe(`${address}#create`);
  });

  it('takes three requests with consumers and an SSH key', () => {
    const plan = planFor({
      declared: [
        declare('Workspace', 'app', { sshKeyId: 'sshkey-1' }),
        declare('TagBindings', 'app', { tags: { env: 'prod' } }),
        declare('RemoteStateConsumers', 'app', { consumers: ['reader'] }),
      ],
      live: [{ name: 'reader', ownershipTag: null }],
    });
    expect(linesOf(plan)).toEqual([
      'POST /organizations/acme/workspaces',
      `PATCH /workspaces/<${address}>/relationships/ssh-key`,
      `POST /workspaces/<${address}>/relationships/remote-state-consumers`,
    ]);
  });

  it('sends settings with their own endpoints after the create, the lock last', () => {
    const { calls } = changeFor({
      sshKeyId: 'sshkey-1',
      tagNames: ['B', 'a'],
      dataRetentionPolicy: { dontDelete: true },
      lock: { reason: 'frozen' },
    });
    const later = calls.slice(1);
    expect(later.map((call) => [lineOf(call).split('>/')[1], call.body, call.order])).toEqual([
      ['relationships/ssh-key', { data: { type: 'workspaces', attributes: { id: 'sshkey-1' } } }, 5],
      ['relationships/tags', { data: ['B', 'a'].map((name) => ({ type: 'tags', attributes: { name } })) }, 5],
      [
        'relationships/data-retention-policy',
        { data: { type: 'data-retention-policy-dont-deletes', attributes: {} } },
        5,
      ],
      ['actions/lock', { reason: 'frozen' }, 20],
    ]);
    for (const { needs } of later) expect(needs).toEqual([`${address}#create`]);
  });

  it('leaves out null values, which ask for the default of the service', () => {
    const { calls } = changeFor({
      executionMode: null,
      agentPoolId: null,
      description: '',
      vcsRepo: null,
      sshKeyId: null,
      tagNames: null,
      lock: null,
      dataRetentionPolicy: null,
      triggerPatterns: null,
      triggerPrefixes: [],
    });
    expect(calls).toHaveLength(1);
    expect(at(calls[0]?.body, 'data', 'attributes')).toEqual({
      name: 'app',
      'source-name': 'trueup/payments',
    });
  });

  it('sends the default of a switch, because administrators of a service may have changed it', () => {
    const { calls } = changeFor({ globalRemoteState: null });
    expect(at(calls[0]?.body, 'data', 'attributes', 'global-remote-state')).toBe(false);
  });

  it('has no creator mark when the manifest names another source', () => {
    const { calls } = changeFor({ sourceName: 'The pipeline', sourceUrl: 'https://ci.example.com' });
    expect(at(calls[0]?.body, 'data', 'attributes')).toMatchObject({
      'source-name': 'The pipeline',
      'source-url': 'https://ci.example.com',
    });
  });

  it('writes protection and release into the ownership tag', () => {
    const { calls } = changeFor({}, undefined, { metadata: { protect: true, onRemove: 'release' } });
    expect(
      at(calls[0]?.body, 'data', 'relationships', 'tag-bindings', 'data', '0', 'attributes', 'value'),
    ).toBe('payments:protect:release:id=0123abcd');
  });

  it('includes flat tags if the dialect accepts them, and stays one POST', () => {
    const plan = planFor({
      declared: [declare('Workspace', 'app', { tagNames: ['B', 'a'] })],
      dialect: 'hcp-terraform',
    });
    expect(linesOf(plan)).toEqual(['POST /organizations/acme/workspaces']);
    expect(at(changeOf(plan, address).calls[0]?.body, 'data', 'relationships', 'tags')).toEqual({
      data: [
        { type: 'tags', attributes: { name: 'B' } },
        { type: 'tags', attributes: { name: 'a' } },
      ],
    });
  });

  it('connects an app installation by an update if a create does not accept one', () => {
    const spec = { vcsRepo: { identifier: 'acme/network', vcsAppInstallationId: 'app-1', branch: null } };
    const neutral = changeFor(spec);
    expect(neutral.calls.map(lineOf)).toEqual([
      'POST /organizations/acme/workspaces',
      `PATCH /workspaces/<${address}>`,
    ]);
    const repository = { identifier: 'acme/network', 'vcs-app-installation-id': 'app-1' };
    expect(at(neutral.calls[0]?.body, 'data', 'attributes', 'vcs-repo')).toBeUndefined();
    expect(at(neutral.calls[1]?.body, 'data', 'attributes')).toEqual({ 'vcs-repo': repository });
    const able = changeFor(spec, undefined, { dialect: 'hcp-terraform' });
    expect(able.calls).toHaveLength(1);
    expect(at(able.calls[0]?.body, 'data', 'attributes', 'vcs-repo')).toEqual({
      identifier: 'acme/network',
      'github-app-installation-id': 'app-1',
    });
  });
});

describe('Updating a workspace', () => {
  it.each<[string, Spec, JsonObject, JsonObject]>([
    ['sends the one attribute that changes', { autoApply: true }, {}, { 'auto-apply': true }],
    ['clears a text with ""', { description: null }, { description: 'old' }, { description: '' }],
    [
      'treats "" as null',
      { workingDirectory: '' },
      { 'working-directory': 'x' },
      { 'working-directory': '' },
    ],
    [
      'sends a version as it is declared',
      { engineVersion: '~> 1.9.0' },
      {},
      { 'engine-version': '~> 1.9.0' },
    ],
    [
      'inherits both settings when the mode is null',
      { executionMode: null },
      { ...own, 'execution-mode': 'local' },
      { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } },
    ],
    ['sends only the mode if it is a value', { executionMode: 'remote' }, {}, { 'execution-mode': 'remote' }],
    [
      'repeats declared overwrites beside a mode, which would imply other ones',
      { executionMode: 'local', settingOverwrites: { agentPool: false } },
      {
        'execution-mode': 'remote',
        'setting-overwrites': { 'execution-mode': true, 'agent-pool': false },
      },
      { 'execution-mode': 'local', 'setting-overwrites': { 'agent-pool': false } },
    ],
    [
      'sends only the list of triggers that is set',
      { triggerPrefixes: [], triggerPatterns: ['/a/*'] },
      { 'trigger-prefixes': ['a'] },
      { 'trigger-patterns': ['/a/*'] },
    ],
    [
      'empties a list of triggers',
      { triggerPrefixes: null },
      { 'trigger-prefixes': ['a'] },
      { 'trigger-prefixes': [] },
    ],
    ['removes a repository', { vcsRepo: null }, { 'vcs-repo': repo }, { 'vcs-repo': null }],
    [
      'sends only the members of a repository that change',
      { vcsRepo: { identifier: 'acme/network', branch: 'next' } },
      { 'vcs-repo': repo },
      { 'vcs-repo': { branch: 'next' } },
    ],
    [
      'requests the default branch with ""',
      { vcsRepo: { branch: null } },
      { 'vcs-repo': { ...repo, branch: 'main' } },
      { 'vcs-repo': { branch: '' } },
    ],
    [
      'adds a complete repository, without null values',
      { vcsRepo: { identifier: 'acme/x', oauthTokenId: 'ot-1', branch: null, tagsRegex: '' } },
      {},
      { 'vcs-repo': { identifier: 'acme/x', 'oauth-token-id': 'ot-1' } },
    ],
    [
      'replaces the connection of a repository without sending a null one',
      { vcsRepo: { vcsAppInstallationId: 'app-1' } },
      { 'vcs-repo': repo },
      { 'vcs-repo': { 'vcs-app-installation-id': 'app-1' } },
    ],
  ])('%s', (_, spec, live, expected) => {
    expect(patched(spec, live)).toEqual({ 'assessments-enabled': false, ...expected });
  });

  it('drops the pool with the mode, and never sends it beside another one', () => {
    const agent = { ...own, 'execution-mode': 'agent' };
    const recorded = { executionMode: 'agent', agentPoolId: 'apool-1' };
    expect(patched({ executionMode: 'remote' }, agent, recorded, pool)).toEqual({
      'assessments-enabled': false,
      'execution-mode': 'remote',
    });
    expect(patched({}, agent, recorded, pool)).toEqual({
      'assessments-enabled': false,
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    });
  });

  it('sends mode and pool together, or a new pool alone', () => {
    const spec = { executionMode: 'agent', agentPoolId: 'apool-2' };
    expect(patched(spec)).toMatchObject({ 'execution-mode': 'agent', 'agent-pool-id': 'apool-2' });
    expect(patched(spec, { ...own, 'execution-mode': 'agent' }, {}, pool)).toEqual({
      'assessments-enabled': false,
      'agent-pool-id': 'apool-2',
    });
  });

  it('repeats live health assessments, which the service would turn off', () => {
    expect(patched({ autoApply: true }, { 'assessments-enabled': true })).toEqual({
      'assessments-enabled': true,
      'auto-apply': true,
    });
    expect(patched({ assessmentsEnabled: false }, { 'assessments-enabled': true })).toEqual({
      'assessments-enabled': false,
    });
  });

  it.each(['local', 'agent'])(
    'lets live health assessments end if the mode becomes %s, and says so',
    (mode) => {
      const spec = { executionMode: mode, ...(mode === 'agent' ? { agentPoolId: 'apool-1' } : {}) };
      const on = { ...own, 'assessments-enabled': true };
      const sent = patched(spec, on);
      expect(sent).toMatchObject({ 'execution-mode': mode });
      expect(sent).not.toHaveProperty('assessments-enabled');
      const goesOff = `health assessments need the execution mode remote: with ${mode}, an update does not keep assessmentsEnabled`;
      expect(changeFor(spec, { attributes: on }).notes).toContain(goesOff);
      const declared = { ...spec, assessmentsEnabled: false };
      expect(patched(declared, on)).toMatchObject({ 'assessments-enabled': false });
      expect(changeFor(declared, { attributes: on }).notes).not.toContain(goesOff);
    },
  );

  it('sends no health assessments to a service that does not return them', () => {
    const { calls } = changeFor(
      { autoApply: true },
      { attributes: { 'assessments-enabled': undefined as never } },
    );
    expect(at(calls[0]?.body, 'data', 'attributes')).toEqual({ 'auto-apply': true });
  });

  it('moves to another project through the relationship', () => {
    const { calls } = changeFor(
      { projectId: 'prj-2' },
      { relationships: { project: { data: { id: 'prj-1' } } } },
    );
    expect(at(calls[0]?.body, 'data', 'relationships')).toEqual({
      project: { data: { type: 'projects', id: 'prj-2' } },
    });
  });

  it('never sends a field that only a create accepts: a difference is a note', () => {
    const plan = planFor({
      declared: [declare('Workspace', 'app', { sourceName: 'Another' })],
      live: [{ name: 'app' }],
    });
    expect(plan.changes).toEqual([]);
  });

  it('sends no PATCH of the workspace when only fields with other endpoints change', () => {
    const { calls } = changeFor(
      { sshKeyId: null, tagNames: ['b', 'c'] },
      {
        attributes: { 'tag-names': ['a', 'b'] },
        relationships: { 'ssh-key': { data: { type: 'ssh-keys', id: 'sshkey-1' } } },
      },
    );
    expect(calls.map((call) => [lineOf(call), call.body])).toEqual([
      [
        'PATCH /workspaces/ws-app/relationships/ssh-key',
        { data: { type: 'workspaces', attributes: { id: null } } },
      ],
      ['POST /workspaces/ws-app/relationships/tags', { data: [{ type: 'tags', attributes: { name: 'c' } }] }],
      [
        'DELETE /workspaces/ws-app/relationships/tags',
        { data: [{ type: 'tags', attributes: { name: 'a' } }] },
      ],
    ]);
  });

  it('changes the name in place after a rename', () => {
    const plan = planFor({
      declared: [declare('Workspace', 'app', {}, { renamedFrom: 'old' })],
      live: [{ name: 'old' }],
    });
    const { calls } = changeOf(plan, address);
    expect(calls.map(lineOf)).toEqual(['PATCH /workspaces/ws-old']);
    expect(at(calls[0]?.body, 'data', 'attributes')).toEqual({ 'assessments-enabled': false, name: 'app' });
  });
});
