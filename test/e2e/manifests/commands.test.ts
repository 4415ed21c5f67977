/** The command line as a user sees it: arguments, paths, streams and exit codes (architecture: exit codes). */
import { chown, lchown, mkdir, readdir, rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { planSchema } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const nowhere = { cwd: tmpdir() };

describe('a mistake on the command line', () => {
  it.each([
    [['plna'], "unknown command 'plna'", 'Did you mean plan?'],
    [['plan', '--exitcode'], "unknown option '--exitcode'", 'Did you mean --exit-code?'],
    [['plan', '--format', 'yaml'], "argument 'yaml' is invalid", 'Allowed choices are text, json'],
    [['plan', '--color', 'sometimes'], "argument 'sometimes' is invalid", 'always'],
    [['plan', 'one', 'two'], 'too many arguments', 'Expected 1 argument'],
    [['plan', '--yes'], "unknown option '--yes'", 'run "trueup plan --help" to see what it takes'],
    [['plan', '-out=plan.json'], "unknown option '-out=plan.json'", 'Did you mean --out?'],
    [['plan', '--detailed-exitcode'], "unknown option '--detailed-exitcode'", 'Did you mean --exit-code?'],
    [['apply', '--auto-approve'], "unknown option '--auto-approve'", 'Did you mean --yes?'],
    [['apply', '-auto-approve'], "unknown option '-auto-approve'", 'Did you mean --yes?'],
    [['apply', '--target=x'], "unknown option '--target=x'", '"--select" of plan'],
    [['init', '-upgrade'], "unknown option '-upgrade'", 'no providers to upgrade'],
    [['import', 'one', 'two'], "unknown command 'import'", '"trueup export" writes manifests'],
    [['ledger', 'move', '--to', 'x', '--foo'], "option '--foo'", 'run "trueup ledger move --help"'],
    [['completion'], "missing required argument 'shell'", 'one of bash, zsh, fish'],
    [['serve', '--port', 'http'], "argument 'http' is invalid", 'from 0 to 65535'],
    [['serve', '--port', '70000'], "argument '70000' is invalid", 'from 0 to 65535'],
    [['serve', '--dialect', 'valt'], 'does not speak "valt"', 'neutral, hcp-terraform, vault, openbao'],
    [['serve', '--dialect', 'vault', '--dialect', 'openbao'], 'dialects of one API', 'name one of them'],
    [['schema', 'Workspce'], 'there is no schema "Workspce"', 'did you mean "Workspace"?'],
  ])('%j is an error that says what is allowed', async (args, what, hint) => {
    const cwd = temporaryFolder();
    const { code, out, err } = await trueup(args, { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: /);
    expect(err).toContain(what);
    expect(err).toContain(hint);
    expect(await readdir(cwd)).toEqual([]);
  });

  it.each([
    [['destroy']],
    [['destroy', '--auto-approve', '-target=x', 'one', 'two']],
    [['destroy', '--help']],
  ])('%j does nothing and explains how resources are removed', async (args) => {
    const cwd = temporaryFolder();
    const { code, out, err } = await trueup(args, { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: there is no command "destroy", and nothing was done/);
    for (const way of ['document', 'metadata.remove', 'metadata.onRemove', 'metadata.protect', '--ack'])
      expect(err).toContain(way);
    expect(err).not.toMatch(/Did you mean|--help" to see/);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('"destroy" is in no help, and in the JSON answer as an error', async () => {
    expect((await trueup(['--help'], nowhere)).out).not.toContain('destroy');
    const { code, out } = await trueup(['destroy', '--format', 'json'], nowhere);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      diagnostics: [{ code: 'usage', message: expect.stringMatching(/^there is no command "destroy"/) }],
    });
  });

  it('reaches the shell as exit code 1', async () => {
    expect(await trueupProcess(['plan', '--nope'], nowhere)).toMatchObject({ code: 1, out: '' });
  });
});

describe('schema', () => {
  it('lists the names of all schemas, and prints each of them as JSON', async () => {
    const { out } = await trueup(['schema'], nowhere);
    const names = out.trim().split('\n');
    expect(names).toEqual(
      expect.arrayContaining(['Workspace', 'ClusterAuthRole', 'Stack', 'Plan', 'Manifest']),
    );
    for (const name of names) {
      const printed = await trueup(['schema', name.toLowerCase()], nowhere);
      expect(printed.code).toBe(0);
      expect(JSON.parse(printed.out)).toBeTypeOf('object');
    }
  });
});

describe('the path', () => {
  it('is a directory, a stack file, or left out: then this folder and its parents in the repository are searched', async () => {
    const stack = await (await openBench()).checkout();
    await mkdir(join(stack.directory, '.git'));
    await stack.declare(workspace('app'));
    await mkdir(join(stack.directory, 'deep', 'down'), { recursive: true });
    for (const [cwd, path] of [
      [tmpdir(), [stack.directory]],
      [tmpdir(), [join(stack.directory, 'trueup.yaml')]],
      [stack.directory, ['.']],
      [stack.directory, []],
      [join(stack.directory, 'deep', 'down'), []],
      [join(stack.directory, 'deep'), ['..']],
    ] as const) {
      const ran = await trueup(['validate', ...path], { cwd });
      expect(ran, `${cwd} ${path}`).toEqual({
        code: 0,
        out: expect.stringContaining('valid: stack payments, 1 file'),
        err: '',
      });
    }
  });

  it('"-" reads manifests from standard input, for the stack in the current folder', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'), workspace('second'));
    const stdin = JSON.stringify(workspace('piped', { autoApply: true }));
    const { code, out } = await trueupProcess(['plan', '-'], { cwd: stack.directory, env: secrets, stdin });
    expect(code).toBe(0);
    expect(out).toContain('Workspace/acme/piped');
    expect(out).toMatch(/ -:1$/m);
    const broken = await trueup(['validate', '-'], {
      cwd: stack.directory,
      stdin: stdin.replace('autoApply', 'autoAply'),
    });
    expect(broken).toMatchObject({ code: 7, out: '' });
    expect(broken.err).toContain('did you mean "autoApply"?');
    expect(broken.err).toMatch(/ -:1:\d+/);
  });

  it('"-" without a document is an error', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    const nothing = await trueup(['plan', '-'], { cwd: stack.directory, env: secrets, stdin: '' });
    expect(nothing).toMatchObject({ code: 7, out: '' });
    expect(nothing.err).toContain('standard input holds no document');
  });

  it('left out, finds no stack above the repository, or above the current folder without a repository', async () => {
    const stack = await (await openBench()).checkout();
    const inside = join(stack.directory, 'clone', 'deep');
    await mkdir(inside, { recursive: true });
    const bare = await trueup(['validate'], { cwd: inside });
    expect(bare).toMatchObject({ code: 1, out: '' });
    expect(bare.err).toContain(
      'there is no trueup.yaml here, and parent directories are searched only within',
    );
    await mkdir(join(stack.directory, 'clone', '.git'));
    const inClone = await trueup(['validate'], { cwd: inside });
    expect(inClone).toMatchObject({ code: 1, out: '' });
    expect(inClone.err).toContain('no trueup.yaml here or in a parent directory within the git repository');
  });

  // Only root can give files away.
  it.runIf(process.getuid?.() === 0)(
    'left out, refuses a stack file of another user in a parent folder, and names the users',
    async () => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.declare(workspace('app'));
      const inside = join(stack.directory, 'deep');
      await mkdir(inside);
      await mkdir(join(stack.directory, '.git'));
      const file = join(stack.directory, 'trueup.yaml');
      const inDeep = () => trueup(['plan'], { cwd: inside, env: secrets });
      await chown(inside, 1234, 1234);
      await chown(file, 4321, 4321);
      const refused = await inDeep();
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toContain('"../trueup.yaml" belongs to the user with the id 4321');
      expect(refused.err).toContain(
        'neither the current user (0) nor the owner of the current directory (1234)',
      );
      expect(bench.wire.seen).toEqual([]);
      expect(await trueup(['plan', '..'], { cwd: inside, env: secrets })).toMatchObject({ code: 0 });
      expect(await trueup(['plan'], { cwd: stack.directory, env: secrets })).toMatchObject({ code: 0 });
      await chown(file, 1234, 1234);
      expect(await inDeep()).toMatchObject({ code: 0 });
      await rename(file, join(stack.directory, 'mine.yaml'));
      await symlink('mine.yaml', file);
      await lchown(file, 4321, 4321);
      expect((await inDeep()).err).toContain('the id 4321');
    },
  );

  it('that does not exist is an error with a fix', async () => {
    for (const [path, message] of [
      ['/no/such/place', 'there is no file or directory "/no/such/place"'],
      ['.', '"." holds no trueup.yaml'],
      [
        undefined,
        'there is no trueup.yaml here, and parent directories are searched only within a git repository',
      ],
    ] as const) {
      const { code, out, err } = await trueup(path === undefined ? ['plan'] : ['plan', path], nowhere);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(message);
      expect(err).toContain('fix: ');
    }
  });
});

describe('validate', () => {
  it('with JSON counts what it checked, and separately the files with problems', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['validate', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      summary: { errors: 0, files: 0 },
      checked: { files: 1, documents: 1, resources: 1 },
    });
  });

  it('is offline, and reports every problem of every file in one run with exit code 7', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { executionMod: 'remote' }));
    await stack.write(
      'manifests/roles.yaml',
      JSON.stringify(role('web', { tokenTtl: '3h', tokenMaxTtl: '1h' })),
    );
    const { out, err } = await stack.run(['validate'], 7);
    expect(out).toBe('');
    expect(err).toContain('did you mean "executionMode"?');
    expect(err).toContain('manifests/all.yaml:');
    expect(err).toContain('manifests/roles.yaml:');
    expect(err).toContain('2 errors in 2 files');
    expect(bench.wire.seen).toEqual([]);
  });

  it('prints its findings as JSON on stdout when asked', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { executionMod: 'remote' }));
    const { out, err } = await stack.run(['validate', '--format', 'json'], 7);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      summary: { errors: 1 },
      diagnostics: [{ code: 'unknown-field', place: { file: 'manifests/all.yaml' } }],
    });
  });
});

describe('plan', () => {
  it('exits with 0 with or without changes, and with 2 for changes if --exit-code is given', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    await stack.run(['plan'], 0);
    await stack.run(['plan', '--exit-code'], 2);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain('No changes, 1 unchanged');
  });

  it('as JSON is valid against its schema, with changes, without, and with problems', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'taken' }] } });
    const stack = await bench.checkout();
    const validate = new Ajv2020({ strict: false }).compile(planSchema);
    const plans = async (code: number) => {
      const plan = await stack.plan(code);
      expect(validate(plan), JSON.stringify(validate.errors)).toBe(true);
      return plan;
    };
    await stack.declare(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['other'] }),
      workspace('other'),
      clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }),
      role('web'),
    );
    expect((await plans(0)).summary).toMatchObject({ create: 6 });
    await stack.run(['apply', '--yes'], 0);
    expect((await plans(0)).changes).toEqual([]);
    await stack.declare(workspace('app', { tags: { env: 'test' } }), workspace('taken'));
    expect((await plans(9)).problems).toMatchObject([{ code: 'exists-unclaimed' }]);
  });

  it('has warnings in its JSON, and not on stderr', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(role('web', { audience: '' }));
    const { out, err } = await stack.run(['plan', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      summary: { create: 1 },
      diagnostics: [{ code: 'blank-audience', severity: 'warning' }],
    });
    expect(err).toBe('');
  });

  it('shows the exact requests with --calls, but only the sources of secrets', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(
      workspace('app', { tags: { env: 'prod' } }),
      clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }),
    );
    const { out } = await stack.run(['plan', '--calls'], 0);
    expect(out).toContain('POST /api/v2/organizations/acme/workspaces');
    expect(out).toContain('POST /v1/auth/cluster/config');
    expect(out).toContain('REVIEWER_JWT');
    expect(out).not.toContain(secrets.REVIEWER_JWT);
  });
});

describe('apply', () => {
  it('needs --yes if there is no terminal, and writes nothing without it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const { out, err } = await stack.run(['apply'], 1);
    expect(out).toContain('+ create  Workspace/acme/app');
    expect(err).toContain('nothing was written');
    expect(err).toContain('--yes');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('needs no confirmation when there is nothing to do', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    expect((await stack.run(['apply'], 0)).out).toContain('No changes');
  });

  it('prints a line for each change, and verifies at the end that nothing is left', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'), role('web'));
    const { code, out, err } = await trueupProcess(['apply', '--yes'], {
      cwd: stack.directory,
      env: secrets,
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^applied +\+ Workspace\/acme\/app /m);
    expect(out).toMatch(/^applied +\+ ClusterAuthRole\/prod\/web .*\/2\)$/m);
    expect(out).toMatch(
      /2 applied\n\nPlanned again: nothing is left to do\n\n2 created in \d+ s, with \d+ requests\nNext: "trueup drift" shows/,
    );
  });

  it('as JSON prints its outcomes and nothing else on stdout', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'), role('web'));
    const { out, err } = await stack.run(['apply', '--yes', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      summary: { applied: 2, failed: 0 },
      outcomes: [
        { address: 'Workspace/acme/app', action: 'create', outcome: 'applied' },
        { address: 'ClusterAuthRole/prod/web', action: 'create', outcome: 'applied' },
      ],
    });
    expect(err).toContain('applied');
    const again = await stack.run(['apply', '--yes', '--format', 'json'], 0);
    expect(JSON.parse(again.out)).toMatchObject({ outcomes: [] });
  });

  it('as JSON needs --yes too, and says only in JSON why it did nothing', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const { out, err } = await stack.run(['apply', '--format', 'json'], 1);
    expect(JSON.parse(out).diagnostics).toMatchObject([{ message: expect.stringContaining('--yes') }]);
    expect(err).toBe('');
  });
});

describe('the environment', () => {
  it('without a token is an error that names the variable, before anything is sent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const ran = await trueupProcess(['plan'], { cwd: stack.directory });
    expect(ran).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: .*"API_TOKEN" is not set.*\n$/),
    });
    expect(bench.wire.seen).toEqual([]);
  });
});
