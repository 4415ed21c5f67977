/**
 * What trueup costs in requests, counted where they arrive. These numbers are promises: a plan of a thousand workspaces
 * asks for pages, never for one workspace at a time.
 */
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CountedOptions,
  type CountedStack,
  names,
  openCountedStack,
  owned,
  role,
  stackName,
  workspace,
  writes,
} from '../support/scale/counted-stack.ts';
import { withoutInclude } from '../support/scale/without-include.ts';

let stack: CountedStack;
afterEach(() => stack.close());

async function open(options: CountedOptions = {}): Promise<CountedStack> {
  stack = await openCountedStack(options);
  return stack;
}

const list = 'GET /organizations/:organization_name/workspaces';
const show = 'GET /workspaces/:workspace_id';
const consumersOf = '/workspaces/:workspace_id/relationships/remote-state-consumers';
const organization = 'GET /organizations/:organization_name';
const projects = 'GET /organizations/:organization_name/projects';
const bindings = 'GET /workspaces/:workspace_id/tag-bindings';

describe('Planning a thousand workspaces', () => {
  it('costs ten pages of a list, and one for each hundred consumers of those that declare them', async () => {
    const all = names('ws', 1000);
    const { declare, run, send } = await open({
      organization: { workspaces: all.map((name) => ({ ...owned(name), id: `ws-${name}` })) },
    });
    const [many = [], few = []] = [all.slice(500, 750), all.slice(1, 3)];
    for (const [name, consumers] of [
      ['ws-00000', many],
      ['ws-00001', few.slice(1)],
    ] as const) {
      const data = consumers.map((consumer) => ({ type: 'workspaces', id: `ws-${consumer}` }));
      await send('POST', `/workspaces/ws-${name}/relationships/remote-state-consumers`, { data });
    }
    const declared = new Map<string, object>([
      ['ws-00000', { remoteStateConsumers: many }],
      ['ws-00001', { remoteStateConsumers: few.slice(1), tags: {} }],
      ['ws-00002', { remoteStateConsumers: [] }],
    ]);
    await declare(all.map((name) => workspace(name, declared.get(name) ?? { tags: {} })));

    const { code, requests, out } = await run('plan', '--exit-code');

    expect(code, out).toBe(0);
    expect(requests).toEqual({ [list]: 10, [`GET ${consumersOf}`]: 3 + 1 + 1 });
  });

  it('lists no consumers of workspaces that share their state with everyone, and asks two whether there are any', async () => {
    const all = names('ws', 30);
    const { declare, run } = await open({
      organization: { workspaces: all.map((name) => ({ ...owned(name), 'global-remote-state': true })) },
    });
    await declare(all.map((name) => workspace(name, { globalRemoteState: false, remoteStateConsumers: [] })));

    expect((await run('plan')).requests).toEqual({ [list]: 1, [`GET ${consumersOf}`]: 2 });
  });
});

describe('Planning a deletion', () => {
  it('asks who may read the state of what is to be deleted, and of nothing else that nobody declares', async () => {
    const lent = { name: 'lent', 'tag-bindings': { 'trueup-stack': `${stackName}:release` } };
    const copy = { name: 'copy', 'tag-bindings': { 'trueup-stack': stackName } };
    const { declare, run } = await open({
      organization: { workspaces: [owned('app'), owned('old'), lent, copy, { name: 'stranger' }] },
    });
    await declare([workspace('app')]);

    expect((await run('plan')).requests).toEqual({ [list]: 1, [`GET ${consumersOf}`]: 1 });
  });
});

describe('Planning roles', () => {
  it('costs the question for the type of the mount, one LIST and one GET for each role', async () => {
    const { declare, run } = await open();
    const roles = names('role', 12);
    await declare(roles.map((name) => role(name)));
    expect((await run('apply', '--yes')).code).toBe(0);

    const { requests } = await run('plan', '--exit-code');

    const reads = roles.map((name) => [`GET /v1/auth/cluster/role/${name}`, 1]);
    expect(requests).toEqual({
      [list]: 1,
      // An empty list: whether the organization exists.
      [organization]: 1,
      // For the type of the mount; a second question follows only where this one is not answered.
      'GET /v1/sys/auth/cluster': 1,
      // The verb LIST, as the server counts it; its spelling as a GET would have a query.
      'GET /v1/auth/cluster/role': 1,
      ...Object.fromEntries(reads),
    });
  });
});

describe('Applying', () => {
  it('creates a workspace with tags by one POST and nothing else', async () => {
    const { declare, run } = await open({ organization: { workspaces: [owned('first')] } });
    const all = [workspace('first'), workspace('app', { autoApply: true, tags: { env: 'prod', team: 'a' } })];
    await declare(all);

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    // One list for the plan, one for the proof; what the default project schedules, once for all creates.
    expect(requests).toEqual({
      [list]: 2,
      [organization]: 1,
      [projects]: 1,
      'POST /organizations/:organization_name/workspaces': 1,
    });
  });

  it('reads the first of many workspaces back where nothing shows that ownership tags are kept', async () => {
    const { declare, run } = await open();
    await declare(names('ws', 12).map((name) => workspace(name, { tags: { env: 'prod' } })));

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    expect(requests).toEqual({
      [list]: 2,
      // For an empty list and its default project; later for the mode that the first workspace inherits.
      [organization]: 2,
      [projects]: 2,
      [show]: 1,
      'POST /organizations/:organization_name/workspaces': 12,
    });
  });

  it('creates a workspace with tags, consumers and an SSH key by three requests', async () => {
    const { declare, run } = await open({
      organization: { workspaces: [owned('reader')], 'ssh-keys': [{ name: 'deploy', id: 'sshkey-1' }] },
    });
    const spec = { sshKeyId: 'sshkey-1', tags: { env: 'prod' }, remoteStateConsumers: ['reader'] };
    await declare([workspace('reader'), workspace('app', spec)]);

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    expect(writes(requests)).toEqual({
      'POST /organizations/:organization_name/workspaces': 1,
      'PATCH /workspaces/:workspace_id/relationships/ssh-key': 1,
      [`POST ${consumersOf}`]: 1,
    });
    expect(requests[show]).toBeUndefined();
  });

  it('updates a workspace by one read and one PATCH, whatever else is beside it', async () => {
    const all = names('ws', 30);
    const { declare, run } = await open({ organization: { workspaces: all.map(owned) } });
    await declare(all.map((name, index) => workspace(name, { autoApply: index === 7 })));

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    // The mode that its project or organization gives it, once for all workspaces of the project.
    const defaults = { [organization]: 1, [projects]: 1 };
    expect(requests).toEqual({ [list]: 2, ...defaults, [show]: 1, 'PATCH /workspaces/:workspace_id': 1 });
  });

  it('gives a workspace more than a hundred consumers by one request, and is content with them', async () => {
    const readers = names('reader', 230);
    const { declare, run } = await open({
      organization: { workspaces: [...readers.map((name) => ({ name })), owned('app')] },
    });
    await declare([workspace('app', { remoteStateConsumers: readers })]);

    expect(writes((await run('apply', '--yes')).requests)).toEqual({ [`POST ${consumersOf}`]: 1 });

    const fewer = readers.filter((_, index) => index % 2 === 0);
    await declare([workspace('app', { remoteStateConsumers: [...fewer].reverse() })]);
    expect(writes((await run('apply', '--yes')).requests)).toEqual({ [`DELETE ${consumersOf}`]: 1 });
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });
});

describe('A service that ignores the include of tag bindings', () => {
  it('costs two filtered lists more, and one read for each declared or owned workspace', async () => {
    const ours = names('ours', 40);
    const left = names('left', 5);
    const theirs = names('theirs', 105);
    const { declare, run } = await open({
      through: withoutInclude,
      organization: {
        workspaces: [...ours, ...left].map(owned).concat([...theirs, 'legacy'].map((name) => ({ name }))),
      },
    });
    await declare([
      ...ours.map((name) => workspace(name, { tags: {} })),
      workspace('legacy', {}, { adopt: true }),
    ]);

    const { requests, out } = await run('plan', '--exit-code');

    // Two pages of all workspaces, one of those that have an ownership tag, and one of those with a key that nobody has: is there a filter?
    // And who may read the states of the five that nobody declares any more: they are to be deleted.
    expect(requests).toEqual({ [list]: 2 + 2, [bindings]: 40 + 5 + 1, [`GET ${consumersOf}`]: 5 });
    expect(out).toContain('the service does not include tag bindings');
  });

  it('converges anyway', async () => {
    const { declare, run } = await open({
      through: withoutInclude,
      organization: { workspaces: [owned('app'), { name: 'legacy', 'tag-bindings': { env: 'old' } }] },
    });
    await declare([
      workspace('app', { tags: { env: 'prod' } }),
      workspace('new', { tags: { env: 'prod' } }),
      workspace('legacy', { tags: { env: 'prod' } }, { adopt: true }),
    ]);

    const applied = await run('apply', '--yes');

    expect(applied.code, applied.out + applied.err).toBe(0);
    expect((await run('plan', '--exit-code')).code).toBe(0);
  });

  it(`knows the workspaces of stack ${stackName} that nobody declares any more`, async () => {
    const { declare, run } = await open({ through: withoutInclude });
    await declare([workspace('app', { tags: { env: 'prod' } }), workspace('old')]);
    expect((await run('apply', '--yes')).code).toBe(0);
    await declare([workspace('app', { tags: { env: 'prod' } })]);

    const applied = await run('apply', '--yes');

    expect(applied.code, applied.out + applied.err).toBe(0);
    expect(writes(applied.requests)).toEqual({
      'POST /workspaces/:workspace_id/actions/safe-delete': 1,
    });
  });
});
