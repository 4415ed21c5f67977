/**
 * The number of requests of trueup, counted in the service. These numbers are promises: a plan of a thousand workspaces
 * reads pages, never one workspace at a time.
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
  it('needs ten pages of a list, and one page for each hundred declared consumers', async () => {
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

  it('lists no consumers of workspaces that share their state with all, except for two samples', async () => {
    const all = names('ws', 30);
    const { declare, run } = await open({
      organization: { workspaces: all.map((name) => ({ ...owned(name), 'global-remote-state': true })) },
    });
    await declare(all.map((name) => workspace(name, { globalRemoteState: false, remoteStateConsumers: [] })));

    expect((await run('plan')).requests).toEqual({ [list]: 1, [`GET ${consumersOf}`]: 2 });
  });
});

describe('Planning a deletion', () => {
  it('reads the consumers of workspaces to delete, and of no other undeclared workspace', async () => {
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
  it("needs one read of the mount's type, one LIST, and one GET for each role", async () => {
    const { declare, run } = await open();
    const roles = names('role', 12);
    await declare(roles.map((name) => role(name)));
    expect((await run('apply', '--yes')).code).toBe(0);

    const { requests } = await run('plan', '--exit-code');

    const reads = roles.map((name) => [`GET /v1/auth/cluster/role/${name}`, 1]);
    expect(requests).toEqual({
      [list]: 1,
      // The list is empty, so this reads whether the organization exists.
      [organization]: 1,
      // The type of the mount. A second read follows only if this one is refused.
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
    // One list for the plan, one for the verification, and one read of the default project's schedule for all creates.
    expect(requests).toEqual({
      [list]: 2,
      [organization]: 1,
      [projects]: 1,
      'POST /organizations/:organization_name/workspaces': 1,
    });
  });

  it('reads the first of many workspaces again if nothing shows that the service keeps ownership tags', async () => {
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

  it('updates one of many workspaces by one read and one PATCH', async () => {
    const all = names('ws', 30);
    const { declare, run } = await open({ organization: { workspaces: all.map(owned) } });
    await declare(all.map((name, index) => workspace(name, { autoApply: index === 7 })));

    const { code, requests } = await run('apply', '--yes');

    expect(code).toBe(0);
    // The mode that its project or organization gives it, once for all workspaces of the project.
    const defaults = { [organization]: 1, [projects]: 1 };
    expect(requests).toEqual({ [list]: 2, ...defaults, [show]: 1, 'PATCH /workspaces/:workspace_id': 1 });
  });

  it('adds more than a hundred consumers by one request, and then a plan is empty', async () => {
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
  it('needs two more filtered lists, and one read for each declared or owned workspace', async () => {
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

    // Two pages of all workspaces, one of those with an ownership tag, and one with an unused key, to check that the filter works.
    // The consumers of the five workspaces to delete are read, too.
    expect(requests).toEqual({ [list]: 2 + 2, [bindings]: 40 + 5 + 1, [`GET ${consumersOf}`]: 5 });
    expect(out).toContain('the service does not include tag bindings');
  });

  it('still lets a stack converge', async () => {
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

  it(`still shows the undeclared workspaces of stack ${stackName}`, async () => {
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
