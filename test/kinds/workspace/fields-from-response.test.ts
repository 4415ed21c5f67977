import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import type { Answer } from '../../../src/model/http.ts';
import {
  bareAttributes,
  changeOf,
  declare,
  type LiveWorkspace,
  planFor,
} from '../../support/services/workspaces/plan-organization.ts';

const address = 'Workspace/acme/app';

/** The fields that each call of a change is checked for, by the name of the call, if a document is returned. */
function fieldsChecked(
  spec: Spec,
  live?: Partial<LiveWorkspace>,
  { attributes = {}, dialect = 'neutral' } = {},
) {
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
  const data = {
    id: 'ws-app',
    type: 'workspaces',
    attributes: { ...bareAttributes, name: 'app', ...attributes },
  };
  return { method: 'PATCH', url: '', status: 200, body: { data }, words: '' };
}

describe('The response to a call is checked for the fields that this call may have written', () => {
  const everything = {
    description: 'x',
    sshKeyId: 'k',
    tagNames: ['a'],
    lock: {},
    dataRetentionPolicy: { dontDelete: true },
  };

  it('and not for fields of later calls', () => {
    const { update = [], 'ssh-key': key, ...others } = fieldsChecked(everything, {});
    expect(update).toContain('description');
    for (const name of ['sshKeyId', 'tagNames', 'lock', 'dataRetentionPolicy'])
      expect(update).not.toContain(name);
    expect(key).toEqual(['sshKeyId']);
    expect(others).toEqual({ 'add-tag-names': [], 'data-retention-policy': [], lock: [] });
  });

  it('of a create also for flat tags, if it sends them', () => {
    expect(fieldsChecked(everything)['create']).not.toContain('tagNames');
    expect(fieldsChecked(everything, undefined, { dialect: 'hcp-terraform' })['create']).toContain(
      'tagNames',
    );
  });

  it('of a create not for fields that were left to the service', () => {
    const { create } = fieldsChecked({ workingDirectory: null, description: 'x', engineVersion: '1.9.8' });
    expect(create).toEqual(expect.arrayContaining(['description', 'engineVersion']));
    expect(create).not.toContain('workingDirectory');
  });

  it('and for a repository only by the call that connects it', () => {
    const vcsRepo = { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1' };
    expect(fieldsChecked({ vcsRepo })).toMatchObject({ 'vcs-repo': ['vcsRepo'] });
  });

  it('and not for a time that follows from a duration, nor for a duration that follows from the project', () => {
    const own = { 'auto-destroy-activity-duration': '14d' };
    const inherited = { ...own, 'inherits-project-auto-destroy': true };
    const update = (attributes: JsonObject) =>
      fieldsChecked({ description: 'x' }, {}, { attributes })['update'];
    expect(update({})).toEqual(expect.arrayContaining(['autoDestroyAt', 'autoDestroyActivityDuration']));
    expect(update(own)).toContain('autoDestroyActivityDuration');
    expect(update(own)).not.toContain('autoDestroyAt');
    expect(update(inherited)).not.toContain('autoDestroyActivityDuration');
  });

  it('and not if it contains no document', () => {
    const [call] = changeOf(planFor({ declared: [declare('Workspace', 'app')] }), address).calls;
    const answer = { ...documentWith({}), body: { data: [] } };
    expect(call && kind.fieldsFromResponse?.(call, answer)).toBeUndefined();
  });
});
