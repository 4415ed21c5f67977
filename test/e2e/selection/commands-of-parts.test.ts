/** Which commands have `--select`, and what a part means for drift, export, several stacks and several organizations. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { workspacesTarget } from '../../support/rig/stack-folder.ts';
import { actionsOf, app, applied, net, partOf, selecting } from '../../support/selection/parts.ts';

describe('Drift of a part', () => {
  it('covers only its resources, in each format and in the exit code', async () => {
    const { bench, stack } = await applied();
    await setByHand(bench, 'app', { 'auto-apply': false });
    await stack.run(['drift', ...selecting('Workspace/acme/net')], 0);
    const { out } = await stack.run(['drift', ...selecting('Workspace/acme/app')], 3);
    expect(out.split('\n')[0]).toBe('A part of stack payments: 2 of 6 resources');
    expect(out).toContain('Workspace/acme/app');
    const json = JSON.parse(
      (await stack.run(['drift', '--format', 'json', ...selecting('Workspace/acme/app')], 3)).out,
    );
    expect(json).toMatchObject({
      part: { selectors: ['Workspace/acme/app'], of: 6 },
      selection: ['TagBindings/acme/app', 'Workspace/acme/app'],
      summary: { drifted: 1, pending: 0, unchanged: 1 },
    });
    const printed = async (format: string) =>
      (await stack.run(['drift', '--format', format, ...selecting('Workspace/acme/app')], 3)).out;
    expect(await printed('markdown')).toMatch(/^## Drift of a part of `payments`: 2 of 6 resources\n/);
    expect(await printed('html')).toContain('a part of the stack: 2 of 6 resources');
    expect(out).not.toContain('accept --select');
  });

  it('has only pending changes of its resources, and no removed documents', async () => {
    const { stack } = await applied();
    await stack.declare(clusterAuthConfig(), net({ queueAllRuns: true }), app({ queueAllRuns: true }));
    const { out } = await stack.run(['drift', '--format', 'json', ...selecting('Workspace/acme/net')], 0);
    expect(JSON.parse(out).pending).toMatchObject([{ address: 'Workspace/acme/net' }]);
  });

  it('of a selector that matches nothing is an error', async () => {
    const { stack } = await applied();
    await stack.run(['drift', ...selecting('Workspace/acme/ap')], 7);
  });
});

describe('An export of a part', () => {
  /** Three workspaces of another stack, and a function that exports and returns names. */
  async function openForeign() {
    const bench = await openBench({ mounts: ['cluster'] });
    const maker = await bench.checkout({ name: 'maker' });
    await maker.setUp(
      workspace('net-1', { tags: { env: 'prod' } }),
      workspace('net-2', { tags: { env: 'dev' } }),
      workspace('app', { tags: { env: 'prod' } }),
    );
    const stack = await bench.checkout();
    await stack.declare(workspace('own'));
    const names = async (code: number, ...args: string[]) => {
      const { out, err } = await stack.run(['export', '--all', ...args], code);
      return { names: [...out.matchAll(/name: (\S+)/g)].map(([, name]) => name), out, err };
    };
    return { bench, stack, names };
  }

  it('has the selected resources without the excluded ones, and reads only their targets', async () => {
    const { bench, names } = await openForeign();
    bench.wire.reset();
    expect((await names(0, ...selecting('Workspace/acme/net-*'))).names).toEqual(['net-1', 'net-2']);
    expect(bench.wire.seen.filter(({ path }) => path.startsWith('/v1/'))).toEqual([]);
    const without = await names(0, ...selecting('Workspace/acme/*', '!tag:env=dev'));
    expect(without.names).toEqual(['app', 'net-1']);
    expect((await names(0, ...selecting('tag:env=prod'), '--name', 'net-*')).names).toEqual(['net-1']);
    const { out } = await names(0, ...selecting('Workspace/acme/net-1', '!TagBindings/acme/net-1'));
    expect(out).not.toContain('env: prod');
    expect((await names(0, ...selecting('TagBindings/acme/net-1'))).out).toContain('kind: TagBindings');
    const children = await names(0, ...selecting('TagBindings/acme/*', '!tag:env=dev'));
    expect(children.out).toContain('name: net-1');
    expect(children.out).not.toContain('name: net-2');
  });

  /** A workspace in each of two projects. */
  async function openInProjects() {
    const bench = await openBench({
      organization: {
        projects: [
          { name: 'payments', id: 'prj-payments' },
          { name: 'network', id: 'prj-network' },
        ],
        workspaces: [
          { name: 'pay', project: 'payments' },
          { name: 'net', project: 'network' },
        ],
      },
    });
    const stack = await bench.checkout();
    const exported = async (...args: string[]) => {
      const { out } = await stack.run(['export', '--kind', 'Workspace', ...args], 0);
      return [...out.matchAll(/name: (\S+)/g)].map(([, name]) => name);
    };
    return { bench, stack, exported };
  }

  it('accepts a project by its name or its id', async () => {
    const { bench, exported } = await openInProjects();
    for (const name of ['payments', 'prj-payments']) {
      expect(await exported('--project', name)).toEqual(['pay']);
      expect(await exported(...selecting(`project:${name}`))).toEqual(['pay']);
      expect(await exported(...selecting(`!project:${name}`))).toEqual(['net']);
    }
    // The id of a project does not need the list of projects.
    bench.wire.add({ path: /\/acme\/projects/, times: 99, fault: { answer: 403 } });
    expect(await exported('--project', 'prj-payments')).toEqual(['pay']);
    expect(await exported(...selecting('!project:prj-payments'))).toEqual(['net']);
  });

  it('refuses an unknown project with the nearest names, and a name that the token cannot look up', async () => {
    const { bench, stack } = await openInProjects();
    const refusal = async (code: number, ...args: string[]) =>
      (await stack.run(['export', ...args], code)).err;
    const flag = await refusal(7, '--project', 'paymnts');
    expect(flag).toContain('"--project paymnts" matches nothing: there is no project with this name or id');
    expect(flag).toContain('did you mean "payments"?');
    expect(await refusal(7, ...selecting('project:paymnts'))).toContain('did you mean "project:payments"?');
    expect(await refusal(7, ...selecting('!project:paymnts'))).toContain('did you mean "!project:payments"?');
    bench.wire.add({ path: /\/acme\/projects/, times: 99, fault: { answer: 403 } });
    const unread = 'gives a project by its name, and the projects of target "acme" could not be read';
    expect(await refusal(1, '--project', 'payments')).toContain(unread);
    expect(await refusal(1, ...selecting('!project:payments'))).toContain(unread);
  });

  it('ends with an error for a selector that matches nothing, or that is only for manifests', async () => {
    const { names } = await openForeign();
    expect((await names(7, ...selecting('Workspace/acme/nett-1'))).err).toContain('"Workspace/acme/net-1"');
    expect((await names(7, ...selecting('file:a/**'))).err).toContain('is about manifests');
    expect((await names(7, ...selecting('Workspace/acme/net-1', '!Workspace/acme/x'))).err).toContain(
      'the selector "!Workspace/acme/x" matches nothing',
    );
  });
});

describe('Other commands', () => {
  it('do not have --select: accept, recover, validate, destroy and those of a CI job', async () => {
    const { bench, stack } = await applied();
    const select = selecting('Workspace/acme/net');
    const commands = [['accept'], ['recover'], ['validate'], ['ci', 'plan'], ['ci', 'apply']];
    for (const command of commands) {
      const { err } = await stack.run([...command, ...select], 1);
      expect(err, command.join(' ')).toContain("unknown option '--select'");
    }
    const { err } = await stack.run(['destroy', ...select], 1);
    expect(err).toContain('there is no command "destroy"');
    await stack.run(['apply', '--destroy', ...select, '--yes'], 1);
    expect(bench.written()).toEqual([]);
  });

  it('combine --select with standard input only if that is the whole stack', async () => {
    const { stack } = await applied();
    const stdin = [net({ queueAllRuns: true }), app({ autoApply: false })]
      .map((document) => JSON.stringify(document))
      .join('\n---\n');
    const at = { cwd: stack.directory, env: secrets, stdin };
    const select = selecting('Workspace/acme/net');
    const piped = await trueup(['plan', '-', ...select], at);
    expect(piped.code).toBe(1);
    expect(piped.err).toContain('a selection already');
    const whole = await trueup(['plan', '-', '--complete', '--format', 'json', ...select], at);
    expect(actionsOf(JSON.parse(whole.out))).toEqual(['update Workspace/acme/net']);
  });
});

describe('A stack', () => {
  it('with two organizations can be planned for one of them', async () => {
    const bench = await openBench({ others: ['second'] });
    const stack = await bench.checkout();
    const text = {
      apiVersion: 'trueup.dev/v1',
      kind: 'Stack',
      metadata: { name: 'payments' },
      spec: {
        manifests: ['manifests/*.yaml'],
        targets: [
          workspacesTarget(bench.wire.url),
          workspacesTarget(bench.wire.url, { name: 'second', organization: 'second' }),
        ],
      },
    };
    await stack.write('trueup.yaml', JSON.stringify(text));
    await stack.declare(workspace('app', {}, { targets: ['acme', 'second'] }));
    const plan = await partOf(stack, 'Workspace/second/*');
    expect(actionsOf(plan)).toEqual(['create Workspace/second/app']);
    bench.wire.reset();
    await stack.run(['apply', ...selecting('Workspace/second/app'), '--yes'], 0);
    expect(bench.wire.seen.filter(({ path }) => path.includes('/organizations/acme/'))).toEqual([]);
    expect(actionsOf(await stack.plan())).toEqual(['create Workspace/acme/app']);
  });

  it('cannot take over a resource of another stack by selecting it', async () => {
    const { bench, stack } = await applied();
    const other = await bench.checkout({ name: 'other' });
    await other.declare(net({ queueAllRuns: true }), workspace('mine'));
    const { out } = await other.run(['plan', ...selecting('Workspace/acme/net')], 9);
    expect(out).toContain('belongs to stack "payments"');
    await other.run(['apply', ...selecting('Workspace/acme/mine'), '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('whose target changed its address is refused, also for a part without that target', async () => {
    const { stack } = await applied({ clusterAuth: {} });
    const moved = await stack.reconfigure({ clusterAuth: { mount: 'another' } });
    const { out } = await moved.run(['plan', ...selecting('Workspace/acme/net')], 9);
    expect(out).toContain('target-moved');
  });

  it('that was renamed, and continues another ledger, must be applied as a whole first', async () => {
    const { stack } = await applied();
    const renamed = await stack.reconfigure({ name: 'billing', renamedFrom: 'payments' });
    const { err } = await renamed.run(['plan', ...selecting('Workspace/acme/net')], 1);
    expect(err).toContain('plan and apply the whole stack before a selection of it');
  });
});
