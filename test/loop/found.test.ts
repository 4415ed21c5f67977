/** Bugs that random stacks have found, each as a minimal case. All of them once failed to converge. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { planSchema } from '../../src/report/json/plan-schema.ts';
import type { HandAction } from '../support/simulation/random-actions.ts';
import type { Manifest } from '../support/simulation/random-stacks.ts';
import { converge, type Step } from '../support/simulation/converge.ts';
import { legacy, neighbours, TenantPool } from '../support/simulation/world.ts';

const tenants = new TenantPool();
afterAll(() => tenants.close());
const isPlan = new Ajv2020({ strict: false }).compile(planSchema);

/** Indexes in `organizationSettings`. */
const plain = 0;
const localByDefault = 2;
const sharesByDefault = 3;

function step(manifests: readonly Manifest[], drift: readonly HandAction[] = []): Step {
  return { drift, ledger: 'kept', stack: { owns: undefined, defaults: {}, manifests } };
}

function workspace(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Manifest {
  return { kind: 'Workspace', metadata: { name, ...metadata }, spec };
}

function ending(settingsIndex: number, ...steps: readonly Step[]): Promise<string> {
  return converge({ settingsIndex, steps }, { tenants, isPlan });
}

function project(name: string, spec: JsonObject): Manifest {
  return { kind: 'Project', metadata: { name }, spec };
}

const repository = { identifier: 'acme/network', oauthTokenId: neighbours.oauthTokens[0] };

describe('A stack converges with', () => {
  it('a new workspace with a list of consumers, if new workspaces share with all by default', async () => {
    const consumers = [workspace('app', { remoteStateConsumers: ['db'] }), workspace('db')];
    expect(await ending(sharesByDefault, step(consumers))).toBe('converged');
  });

  it('an adopted workspace that is released together with its tags', async () => {
    const adopted = workspace(legacy, { tags: { env: 'prod' } }, { adopt: true, onRemove: 'release' });
    expect(await ending(plain, step([adopted]), step([]))).toBe('converged');
  });

  it('undeclared file triggers in addition to an expression for tags, which excludes them', async () => {
    const vcsRepo = { ...repository, tagsRegex: '^v\\d+$' };
    const before = workspace('app', { vcsRepo, fileTriggersEnabled: false });
    expect(await ending(plain, step([before]), step([workspace('app', { vcsRepo })]))).toBe('converged');
  });

  it('a consumer that is renamed by the plan that removes its access', async () => {
    const before = [workspace('app'), workspace('db', { remoteStateConsumers: ['app'] })];
    const after = [workspace('moved', {}, { renamedFrom: 'app' }), workspace('db')];
    expect(await ending(plain, step(before), step(after))).toBe('converged');
  });

  it('a released workspace whose lock was removed, and taken again by another user', async () => {
    const adopted = workspace(legacy, { lock: { reason: 'frozen' } }, { adopt: true });
    const act = (who: HandAction['who'], action: string): HandAction => ({
      who,
      method: 'POST',
      path: `workspace/${legacy}/actions/${action}`,
      body: action === 'lock' ? { reason: 'by hand' } : {},
    });
    const relocked = [act('owner', 'unlock'), act('other', 'lock')];
    expect(await ending(plain, step([adopted]), step([], relocked))).toBe('converged');
    expect(await ending(plain, step([adopted]), step([workspace(legacy)], relocked))).toBe('converged');
  });

  it('a consumer that is declared again for a new workspace with the old name of another one', async () => {
    const consumers: Manifest = {
      kind: 'RemoteStateConsumers',
      metadata: { name: 'app' },
      spec: { consumers: [legacy] },
    };
    const reader = workspace(legacy, {}, { adopt: true });
    const before = [workspace('app', { globalRemoteState: false }), consumers, workspace('web'), reader];
    const renamed = [workspace('moved', {}, { renamedFrom: 'app' })];
    const after = [
      workspace('app', { globalRemoteState: false }),
      consumers,
      workspace('web'),
      workspace('db'),
      reader,
    ];
    expect(await ending(plain, step(before), step(renamed), step(after))).toBe('converged');
  });

  it('a workspace that is renamed manually and in its manifest, with tags and consumers', async () => {
    const byHand: HandAction = {
      who: 'owner',
      method: 'PATCH',
      path: 'workspace/app',
      body: { data: { type: 'workspaces', attributes: { name: 'app-by-hand' } } },
    };
    const moved = workspace(
      'moved',
      { tags: { env: 'dev' }, remoteStateConsumers: ['db'] },
      { renamedFrom: 'app' },
    );
    const before = [workspace('app'), workspace('db')];
    expect(await ending(plain, step(before), step([moved, workspace('db')], [byHand]))).toBe('converged');
  });

  it('a workspace that gets a duration and, from its new project, another execution mode', async () => {
    const agents = project('money', { defaultExecutionMode: 'agent', defaultAgentPool: 'inherited' });
    const moved = workspace(
      legacy,
      {
        project: 'money',
        autoDestroyActivityDuration: '36h',
        sshKeyId: neighbours.sshKeys[1],
        tagNames: ['two'],
        dataRetentionPolicy: { dontDelete: true },
      },
      { adopt: true },
    );
    expect(await ending(localByDefault, step([agents, moved]))).toBe('converged');
  });

  it('a workspace that leaves its project and keeps the duration of that project as its own', async () => {
    const money = project('money', { autoDestroyActivityDuration: '14d' });
    const inherits = workspace('app', { project: 'money' });
    const own = workspace('app', {
      projectId: neighbours.projects[0],
      autoDestroyActivityDuration: '14d',
    });
    expect(await ending(plain, step([money, inherits]), step([money, own]))).toBe('converged');
  });

  it('a workspace that gets a duration in a project that gets another one', async () => {
    const before = [project('money', {}), workspace('app', { project: 'money' })];
    const after = [
      project('money', { autoDestroyActivityDuration: '36h' }),
      workspace('app', { project: 'money', autoDestroyActivityDuration: '14d' }),
    ];
    expect(await ending(plain, step(before), step(after))).toBe('converged');
  });

  it('a workspace that keeps the duration of its old project, which gets another one', async () => {
    const before = [
      project('money', { autoDestroyActivityDuration: '14d' }),
      workspace('app', { project: 'money' }),
    ];
    const after = [
      project('money', { autoDestroyActivityDuration: '36h' }),
      workspace('app', { projectId: neighbours.projects[0], autoDestroyActivityDuration: '14d' }),
    ];
    expect(await ending(plain, step(before), step(after))).toBe('converged');
  });

  it('a workspace with a date that leaves a project, which gets a duration, in the second plan', async () => {
    const inside = workspace('app', { project: 'money' });
    const leaves = workspace('app', {
      projectId: neighbours.projects[0],
      autoDestroyAt: '2032-02-01T00:00:00Z',
    });
    const before = [project('money', {}), inside];
    const after = [project('money', { autoDestroyActivityDuration: '36h' }), leaves];
    expect(await ending(plain, step(before), step(after))).toBe('converged');
  });

  it('tags whose keys are names of members of every object', async () => {
    const tags = { constructor: 'acme', toString: 'x', ['__proto__']: 'y' };
    const document: Manifest = { kind: 'TagBindings', metadata: { name: 'app' }, spec: { tags } };
    expect(await ending(plain, step([workspace('app'), document]), step([workspace('app')]))).toBe(
      'converged',
    );
  });
});

describe('A plan predicts', () => {
  it('that file triggers are refused together with an expression for tags that was set manually', async () => {
    const app = workspace('app', { vcsRepo: repository, fileTriggersEnabled: true });
    const body = {
      data: {
        type: 'workspaces',
        attributes: { 'file-triggers-enabled': false, 'vcs-repo': { 'tags-regex': '^v' } },
      },
    };
    const byHand: HandAction = { who: 'owner', method: 'PATCH', path: 'workspace/app', body };
    expect(await ending(plain, step([app]), step([app], [byHand]))).toBe('regex-with-file-triggers');
  });
});
