/** Names that trueup writes into manifests: by accept, by a revert, and by export. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { byId, byName, openNames } from '../../support/cli/names-scene.ts';
import { dialectUnderTest } from '../../support/rig/dialect-under-test.ts';

const dialects = ['neutral', 'hcp-terraform'];
const file = 'manifests/all.yaml';

const text = `apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: app }
spec:
  project: payments # whose
  sshKey: modules # which
  vcsRepo:
    identifier: acme/app
    connection: GitHub # the old one
`;

async function openApplied(dialect?: string, written = text, spec: object = {}) {
  const scene = await openNames(dialect);
  const stack = await scene.bench.checkout({ spec, workspaces: dialect === undefined ? {} : { dialect } });
  await stack.write(file, written);
  await stack.run(['apply', '--yes'], 0);
  const id = await scene.bench.idOf('app');
  const move = (project: string) => {
    const relationships = { project: { data: { type: 'projects', id: project } } };
    return scene.bench.byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', relationships } });
  };
  const connect = (token: string) =>
    scene.bench.byHand.update(id, { 'vcs-repo': { identifier: 'acme/app', 'oauth-token-id': token } });
  const read = () => readFileSync(join(stack.directory, file), 'utf8');
  return { ...scene, stack, id, move, connect, read };
}

describe.each(dialects)('In the dialect %s, accept', (dialect) => {
  it('writes the names of the objects that a workspace has now, in place', async () => {
    const { stack, move, connect, read } = await openApplied(dialect);
    await move('prj-network');
    await connect('ot-lab');
    expect((await stack.run(['drift'], 3)).out).toMatch(
      /projectId +payments \(prj-payments\) -> network \(prj-network\)/,
    );
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(read()).toBe(text.replace('payments #', 'network #').replace('GitHub #', 'GitLab #'));
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['drift'], 0);
  });

  it('writes the id of an object whose name is not unique, or that has none', async () => {
    const { stack, connect, read } = await openApplied(dialect);
    for (const token of ['ot-twin-2', 'ot-nameless']) {
      await stack.write(file, text);
      await stack.run(['apply', '--yes'], 0);
      await connect(token);
      await stack.run(['accept', 'Workspace/acme/app', '--yes'], 0);
      const spec = (load(read()) as { spec: { vcsRepo: object } }).spec;
      expect(spec.vcsRepo).toEqual({ identifier: 'acme/app', oauthTokenId: token });
      await stack.run(['plan', '--exit-code'], 0);
    }
  });
});

describe('Accept', () => {
  it('knows a field by its name in the manifest and by its name in the plan', async () => {
    for (const field of ['project', 'projectId']) {
      const { stack, move, read } = await openApplied();
      await move('prj-network');
      await stack.run(['accept', 'Workspace/acme/app', '--field', field, '--yes'], 0);
      expect(read()).toBe(text.replace('payments #', 'network #'));
    }
  });

  it('writes null if the reference was removed', async () => {
    const { bench, stack, id, read } = await openApplied();
    await bench.byHand.patch(`/workspaces/${id}/relationships/ssh-key`, {
      data: { type: 'workspaces', attributes: { id: null } },
    });
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(read()).toContain('sshKey: null # which');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('replaces the name by another type of connection', async () => {
    const { bench, stack, id, read } = await openApplied();
    const name = dialectUnderTest === 'neutral' ? 'vcs-app-installation-id' : 'github-app-installation-id';
    await bench.byHand.update(id, { 'vcs-repo': { identifier: 'acme/app', [name]: 'ghain-1' } });
    await stack.run(['accept', 'Workspace/acme/app', '--yes'], 0);
    expect(load(read())).toMatchObject({
      spec: { vcsRepo: { identifier: 'acme/app', vcsAppInstallationId: 'ghain-1' } },
    });
    expect(read()).not.toContain('connection');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('keeps an id if the manifest has one', async () => {
    const { stack, move, read } = await openApplied(
      undefined,
      text.replace('project: payments', 'projectId: prj-payments'),
    );
    await move('prj-network');
    await stack.run(['accept', '--all', '--yes'], 0);
    expect(read()).toContain('projectId: prj-network # whose');
  });

  it('does not change a name of the defaults', async () => {
    const defaults = { Workspace: { project: 'payments' } };
    const own = text.replace('  project: payments # whose\n', '');
    const { stack, move, read } = await openApplied(undefined, own, { defaults });
    await move('prj-network');
    const { err } = await stack.run(['accept', '--all', '--yes'], 1);
    expect(err).toContain('error[value-from-defaults] trueup.yaml:1');
    expect(read()).toBe(own);
  });

  it('writes the current name of the object after names were exchanged', async () => {
    const { stack, rename, read } = await openApplied();
    await rename('prj-payments', 'meanwhile');
    await rename('prj-network', 'payments');
    await rename('prj-payments', 'network');
    await stack.run(['accept', 'Workspace/acme/app', '--field', 'project', '--yes'], 0);
    expect(read()).toBe(text.replace('payments #', 'network #'));
    expect((await stack.plan()).guards).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('A reverted apply', () => {
  it('writes the former ids, because the names may refer to other objects now', async () => {
    const { stack, read } = await openApplied();
    await stack.write(file, text.replace('payments #', 'network #'));
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const [last] = JSON.parse(out).entries as { id: string }[];
    await stack.run(['history', 'show', last?.id ?? '', '--revert', '--write', '--yes'], 0);
    expect(load(read())).toMatchObject({ spec: { projectId: 'prj-payments', sshKey: 'modules' } });
    expect(read()).not.toContain('project:');
    expect((await stack.plan()).changes).toMatchObject([
      { fields: [{ path: '/projectId', before: 'prj-network', after: 'prj-payments' }] },
    ]);
  });
});

describe.each(dialects)('In the dialect %s, export', (dialect) => {
  it('writes names, reads each list once, and a plan of the result only adopts', async () => {
    const { bench, listed } = await openNames(dialect);
    const stack = await bench.checkout({
      workspaces: { dialect },
      spec: { manifests: ['manifests/**/*.yaml'] },
    });
    const { projectId, executionMode, agentPoolId, sshKeyId, vcsRepo } = byId;
    for (const [index, name] of ['app', 'two'].entries()) {
      const id = await bench.byHand.created(
        {
          name,
          'execution-mode': executionMode,
          'agent-pool-id': agentPoolId,
          'vcs-repo': {
            identifier: vcsRepo.identifier,
            branch: 'main',
            'oauth-token-id': index === 0 ? 'ot-git' : 'ot-twin-1',
          },
        },
        { project: { data: { type: 'projects', id: projectId } } },
      );
      await bench.byHand.patch(`/workspaces/${id}/relationships/ssh-key`, {
        data: { type: 'workspaces', attributes: { id: sshKeyId } },
      });
    }
    bench.wire.reset();
    await stack.run(['export', '--out', 'manifests'], 0);
    expect(listed()).toEqual(['agent-pools', 'oauth-clients', 'projects', 'ssh-keys']);
    const specOf = (name: string) =>
      (
        load(
          readFileSync(join(stack.directory, 'manifests', 'acme', 'workspace', `${name}.yaml`), 'utf8'),
        ) as { spec: object }
      ).spec;
    await stack.run(['validate'], 0);
    expect(specOf('app')).toMatchObject(byName);
    expect(specOf('two')).toMatchObject({
      ...byName,
      vcsRepo: { identifier: 'acme/app', branch: 'main', oauthTokenId: 'ot-twin-1' },
    });
    const { changes } = await stack.plan();
    // Three projects and two workspaces.
    expect(changes.map(({ fields }) => fields.map(({ path }) => path))).toEqual(
      Array.from({ length: 5 }, () => ['/claim']),
    );
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Export', () => {
  it('writes ids if a list cannot be read, and says so', async () => {
    const { bench, stack } = await openNames();
    await bench.byHand.created(
      { name: 'app' },
      { project: { data: { type: 'projects', id: 'prj-payments' } } },
    );
    bench.wire.add({ path: /\/acme\/projects/, times: 99, fault: { answer: 403 } });
    const { out, err } = await stack.run(['export', '--kind', 'Workspace', '--out', '-'], 0);
    expect(out).toContain('projectId: prj-payments');
    expect(err).toContain('ids are written in place of the names of projects');
  });

  it('writes a name or null if a default of the stack has another name', async () => {
    const { bench } = await openNames();
    const defaults = { Workspace: { project: 'network', sshKey: 'old' } };
    const stack = await bench.checkout({ spec: { defaults, manifests: ['manifests/**/*.yaml'] } });
    await bench.byHand.created(
      { name: 'app' },
      { project: { data: { type: 'projects', id: 'prj-payments' } } },
    );
    await bench.byHand.created(
      { name: 'two' },
      { project: { data: { type: 'projects', id: 'prj-network' } } },
    );
    await stack.run(['export', '--out', 'manifests'], 0);
    const { changes } = await stack.plan();
    // Three projects and two workspaces.
    expect(changes.map(({ fields }) => fields.map(({ path }) => path))).toEqual(
      Array.from({ length: 5 }, () => ['/claim']),
    );
    const { out } = await stack.run(['export', '--all', '--out', '-'], 0);
    expect(out).toContain('project: payments');
    expect(out.match(/project:/g)).toHaveLength(1);
    expect(out.match(/sshKeyId: null/g)).toHaveLength(2);
  });
});
