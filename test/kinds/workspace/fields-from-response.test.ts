import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import type { Answer } from '../../../src/model/http.ts';
import {
  bare,
  changeOf,
  declare,
  type LiveWorkspace,
  planFor,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

/** What each call of a change is asked about, by the name that it has in its change, when a document answers it. */
function asked(spec: Spec, live?: Partial<LiveWorkspace>, { attributes = {}, dialect = 'neutral' } = {}) {
  const plan = planFor({
    declared: [declare('Workspace', 'app', spec)],
    live: live === undefined ? [] : [{ name: 'app', ...live }],
    dialect,
  });
  return Object.fromEntries(
    changeOf(plan, address).calls.map((call) => [
      call.id.replace(/.*#/, ''),
      kind.fieldsFromResponse?.(call, documentWith(attributes))?.about ?? [],
    ]),
  );
}

function documentWith(attributes: JsonObject): Answer {
  const data = { id: 'ws-app', type: 'workspaces', attributes: { ...bare, name: 'app', ...attributes } };
  return { method: 'PATCH', url: '', status: 200, body: { data }, words: '' };
}

describe('The answer to a call is asked about what that very call may have written', () => {
  const everything = {
    description: 'x',
    sshKeyId: 'k',
    tagNames: ['a'],
    lock: {},
    dataRetentionPolicy: { dontDelete: true },
  };

  it('and not about what later calls do', () => {
    const { update = [], 'ssh-key': key, ...others } = asked(everything, {});
    expect(update).toContain('description');
    for (const name of ['sshKeyId', 'tagNames', 'lock', 'dataRetentionPolicy'])
      expect(update).not.toContain(name);
    expect(key).toEqual(['sshKeyId']);
    expect(others).toEqual({ 'add-tag-names': [], 'data-retention-policy': [], lock: [] });
  });

  it('of a create also about flat tags, where it has them', () => {
    expect(asked(everything)['create']).not.toContain('tagNames');
    expect(asked(everything, undefined, { dialect: 'hcp-terraform' })['create']).toContain('tagNames');
  });

  it('of a create not about what was left to the service', () => {
    const { create } = asked({ workingDirectory: null, description: 'x', engineVersion: '1.9.8' });
    expect(create).toEqual(expect.arrayContaining(['description', 'engineVersion']));
    expect(create).not.toContain('workingDirectory');
  });

  it('and not about a repository that is connected right after it, but by the call that does', () => {
    const vcsRepo = { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1' };
    expect(asked({ vcsRepo })).toMatchObject({ 'vcs-repo': ['vcsRepo'] });
  });

  it('and not about a time that follows from a duration, nor about a duration that follows from the project', () => {
    const own = { 'auto-destroy-activity-duration': '14d' };
    const inherited = { ...own, 'inherits-project-auto-destroy': true };
    const update = (attributes: JsonObject) => asked({ description: 'x' }, {}, { attributes })['update'];
    expect(update({})).toEqual(expect.arrayContaining(['autoDestroyAt', 'autoDestroyActivityDuration']));
    expect(update(own)).toContain('autoDestroyActivityDuration');
    expect(update(own)).not.toContain('autoDestroyAt');
    expect(update(inherited)).not.toContain('autoDestroyActivityDuration');
  });

  it('and says nothing where there is no document in it', () => {
    const [call] = changeOf(planFor({ declared: [declare('Workspace', 'app')] }), address).calls;
    const answer = { ...documentWith({}), body: { data: [] } };
    expect(call && kind.fieldsFromResponse?.(call, answer)).toBeUndefined();
  });
});
